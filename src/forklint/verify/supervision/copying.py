"""A copy of a folder for one trial, where no overlay is to be had: cheap where the file system clones, else a copy.

Hard links would be cheap everywhere, and are no copy: who writes into one writes into the other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

CLONE = 0x40049409
"""``FICLONE`` (ioctl_ficlone(2)): btrfs, XFS and others then share the blocks until one of both is written to."""
SHARED = (".git", ".hg", ".svn", "node_modules")
"""Folders that a program does not write into; they are linked, and so are virtual environments."""


def size(folder: str, most_files: int) -> int | None:
    """Bytes that a copy has to move; None if there are more files than that."""
    total = 0
    for number, entry in enumerate(_files(folder), 1):
        if number > most_files:
            return None
        with contextlib.suppress(OSError):
            total += entry.stat(follow_symlinks=False).st_size
    return total


def clones(folder: str, place: str) -> bool:
    """Whether files of a folder can be cloned into a place: tried with one of them."""
    target = os.path.join(place, ".clone")  # noqa: PTH118 - pathlib would double the start of a supervisor
    found = next((entry for entry in _files(folder) if entry.is_file(follow_symlinks=False)), None)
    try:
        return found is not None and _clone(found.path, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(target)  # noqa: PTH108


def copy(source: str, target: str) -> None:
    """Copy a folder with all in it; links stay links, and those that lead into the folder lead into the copy."""
    os.makedirs(target)  # noqa: PTH103
    waiting = [(source, target)]
    for place, new in waiting:
        with os.scandir(place) as entries:
            for entry in entries:
                path = os.path.join(new, entry.name)  # noqa: PTH118
                if entry.is_symlink():
                    os.symlink(_led(os.readlink(entry.path), source, target), path)  # noqa: PTH115, PTH211
                elif entry.is_dir() and _is_shared(entry):
                    os.symlink(entry.path, path)  # noqa: PTH211
                elif entry.is_dir():
                    os.mkdir(path)  # noqa: PTH102
                    waiting.append((entry.path, path))
                elif entry.is_file() and not _clone(entry.path, path):
                    shutil.copyfile(entry.path, path)
                if entry.is_file(follow_symlinks=False):
                    shutil.copystat(entry.path, path)


def _led(link: str, source: str, target: str) -> str:
    inside = link == source or link.startswith(source + os.sep)
    return target + link[len(source) :] if inside else link


def _is_shared(entry: os.DirEntry[str]) -> bool:
    return entry.name in SHARED or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))  # noqa: PTH110, PTH118


def _files(folder: str) -> Iterator[os.DirEntry[str]]:
    folders = [folder]
    for place in folders:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif not _is_shared(entry):
                    folders.append(entry.path)


def _clone(source: str, target: str) -> bool:
    """Clone a file; False, and no file, where that cannot be done."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none

        with open(source, "rb") as old, open(target, "wb") as new:  # noqa: PTH123
            fcntl.ioctl(new, CLONE, old.fileno())
    except (ImportError, OSError):
        with contextlib.suppress(OSError):
            os.unlink(target)  # noqa: PTH108
        return False
    return True
