"""Imports that a file expects to fail, or does not run where it stands."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from forklint.members.guards import is_excused, is_fallback
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name, text_of
from forklint.rules.unknown_method.supplied_modules import GENERATED
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project


COMPILING = re.compile(rb"pyximport|\[\s*[\"']make[\"']|\bsystem\(\s*f?[\"']make\b")


def is_expected(project: Project, module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a file is ready for an import that fails, or does not run it where it stands."""
    if is_excused(module, node, "") or is_fallback(module, node) or _is_generated(node):
        return True
    if compiles_imports(project, module):
        return True
    above = [one for one in module.above(node) if isinstance(one, (*FUNCTIONS, ast.ClassDef))]
    marks = [mark for one in above for mark in getattr(one, "decorator_list", ())]
    if any(last_name(mark.func if isinstance(mark, ast.Call) else mark).startswith("skip") for mark in marks):
        return True
    if marks and project.where(WORD, "getsource"):  # its text may be put into another file
        return True
    return b"importorskip" in module.screened.code and any(_skips(one, node) for one in module.nodes)


def compiles_imports(project: Project, module: Module) -> bool:
    """Whether a file has what it imports compiled as it is imported: from Cython, or by ``make``."""
    return project.matches(module.path, COMPILING)


def _skips(node: ast.AST, needed: ast.Import | ast.ImportFrom) -> bool:
    """Whether a call skips a test where a module is missing that an import needs."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "importorskip" or not node.args:
        return False
    return any(f"{name}.".startswith(f"{text_of(node.args[0])}.") for name, _ in named(needed))


def _is_generated(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether all that is imported by name are modules that a compiler writes."""
    return isinstance(node, ast.ImportFrom) and all(one.name.endswith(GENERATED) for one in node.names)


def named(node: ast.Import | ast.ImportFrom) -> list[tuple[str, int]]:
    """The modules that an import names, each with its leading dots; for ``from . import name`` that may be a module."""
    if isinstance(node, ast.ImportFrom) and node.module:
        return [(node.module, node.level)]
    return [(alias.name, getattr(node, "level", 0)) for alias in node.names]
