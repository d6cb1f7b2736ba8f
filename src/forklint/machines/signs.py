"""Signs that a project has a platform, or a Python, in mind other than the one that it surely runs on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from forklint.model import NEWEST_PYTHON, PLATFORMS, Cell

if TYPE_CHECKING:
    from forklint.project.index import Project

FOREIGN_SIGNS = {
    "darwin": (b"darwin", b"Darwin", b".mps", b'"mps"', b"'mps'", b"macos", b"macOS", b"MacOS"),
    "windows": (b"win32", b"Windows", b"windows", b"os.name"),
}
"""Words that show that a project has a platform in mind; `mps` alone would be found in `json.dumps`."""
VERSION_FILES = ("pyproject.toml", "forklint.toml", "setup.cfg", "setup.py", "tox.ini", ".python-version")
FORKSERVER_PYTHON = re.compile(r"(?<![\d.])(?:3\.1[4-9]|py31[4-9])\b")
"""A Python whose start method on Linux is forkserver."""


def shows_platform(project: Project, cells: Iterable[Cell]) -> bool:
    """Whether the project runs on Linux, as any may, or shows a sign of another platform of these cells."""
    where = {cell.platform for cell in cells}
    return "linux" in where or any(project.shows(FOREIGN_SIGNS[platform]) for platform in where)


def expects_pickling(project: Project, cells: Iterable[Cell]) -> bool:
    """Whether the project shows a sign of a cell in which workers get pickles unasked.

    That is a sign of macOS or Windows, or of a Python from 3.14 on; a range that is only open upwards is none.
    """
    settings, cells = project.settings, tuple(cells)
    if settings.platforms != PLATFORMS and any(cell.platform != "linux" for cell in cells):
        return True
    if any(cell.platform == "linux" for cell in cells) and _expects_forkserver(project):
        return True
    return shows_platform(project, [cell for cell in cells if cell.platform != "linux"])


def _expects_forkserver(project: Project) -> bool:
    oldest, newest = project.settings.target_python
    if oldest >= (3, 14) or (3, 14) <= newest < NEWEST_PYTHON:
        return True
    find = lambda: any(FORKSERVER_PYTHON.search(_text(project, name)) for name in VERSION_FILES)  # noqa: E731 - short
    return project.answer("names a Python with forkserver", None, find, compared=True)


def _text(project: Project, name: str) -> str:
    return project.data(project.root / name).decode(errors="replace")
