"""Which files may call what makes a loader: judged by names, before any tree is looked at."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.starters import starters
from forklint.project.spelling import last_name
from forklint.summaries.parts import BASES, CALLS
from forklint.summaries.terms import IMPORTED

if TYPE_CHECKING:
    from forklint.project.index import Project

OWN = "cls"
"""What a class method calls its class."""


def loader_names(project: Project) -> frozenset[str]:
    """The last names by which the project may call what makes a loader."""
    return project.hierarchy.heirs(_listed(project))


def may_make_loader(project: Project, path: Path) -> bool:
    """Whether a file may call what makes a loader, a class of its own by ``cls`` included."""
    return project.hierarchy.may_call(_listed(project), path) or calls_own_loader(project, path)


def calls_own_loader(project: Project, path: Path) -> bool:
    """Whether a file may make a loader in a class method of that loader, by ``cls``."""

    def find() -> bool:
        summary = project.part(path, CALLS, OWN)
        return summary is not None and OWN in summary.called and _has_heir(project, path)

    return project.answer("may make its own loader", path, find, compared=True)


def may_set_up_loader(project: Project, path: Path) -> bool:
    """Whether a file may call what makes a loader, or a loader's ``__init__`` from that of a subclass."""
    return may_make_loader(project, path) or project.answer(
        "may set up a loader", path, lambda: _sets_up(project, path), compared=True
    )


def _sets_up(project: Project, path: Path) -> bool:
    """Whether a file calls an ``__init__``, and has a class that may inherit from a loader."""
    summary = project.summary(path)
    if summary is None or not any(call.endswith(".__init__") for scope in summary.scopes for call in scope.calls):
        return False
    return _has_heir(project, path)


def _has_heir(project: Project, path: Path) -> bool:
    """Whether a file has a class that may inherit from a loader."""
    summary = project.part(path, BASES)
    numbers = summary.classes if summary is not None else ()
    bases = {part for number in numbers for base in summary.scopes[number].bases for part in base.split(".")}  # type: ignore[union-attr]
    return not bases.isdisjoint(loader_names(project))


def may_be_loader(project: Project, call: ast.Call) -> bool:
    """Whether a call may make a loader or set one up, by the name of what it calls."""
    name = last_name(call.func)
    return name == "__init__" or name in loader_names(project)


def _listed(project: Project) -> frozenset[str]:
    return project.answer("names of loaders", None, lambda: _last_names(project), compared=True)


def _last_names(project: Project) -> frozenset[str]:
    rows = starters(project.settings.starters)
    return frozenset(name.rpartition(".")[2] for name in starters_at_hand(project) if rows[name].is_loader)


def starters_at_hand(project: Project) -> frozenset[str]:
    """The qualified names of what starts processes: the settings' own, and of libraries that some file imports."""

    def find() -> frozenset[str]:
        known, with_own = starters(), starters(project.settings.starters)
        libraries = {name.partition(".")[0] for name in known}
        at_hand = {one for one in libraries if _is_imported(project, one)}
        return frozenset(name for name in with_own if name not in known or name.partition(".")[0] in at_hand)

    return project.answer("starters at hand", None, find, compared=True)


def _is_imported(project: Project, library: str) -> bool:
    path = project.terms.any_with(IMPORTED, library)
    return path is not None and bool(project.imports(path))
