"""Whether code may come to start processes, judged by names (see ``runs.reached``)."""

from __future__ import annotations

from pathlib import Path

from forklint.project.index import Project
from forklint.runs.reached import TOP, Names, Place, Sought, may_reach
from forklint.summaries.summary import Import

MODULE = "multiprocess"
"""In the name of a module: it starts processes, whatever is called."""


def may_start(project: Project, path: Path, starters: frozenset[str]) -> bool:
    """Whether the top level of a file may reach code that names one of ``starters`` or multiprocessing."""
    return may_reach(project, Place(path, TOP), starts(starters))


def starts(starters: frozenset[str]) -> Sought:
    """Code that names one of ``starters`` or multiprocessing."""

    def in_code(text: Names) -> bool:
        if not (starters.isdisjoint(text.bare) and starters.isdisjoint(text.attributes)):
            return True
        return any(MODULE in name for names in (text.bare, text.attributes) for name in names)

    def in_import(one: Import, _: Names | None) -> bool:
        return MODULE in one.module or MODULE in one.attribute or one.attribute in starters

    return Sought("what starts processes", in_code, in_import)
