"""The trial's own folder: how large it is, and how it goes away whatever the trial made of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

BLOCK = 512
"""Unit of ``st_blocks`` (stat(2))."""


def size(folder: str) -> int:
    """Bytes that the files below a folder take on the disk; what cannot be read counts nothing."""
    total = 0
    folders = [folder]
    for place in folders:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    with contextlib.suppress(OSError):
                        total += _blocks(entry.stat(follow_symlinks=False))
    return total


def deleted_size(pids: Iterable[int], folder: str) -> int:
    """Bytes of files without a name, on the disk of this folder, that these processes hold open.

    ``tempfile.TemporaryFile`` makes such files: they fill the disk and no folder shows them.
    """
    sizes: dict[int, int] = {}
    try:
        device = os.stat(folder).st_dev  # noqa: PTH116
    except OSError:
        return 0
    for pid in pids:
        for found in open_files(pid):
            if found.st_dev == device and found.st_nlink == 0:
                sizes[found.st_ino] = _blocks(found)
    return sum(sizes.values())


def open_files(pid: int) -> list[os.stat_result]:
    """What the descriptors of a process point to; empty where ``/proc`` does not tell."""
    place = f"/proc/{pid}/fd"
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(place):  # noqa: PTH208
            with contextlib.suppress(OSError):
                found.append(os.stat(f"{place}/{name}"))  # noqa: PTH116
    return found


def remove(folder: str) -> None:
    """Remove a folder with all in it, also where the right to look inside was taken away; links are not followed."""
    folders = [folder]
    for place in folders:
        with contextlib.suppress(OSError):
            os.chmod(place, 0o700)  # noqa: PTH101
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)  # noqa: PTH108
    for place in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(place)  # noqa: PTH106


def _blocks(found: os.stat_result) -> int:
    return int(getattr(found, "st_blocks", found.st_size // BLOCK + 1)) * BLOCK
