"""Which files may send something to workers, and what that is called: judged by names, before any tree is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.unpicklable import senders
from forklint.loading.loaders import files_with_loaders
from forklint.loading.screening import OWN, loader_names, starters_at_hand
from forklint.summaries.summary import CLASS, FUNCTION
from forklint.summaries.terms import CALL

if TYPE_CHECKING:
    from forklint.knowledge.unpicklable import Launcher
    from forklint.project.index import Project


def launching() -> tuple[Mapping[str, Launcher], ...]:
    """What starts processes and sends them something, by qualified names."""
    return senders().processes, senders().pools, senders().launchers


def may_launch(project: Project, path: Path) -> bool:
    """Whether a file may start a process and send it something, by the names that it calls."""
    return any(path in project.where(CALL, name) for name in names_of_launchers())


@cache
def names_of_launchers() -> frozenset[str]:
    """Last parts of the names of what starts processes and sends them something."""
    return frozenset(name.rpartition(".")[2] for rows in launching() for name in rows)


def names_of_senders(project: Project) -> frozenset[str]:
    """Last parts of the names of what sends something, but for the methods of a pool."""

    def find() -> frozenset[str]:
        known = {name.rpartition(".")[2] for name in starters_at_hand(project)}
        return loader_names(project) | names_of_launchers() | known

    return project.answer("names of senders", None, find, compared=True)


def names_of_what_loads(project: Project) -> frozenset[str]:
    """Names of the functions, methods and classes that may make a loader of what they are given."""
    return project.answer("names of what loads", None, lambda: frozenset(_find_loading(project)), compared=True)


def _find_loading(project: Project) -> Iterator[str]:
    names = loader_names(project)
    summaries = (project.summary(path) for path in files_with_loaders(project))
    for summary, scope in ((one, scope) for one in summaries if one is not None for scope in one.scopes):
        above = summary.scopes[scope.parent]
        makes = ((above.name if call == OWN else call.rpartition(".")[2]) in names for call in scope.calls)
        if scope.kind == FUNCTION and scope.parameters and any(makes):
            yield from (scope.name, above.name) if above.kind == CLASS else (scope.name,)


def may_hand_on(project: Project, path: Path) -> bool:
    """Whether a file may pass something to what makes a loader of it, by the names that it calls."""
    summary = project.summary(path)
    return summary is not None and not _names_that_lead_on(project).isdisjoint(summary.called)


def _names_that_lead_on(project: Project) -> frozenset[str]:
    return names_of_what_loads(project) - {"__init__"}  # nearly every file calls that of some base


def sending_files(project: Project) -> tuple[Path, ...]:
    """The files that may send something, or pass it to what makes a loader of it, by the names that they call."""

    def find() -> tuple[Path, ...]:
        names = names_of_senders(project) | _names_that_lead_on(project)
        calling = {path for name in sorted(names) for path in project.where(CALL, name)}
        return tuple(project.in_order(calling.union(files_with_loaders(project))))

    return project.answer("files that may send", None, find, compared=True)
