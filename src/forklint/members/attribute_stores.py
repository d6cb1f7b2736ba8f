"""Who gives objects an attribute from outside their class: by assignment, ``setattr`` or a text that names it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.spelling import last_name
from forklint.project.trials import is_test_file
from forklint.summaries.parts import DEFINITION, STORED
from forklint.summaries.stores import given_in, set_in
from forklint.summaries.summary import CLASS, MODULE, Scope, Summary
from forklint.summaries.terms import GIVEN, WORD

LOOK_UPS = frozenset({"get", "pop", "setdefault"})
WRITES = frozenset({"print", "write", "info", "debug", "warning"})
"""Functions and methods whose texts are for a reader, or a file."""
LONGEST_LIST = 400
"""Characters of the longest text that is read as a list of names: ``"width, depth"``."""


def is_assigned_somewhere(project: Project, name: str, modules: Iterable[Module]) -> bool:
    """Whether a file gives an object an attribute of this name, or one of ``modules`` holds it as a text.

    The first of these is where the name is used; what tests put into objects does not help other code.
    """
    modules = tuple(modules)
    return are_quoted(project, name, modules) or bool(giving_files(project, name, modules))


def are_quoted(project: Project, name: str, modules: Iterable[Module]) -> bool:
    """Whether one of some modules holds a name as a text that may set it."""
    return any(name in _quoted(project, module) for module in modules)


def giving_files(project: Project, name: str, modules: Iterable[Module]) -> list[Path]:
    """The files that give an object an attribute of a name, as ``is_assigned_somewhere`` counts them."""
    first = next(iter(modules), None)
    is_trial = first is None or is_test_file(first.path)
    paths = project.where(GIVEN, name)
    return [path for path in paths if (is_trial or not is_test_file(path)) and _gives(project, path, name)]


def owners_of_stores(module: Module, name: str) -> Iterator[ast.expr]:
    """Give what a module stores an attribute of a name on, or deletes it from."""
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            yield node.value


def sets_by_text(summary: Summary, name: str) -> bool:
    """Whether a file sets an attribute that a text names on what is not the object of the method around it."""
    return any(name in set_in(summary, number) for number in summary.by_attribute.get(name, ()))


def is_nowhere(project: Project, name: str) -> bool:
    """Whether no file defines, stores, passes or quotes a name: then nothing can supply it, wherever that is."""
    return not any(_has(project, path, name) for path in project.where(WORD, name))


def _gives(project: Project, path: Path, name: str) -> bool:
    """Whether a file stores an attribute on what is not the object of the method that does so, or sets it by text."""

    def find() -> bool:
        summary = project.part(path, STORED, name)
        numbers = summary.by_attribute.get(name, ()) if summary is not None else ()
        return any(_gives_in(project, path, number, name) for number in numbers)

    return project.answer("gives an attribute", (path, name), find, compared=True)


def _gives_in(project: Project, path: Path, number: int, name: str) -> bool:
    summary = project.part(path, STORED, name)
    if summary is None or project.definition(path, DEFINITION, summary.outermost(number)) is None:
        return False
    return name in given_in(summary, number)


def _has(project: Project, path: Path, name: str) -> bool:
    def find() -> bool:
        summary = project.summary(path)
        return summary is None or name in summary.by_name or any(_holds(scope, name) for scope in summary.scopes)

    return project.answer("has a name", (path, name), find, compared=True)


def _holds(scope: Scope, name: str) -> bool:
    if name in scope.passed or (scope.kind in {CLASS, MODULE} and name in scope.binds):
        return True
    return any(text.rpartition(".")[2] == name for text in (*scope.stores, *scope.strings))


def _quoted(project: Project, module: Module) -> frozenset[str]:
    """The names that texts of a module spell, alone or in a list, but for keys and what is compared or written."""

    def find() -> frozenset[str]:
        now = project.module(module.path)
        return frozenset() if now is None else frozenset(name for text in _texts(now) for name in _listed(text))

    return project.answer("names quoted", module.path, find, compared=True)


def _texts(module: Module) -> Iterable[str]:
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_key(node, module):
            yield node.value


def _is_key(node: ast.Constant, module: Module) -> bool:
    """Whether a text is looked up, compared or written out, so that it names nothing that is set."""
    above = module.parents[node]
    if isinstance(above, (ast.Tuple, ast.List, ast.Set)) and isinstance(module.parents[above], ast.Compare):
        return True  # ``kind in ("mean", "sum")``
    if isinstance(above, ast.Compare):
        return True
    if isinstance(above, ast.Call):
        called = last_name(above.func)
        return called in WRITES or (called in LOOK_UPS and isinstance(above.func, ast.Attribute))
    return isinstance(above, ast.Subscript) or (isinstance(above, ast.Dict) and node in above.keys)


def _listed(text: str) -> list[str]:
    names = [name.strip() for name in text.removesuffix(",").split(",")] if len(text) <= LONGEST_LIST else []
    return names if all(map(str.isidentifier, names)) else []
