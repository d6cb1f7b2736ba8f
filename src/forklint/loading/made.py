"""Whether anything in a project may make an object of a dataset's class."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.summaries.terms import BASE, CALL, IMPORTED, RENAMED, WORD
from forklint.values.files import is_small

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

BY_NAME = ("import_module", "__import__", "instantiate", "locate", "globals")
EVALUATING = ("eval", "exec")
"""Calls that may make an object of any class whose name is a text; a model has a method ``eval``, too."""


def may_be_made(project: Project, facts: ClassFacts) -> bool:
    """Whether a file may make an object of a class, or hand the class to what does; True where that is not known.

    A file that does no more than import it, or define it, does not.
    """
    return project.answer("may be made", facts, lambda: _find(project, facts), compared=True)


def _find(project: Project, facts: ClassFacts) -> bool:
    name, home = facts.node.name, facts.module.path
    if facts.node.decorator_list or any(project.where(kind, name) for kind in (CALL, BASE, RENAMED)):
        return True
    if any(project.where(CALL, one) for one in BY_NAME):
        return True
    if any(_reads_name(module, one) for one in EVALUATING for module in project.modules(project.where(CALL, one))):
        return True
    asking = set(project.where(CALL, "getattr"))
    if not asking.isdisjoint({home, *project.where(IMPORTED, home.stem)}):
        return True
    if any(_uses(module, name) for module in project.modules(project.where(WORD, name))):
        return True
    settings = (path for path in project.presets if is_small(project, path))
    return any(name.encode() in project.data(path) for path in settings)


def _reads_name(module: Module, name: str) -> bool:
    return any(isinstance(node, ast.Name) for node in module.reads(name))


def _uses(module: Module, name: str) -> bool:
    """Whether a file reads a name, or has it as a text."""
    return bool(module.reads(name)) or any(
        isinstance(node, ast.Constant) and node.value == name for node in module.nodes
    )
