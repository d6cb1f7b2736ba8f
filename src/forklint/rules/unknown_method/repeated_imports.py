"""Imports that a handler tries again, spelt otherwise, from modules that lack the name as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.members.guards import expects_lack
from forklint.rules.unknown_method.imported_paths import file_of

if TYPE_CHECKING:
    from pathlib import Path

    from forklint.project.index import Project
    from forklint.project.module import Module


def lacking_files(project: Project, module: Module, node: ast.AST, name: str) -> list[Path]:
    """The files from which a ``try`` and each of its handlers import a name, if the statement is one of these imports.

    ``try: from src.config import WIDTH`` and ``except ImportError: from config import WIDTH`` is no way out where the
    one file that both mean has no ``WIDTH``. Empty if some handler does without the name.
    """
    above = module.parents.get(node)
    guard = module.parents.get(above) if isinstance(above, ast.ExceptHandler) else above
    if not isinstance(guard, ast.Try) or not guard.handlers:
        return []
    if not any(expects_lack(handler) for handler in guard.handlers):
        return []
    ways = [guard.body, *(handler.body for handler in guard.handlers)]
    found = [[*_files(project, module, way, name)] for way in ways]
    return [path for files in found for path in files] if all(found) else []


def _files(project: Project, module: Module, way: list[ast.stmt], name: str) -> Iterator[Path]:
    """Give the files of the project from which the statements of a block import a name."""
    for statement in way:
        if isinstance(statement, ast.ImportFrom) and any(alias.name == name for alias in statement.names):
            path = file_of(project, module.path, statement.module or "", statement.level)
            if path is not None:
                yield path
