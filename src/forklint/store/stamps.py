"""Whether a file is as it was, told without reading it where that is certain."""

from __future__ import annotations

import os
import stat

from forklint.source.digest import digest

Stamp = tuple[int, int, int]
"""When a file was last written and last changed in any way, in nanoseconds, and its size."""
NOWHERE: Stamp = (-1, -1, -1)
"""The stamp of what must be read to be known again: it is missing, or was changed too lately."""
GRAIN = 2_000_000_000
"""Nanoseconds within which a file system may give two states of a file one time (FAT: two seconds)."""


def stamp(path: str, before: int) -> Stamp:
    """The stamp of a file if it was last changed well ``before`` some time in nanoseconds, else NOWHERE.

    Whoever reads a file after that time can then be sure that it was read in the state that the stamp stands for: a
    change at the same time as the reading would show a later time.
    """
    try:
        status = os.stat(path)
    except OSError:
        return NOWHERE
    found = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return found if max(found[:2]) < before - GRAIN else NOWHERE


def is_same(path: str, known: Stamp) -> bool:
    """Whether a file still has its stamp."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size) == known


def digest_of(path: str) -> str:
    """The digest of what is in a file now, one that cannot be read counting as an empty one."""
    return digest(content_of(path))


def content_of(path: str) -> bytes:
    """What is in a file now; nothing if it cannot be read."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to does not make this wait."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
