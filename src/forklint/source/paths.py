"""Paths as people and machines write them."""

from __future__ import annotations

import os
from pathlib import Path


def shown(path: Path) -> str:
    """A path as the user would write it: relative to the working directory where it lies below."""
    return relative_to(path.absolute(), Path.cwd()) if path.is_absolute() else str(path)


def without_parents(path: Path) -> Path:
    """The same path without ``..``, which would make a folder that it only passes through look like one around it."""
    if ".." not in path.parts:
        return path
    last = len(path.parts) - path.parts[::-1].index("..")
    return Path(shown(Path(os.path.realpath(Path(*path.parts[:last]))).joinpath(*path.parts[last:])))


def relative_to(path: Path, folder: Path) -> str:
    """``path`` relative to ``folder`` with forward slashes; unchanged if it lies elsewhere."""
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return str(path)
