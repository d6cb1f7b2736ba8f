"""A lock on a file that says who has a store open: many may use it at once, and one alone may remove it.

SQLite has locks of its own for readers and writers. They do not say when it is safe to put another file in place of a
damaged one: a process that still has the old file open would go on to write the log beside the new one, and would
remove that log when it ends. On Windows a file that is open cannot be removed, so nothing is needed there.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

PATIENCE = 5.0
"""Seconds to wait for another process."""
PAUSE = 0.02
"""Seconds between two attempts to get a lock."""


class Lock:
    """A lock that is shared or exclusive, held until it is released or the process ends."""

    def __init__(self, path: Path) -> None:
        """``path``: the file that is locked; it is made if it is not there."""
        self._path = path
        self._handle: int | None = None

    def share(self, patience: float) -> bool:
        """Take the lock beside others within ``patience`` seconds; False if one has it alone. Raises OSError."""
        return self._take(patience, exclusive=False)

    def claim(self, patience: float) -> bool:
        """Take the lock alone within ``patience`` seconds; False if others have it. Raises OSError."""
        return self._take(patience, exclusive=True)

    def release(self, *, remove: bool = False) -> None:
        """Let go of the lock; ``remove`` its file first, which only a process that has it alone may do."""
        handle, self._handle = self._handle, None
        with contextlib.suppress(OSError):
            if remove and sys.platform != "win32":
                self._path.unlink()
        if handle is not None:
            os.close(handle)
        with contextlib.suppress(OSError):
            if remove and sys.platform == "win32":  # where it cannot be removed while it is open
                self._path.unlink()

    def _take(self, patience: float, *, exclusive: bool) -> bool:
        deadline = time.monotonic() + patience
        while True:
            handle = _open(self._path)
            if _try(handle, exclusive=exclusive) and _is_at(handle, self._path):
                self._handle = handle
                return True
            os.close(handle)
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE)


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of that name: another process may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _open(path: Path) -> int:
    safely = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | safely, 0o666)
    except OSError:
        return os.open(path, os.O_RDONLY | safely)  # a folder that takes nothing may hold one


if sys.platform == "win32":

    def _try(_handle: int, *, exclusive: bool) -> bool:  # noqa: ARG001 - as elsewhere
        return True

else:
    import fcntl

    def _try(handle: int, *, exclusive: bool) -> bool:
        """Lock an open file without waiting; raises OSError where the file system has no locks."""
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            os.close(handle)
            raise
        return True
