"""The folder in which findings are kept: where it lies, how it is made, and how it is removed."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from forklint.config import Settings
from forklint.source.discovery import NEVER
from forklint.source.paths import from_root
from forklint.source.roots import Extent
from forklint.source.writing import replace

NAME = ".forklint_cache"
SUFFIX = ".cache"
TAG = "CACHEDIR.TAG"
TAG_TEXT = """Signature: 8a477f597d28d172789f06886806bc55
# A cache of forklint. Such folders are left out by programs that make backups: https://bford.info/cachedir/
"""
IGNORE_TEXT = "# Made by forklint.\n*\n"
LONGEST_UNUSED = 30 * 24 * 3600.0
"""Seconds after which a file that nobody wrote anew is removed when another is written."""
LARGEST = 400_000_000
"""Bytes of the largest file that is read; ours have some hundred bytes for each file of the project."""


def folder_of(extent: Extent, settings: Settings) -> Path | None:
    """Where the findings of a project are kept; None where no settings say so and nothing marks its root.

    A file outside any project leaves nothing behind in the folder that it happens to lie in.
    """
    if settings.cache_dir:
        return from_root(settings.base / settings.cache_dir)
    if extent.is_marked and not (extent.root / NAME).is_symlink():
        return extent.root / NAME
    return None


def read(path: Path) -> bytes | None:
    """What was written to a file; None if there is none that could be ours."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


def write(path: Path, data: bytes) -> None:
    """Write a file in one step, make its folder if need be, and remove files that are old; raises OSError."""
    folder = path.parent
    if not (folder / TAG).exists():
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):  # in a folder that is used for more, what is not ours is not ignored
            (folder / ".gitignore").write_text(IGNORE_TEXT, encoding="utf-8")
        (folder / TAG).write_text(TAG_TEXT, encoding="utf-8")
    replace(path, data)
    for other in _written(folder):
        with contextlib.suppress(OSError):
            if other.stat().st_mtime < time.time() - LONGEST_UNUSED:
                other.unlink()


def below(folder: Path) -> Iterator[Path]:
    """Give the caches of the projects in a folder and below."""
    for path, names, _ in os.walk(folder):
        if NAME in names and not Path(path, NAME).is_symlink():
            yield Path(path, NAME)
        names[:] = [name for name in names if name not in NEVER]


def remove(folder: Path) -> int:
    """Remove what forklint wrote into a folder, and the folder if nothing else is in it.

    Gives how many files with findings there were; raises OSError.
    """
    if not is_cache(folder):
        return 0
    written = _written(folder)
    for path in written:
        path.unlink(missing_ok=True)
    for name, text in ((".gitignore", IGNORE_TEXT), (TAG, TAG_TEXT)):
        path = folder / name
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
            path.unlink()
    with contextlib.suppress(OSError):  # there is more in it
        folder.rmdir()
    return sum(path.suffix == SUFFIX for path in written)


def _written(folder: Path) -> list[Path]:
    """Files with findings, and what runs left half-written when they were killed."""
    return [*folder.glob(f"*{SUFFIX}"), *folder.glob(".*.forklint")]


def is_cache(folder: Path) -> bool:
    """Whether forklint made a folder its cache."""
    try:
        return (folder / TAG).read_text(encoding="utf-8", errors="replace") == TAG_TEXT
    except OSError:
        return False
