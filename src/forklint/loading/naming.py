"""Whether a project has any use for a class of it: whether something names it that does not only hand the name on."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

EXPORTS = "__all__"
BY_TEXT = re.compile(
    rb"(?<![\w.])(?:getattr|globals|locals|vars|eval|exec)\s*\(|getmembers\("
    rb"|__dict__|__subclasses__|__init_subclass__|\bregist"
)
"""What may find a class of a file, or of one that it imports, by a text that is put together, or all of them."""
BY_PATH = (b"import_module(", b"__import__(", b"instantiate(", b"locate(", b"import_string(", b"SourceFileLoader(")
"""What may import any file by such a text, in a file that speaks of datasets."""
DATA = re.compile(rb"(?i:dataset|loader)")


def is_named_nowhere(project: Project, facts: ClassFacts) -> bool:
    """Whether no code and no settings of the project name a class but to define, import or export it.

    Nobody makes an object of such a class, unless other projects do.
    """
    return project.answer("is named nowhere", facts, lambda: _find(project, facts), compared=True)


def _find(project: Project, facts: ClassFacts) -> bool:
    home, name = facts.module.path, facts.name
    is_plain = not facts.node.decorator_list and facts.module.parents[facts.node] is facts.module.tree
    if facts.module.is_notebook or not is_plain:
        return False
    if _finds_any(project) or any(project.matches(one, BY_TEXT) for one in (home, *project.graph.importers(home))):
        return False
    if any(name.encode() in project.data(path) for path in project.presets):
        return False
    return not any(_names(project, path, facts) for path in project.where(WORD, name))


def _finds_any(project: Project) -> bool:
    """Whether a file may import datasets by texts that are put together."""
    find = lambda: any(project.matches(path, DATA) for word in BY_PATH for path in project.containing(word))  # noqa: E731
    return project.answer("finds datasets by texts", None, find, compared=True)


def _names(project: Project, path: Path, facts: ClassFacts) -> bool:
    """Whether a file names a class outside of it but to import or export it, in a text also where it cannot see it."""
    module, home = project.module(path), facts.module.path
    is_seen = path == home or project.graph.reaches(path, home)
    return module is None or any(
        _is_name(node, facts.name, is_seen=is_seen)
        and facts.node not in module.above(node)
        and not _is_export(module, node)
        for node in module.nodes
    )


def _is_name(node: ast.AST, name: str, *, is_seen: bool) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and re.search(rf"\b{re.escape(name)}\b", node.value) is not None
    return is_seen and name == (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", ""))


def _is_export(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in ``__all__``, or in a docstring."""
    statement = module.statement_of(node)
    if isinstance(statement, ast.Expr) and statement.value is node:
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(one, ast.Name) and one.id == EXPORTS for one in targets)
