"""One process at a time for a file, among all that ask here; a holder that is killed blocks nobody."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 30.0
"""Seconds to wait for another process."""
PAUSE = 0.02


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which need not exist; raises TimeoutError after PATIENCE and OSError.

    On POSIX that is the lock of its folder, so that no file for the lock is left in a project; on Windows, where a
    folder has none, that of a file in the folder for temporary files.
    """
    handle = _open(path)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _try(handle):
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(PAUSE)
        yield
    finally:
        os.close(handle)  # the system lets go of the lock


if sys.platform == "win32":
    import msvcrt

    def _open(path: Path) -> int:
        import hashlib  # noqa: PLC0415 - most runs lock nothing
        import tempfile  # noqa: PLC0415

        name = hashlib.sha256(str(path).lower().encode()).hexdigest()[:16]
        return os.open(Path(tempfile.gettempdir()) / f"forklint-{name}.lock", os.O_RDWR | os.O_CREAT)

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _open(path: Path) -> int:
        return os.open(path.parent, os.O_RDONLY)

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
