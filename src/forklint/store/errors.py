"""What can be wrong with a store."""

from __future__ import annotations


class StoreError(Exception):
    """Something could not be stored; the message is one line that names the file and the reason."""


class DamagedError(StoreError):
    """What was read is not what was written, or was written by somebody else."""


class BusyError(StoreError):
    """Another process holds the lock, and did not let go of it in time."""


class UnreachableError(StoreError):
    """The system does not let this process open the file, or a file that SQLite needs beside it."""


class RefusedError(StoreError):
    """The store must not be read, and nothing may be put in its place."""


def from_sqlite(error: Exception, label: str, *, writes: bool) -> StoreError:
    """What an error of SQLite means, by its text: codes came with Python 3.11."""
    text = str(error)
    if "locked" in text or "locking" in text:
        return BusyError(f"{label} is in use by another run")
    if "readonly" in text or "unable to open" in text or "disk I/O" in text or "access permission" in text:
        if writes:
            return StoreError(f"{label} cannot be written: {text}")
        return UnreachableError(f"{label} cannot be opened: {text}")
    if "is full" in text:
        return StoreError(f"{label} cannot be written: {text}")
    return DamagedError(f"{label} is damaged")  # the text may quote what is in the file
