"""Modules that may give themselves names that their text does not say: ``globals().update(...)``, ``exec(...)``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from forklint.project.spelling import dotted, is_name, last_name

if TYPE_CHECKING:
    from pathlib import Path

    from forklint.project.index import Project
    from forklint.project.module import Module

NAMING = re.compile(
    rb"globals\(|locals\(|vars\(|sys\.modules|exec\(|import_module\(__name__|__import__\(__name__"
    rb"|load_dynamic\(|__bootstrap__|ExtensionFileLoader\("
)
"""Without one of these no module does, or is what setuptools puts in the place of native code."""
ALWAYS = frozenset({"exec", "load_dynamic", "__bootstrap__", "ExtensionFileLoader"})
TABLES = frozenset({"vars", "locals"})
IMPORTERS = frozenset({"import_module", "__import__"})
READERS = frozenset({"get", "keys", "items", "values", "copy"})


def names_itself(project: Project, path: Path) -> bool:
    """Whether a module may give itself names which its text does not say."""

    def find() -> bool:
        module = project.module(path) if project.matches(path, NAMING) else None
        return module is not None and any(_may_name(module, node) for node in module.nodes)

    return project.answer("names itself", path, find, compared=True)


def _may_name(module: Module, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return dotted(node) == "sys.modules"
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if isinstance(node.func, ast.Name) and name == "exec" and len(node.args) + len(node.keywords) == 1:
        return _is_at_top(module, node)  # in a function it binds names of that function
    if name in ALWAYS:
        return True
    if name in IMPORTERS:
        return bool(node.args) and is_name(node.args[0], "__name__")
    if name in TABLES:  # of a function, or of an object, it is no table of the module
        return not node.args and _is_at_top(module, node) and not _is_read(module, node)
    return name == "globals" and not _is_read(module, node)


def _is_at_top(module: Module, node: ast.AST) -> bool:
    return module.scope_at(node).node is module.tree


def _is_read(module: Module, table: ast.Call) -> bool:
    """Whether a table of names is only read: ``globals()[name]``, ``name in globals()``, ``globals().get(name)``."""
    above = module.parents[table]
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Load)
    return isinstance(above, ast.Compare) or (isinstance(above, ast.Attribute) and above.attr in READERS)
