"""Shared memory and named semaphores: which of them are the trial's, and how they go away.

Those of POSIX are files in ``/dev/shm`` on Linux (shm_overview(7), sem_overview(7)). One is the trial's if it was not
there before and one of these holds:

- its name begins with the trial's prefix, which the harness makes multiprocessing use;
- it is called ``torch_PID_...`` (the memory of a tensor) or ``__KMP_REGISTERED_LIB_PID_...`` (LLVM's and Intel's
  OpenMP, one for each process) with the pid of a process of the trial;
- a process of the trial has it open or mapped, and nobody else does. This goes by inode: glibc makes a semaphore
  under another name and links it, so that the map of its maker never shows its name.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable

from . import system_v
from .files import open_files
from .tree import contents, everyone

FOLDER = "/dev/shm"
_NAMED_BY_PID = re.compile(r"(?:torch|__KMP_REGISTERED_LIB)_(\d+)_")
LOOKS = 3
"""How often the trial's processes are searched for one new segment: its maker may not have been listed yet."""


class SharedMemory:
    """The segments of one trial, from its start to its end."""

    def __init__(self, prefix: str) -> None:
        self.pids: set[int] = set()
        self._prefix = prefix
        self._before = _listing()
        self._before_system_v = system_v.segments()
        self._looked: dict[tuple[str, int], int] = {}
        self._held: set[int] = set()

    def poll(self, pids: Iterable[int]) -> None:
        """Look who holds the segments that are new; costs one listing if there are none."""
        new = [
            key
            for key in _listing() - self._before
            if self._looked.get(key, 0) < LOOKS and not self._is_telling(key[0])
        ]
        if new:
            self._looked.update({key: self._looked.get(key, 0) + 1 for key in new})
            self.notice(pids)

    def notice(self, pids: Iterable[int]) -> None:
        """Remember what these processes have open or mapped."""
        for pid in pids:
            self._held |= _inodes(pid)

    def unlink(self) -> list[str]:
        """Remove what is the trial's, once its processes are dead; gives a line for each."""
        removed = []
        mine = [(name, inode) for name, inode in sorted(_listing() - self._before) if self._is_named(name)]
        held = [(name, inode) for name, inode in _listing() - self._before if inode in self._held]
        if held:
            strangers = {inode for pid in everyone() for inode in _inodes(pid)}
            mine += [(name, inode) for name, inode in sorted(held) if inode not in strangers]
        for name, _ in dict.fromkeys(mine):
            with contextlib.suppress(OSError):
                os.unlink(f"{FOLDER}/{name}")  # noqa: PTH108
                kind, shown = ("semaphore", name[4:]) if name.startswith("sem.") else ("shared memory", name)
                removed.append(f"{kind} {shown}")
        return removed + system_v.remove(self.pids, self._before_system_v)

    def _is_telling(self, name: str) -> bool:
        """Whether the name alone says whose it is."""
        return name.removeprefix("sem.").startswith(self._prefix) or bool(_NAMED_BY_PID.match(name))

    def _is_named(self, name: str) -> bool:
        match = _NAMED_BY_PID.match(name)
        return int(match[1]) in self.pids if match else self._is_telling(name)


def _listing() -> set[tuple[str, int]]:
    try:
        with os.scandir(FOLDER) as entries:
            return {(entry.name, entry.inode()) for entry in entries}
    except OSError:
        return set()


def _inodes(pid: int) -> set[int]:
    """Inodes on the file system of ``/dev/shm`` that a process has open or mapped."""
    try:
        device = os.stat(FOLDER).st_dev  # noqa: PTH116
    except OSError:
        return set()
    number = f"{os.major(device):02x}:{os.minor(device):02x}".encode()
    mapped = re.findall(rb"^\S+ \S+ \S+ " + number + rb" (\d+)", contents(f"/proc/{pid}/maps"), re.MULTILINE)
    return {int(inode) for inode in mapped} | {found.st_ino for found in open_files(pid) if found.st_dev == device}
