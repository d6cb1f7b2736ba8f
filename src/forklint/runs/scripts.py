"""Which files of a project are programs, and which of them come to another file by what they import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.edges import PACKAGE
from forklint.project.trials import is_test_file

if TYPE_CHECKING:
    from forklint.project.index import Project

MOST_FILES = 200
"""At most this many files may lead to a file."""


def leading_to(project: Project, path: Path) -> list[Path]:
    """The files that lead to one by what they import, itself first, without tests; none if they are too many."""
    found = [path]
    for one in found:
        found += [source for source in project.graph.importers(one) if source not in found and not is_test_file(source)]
        if len(found) > MOST_FILES:
            return []
    return found


def is_program(project: Project, path: Path) -> bool:
    """Whether a file is run by itself: it has a main guard, or nobody imports it and it calls something at its top."""
    summary = project.summary(path) if path.name != PACKAGE else None
    statements = summary.statements if summary is not None else ()
    if any(one.is_guard for one in statements):
        return True
    return any(one.runs and not one.binds for one in statements) and not project.graph.is_imported(path)
