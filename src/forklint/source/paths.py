"""Paths as people and machines write them."""

from __future__ import annotations

import os
from pathlib import Path

NO_FILE = "/dev/null/<text>"
"""A name that no file has. CPython takes the line of a syntax error from the file that it was told to parse."""


def from_root(path: Path) -> Path:
    """A path from the root without ``..``, which would make of its ``parents`` folders that do not lie above it."""
    whole = path.absolute()
    if os.pardir not in whole.parts:
        return whole
    below = whole.parts[::-1].index(os.pardir)
    climbing, rest = (whole.parts[:-below], whole.parts[-below:]) if below else (whole.parts, ())
    return Path(os.path.realpath(Path(*climbing)), *rest)  # a link is followed before the step up, as by the system


def shown(path: Path) -> str:
    """A path as the user would write it: relative to the working directory where it lies below."""
    return relative_to(from_root(path), Path.cwd()) if path.is_absolute() else str(path)


def relative_to(path: Path, folder: Path) -> str:
    """``path`` relative to ``folder`` with forward slashes; unchanged if it lies elsewhere."""
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return str(path)
