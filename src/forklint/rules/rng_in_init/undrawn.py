"""Which streams of the process nothing that a loader's workers can run draws from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from forklint.knowledge.random_streams import Stream, streams
from forklint.project.index import Project
from forklint.project.module import Module

MOST_FILES = 300
"""A program of more files may draw from anything."""


def undrawn(project: Project, module: Module) -> frozenset[str]:
    """The streams that no file draws from of the programs that a loader's module belongs to, for all they tell."""
    return project.answer("streams not drawn from", module.path, lambda: _find(project, module.path), compared=True)


def _find(project: Project, path: Path) -> frozenset[str]:
    reached = project.graph.reached_from(project.graph.reaching((path,)))
    if len(reached) > MOST_FILES:
        return frozenset()
    return frozenset(
        name for name, row in streams().items() if not any(_may_draw(project, one, row) for one in reached)
    )


def _may_draw(project: Project, path: Path, stream: Stream) -> bool:
    """Whether a file draws from a stream, or imports what may."""
    summary = project.summary(path)
    if summary is None or any(_is_loud(project, path, one.module, stream) for one in summary.imports if not one.level):
        return True
    names = {f"{name}." for name in _names_of(project, path, stream)}
    used = {name for scope in summary.scopes for name in (*scope.calls, *scope.dotted)}
    drawn = (name.removeprefix(one) for name in used for one in names if f"{name}.".startswith(one))
    taken = (one.attribute for one in summary.imports if one.module == stream.module and one.attribute)
    is_drawn = any(name.partition(".")[0] not in stream.draws_not for name in (*drawn, *taken))
    return is_drawn or any(name.rpartition(".")[2] in stream.drawing for name in used)


def _is_loud(project: Project, path: Path, name: str, stream: Stream) -> bool:
    """Whether a package is not known to leave a stream alone; what is the project's own is looked at by itself."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in stream.quiet:
        return False
    return not any(top in {*one.parts, one.stem} for one in project.graph.imports(path))


def _names_of(project: Project, path: Path, stream: Stream) -> Iterator[str]:
    """Give the dotted names by which a file may know a stream's module."""
    holder, _, last = stream.module.rpartition(".")
    for one in project.imports(path):
        if one.module == stream.module and not one.attribute:
            yield one.alias if one.is_renamed else stream.module
        elif holder and one.module == holder and one.attribute == last:
            yield one.alias
        elif holder and one.module.partition(".")[0] == holder and not one.attribute:
            yield f"{one.alias if one.is_renamed else holder}.{last}"
