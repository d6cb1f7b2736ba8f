"""Which files of a project take part in the same programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from forklint.project.index import Project


def met_with(project: Project, home: Path) -> frozenset[Path]:
    """The files that take part in a program that a file takes part in."""
    find = lambda: project.graph.reached_from(project.graph.reaching([home]))  # noqa: E731 - it is short
    return project.answer("met with a file", home, find, compared=True)
