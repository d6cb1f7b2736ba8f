"""Modules that torch no longer has, where a file imports them or reaches them as an attribute of torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.members.guards import is_excused, is_hidden
from forklint.project.guard import is_for_type_checkers
from forklint.project.index import External
from forklint.project.spelling import dotted
from forklint.records import dataclass
from forklint.rules.unknown_method.versions import HIDES, older_torch

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.summaries.summary import Summary

TORCH, NAME = "torch", "_six"
MODULE = f"{TORCH}.{NAME}"
SINCE = (2, 0)
"""Measured: torch 1.13 has the module, for Python 2 and 3 alike; 2.0 and 2.13 raise ModuleNotFoundError."""


@dataclass(frozen=True)
class Removed:
    """A place that needs the module."""

    node: ast.Import | ast.ImportFrom | ast.Attribute
    excuse: str
    """Why it may not matter, in words."""


def removed(project: Project, module: Module) -> Iterator[Removed]:
    """Give the imports of the module; where there are none, its uses."""
    if MODULE.encode() not in module.document.code and NAME.encode() not in module.document.code:
        return
    imports = [node for node in module.nodes if _imports(node)]
    for node in imports or (node for node in module.nodes if _is_use(project, module, node)):
        if not is_excused(module, node, TORCH) and not is_for_type_checkers(module, node):
            excuse = HIDES if is_hidden(module, node) else older_torch(project, SINCE)
            yield Removed(node, excuse)  # type: ignore[arg-type]


def may_need(summary: Summary) -> bool:
    """Whether a file imports the module, or an attribute of its name is read."""
    imported = (f"{one.module}.{one.attribute}".rstrip(".") for one in summary.imports if not one.level)
    return any(map(_is_inside, imported)) or any(NAME in scope.attributes for scope in summary.scopes)


def _imports(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_inside(alias.name) for alias in node.names)
    if not isinstance(node, ast.ImportFrom) or node.level:
        return False
    return any(_is_inside(f"{node.module}.{alias.name}") for alias in node.names)


def _is_inside(path: str) -> bool:
    return path == MODULE or path.startswith(f"{MODULE}.")


def _is_use(project: Project, module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != NAME or not dotted(node):
        return False
    symbol = project.resolve(module, module.scope_at(node), node)
    return isinstance(symbol, External) and symbol.name == MODULE
