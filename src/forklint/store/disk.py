"""The files of one store: what may be read, who has it open, and how a new one is put in its place."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

from forklint.store import git_index
from forklint.store.errors import BusyError, DamagedError, RefusedError, StoreError, UnreachableError
from forklint.store.lock import PATIENCE, Lock
from forklint.store.mounts import is_local
from forklint.store.schema import Schema
from forklint.store.tables import SECONDS_A_DAY, Tables

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite appends to the name of a file for those that it puts beside it."""
LOCK = "-lock"
MOST = 4
"""A file of so many times the limit is none of ours."""
SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a journal ends that names another file, which SQLite would remove: ours never do.

https://www.sqlite.org/fileformat.html#the_rollback_journal
"""


class Disk:
    """The files of one store."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self.path = path
        self._schema = schema
        self._lock = Lock(path.with_name(path.name + LOCK))
        self._identity: tuple[int, int] | None = None
        self._is_writable = False

    def connect(self, *, for_changes: bool, distrusted: bytes) -> Tables | None:
        """Open the file, unless it is the one born as ``distrusted``; None if there is none. Raises StoreError.

        With ``for_changes`` only if it can be written: without, a folder that takes no files is no obstacle.
        """
        if not os.path.lexists(self.path):
            return None
        self.check()
        self._take_part(for_changes=for_changes)
        try:
            tables = self._open(for_changes=for_changes) if os.path.lexists(self.path) else None
            if tables is not None and tables.birth == distrusted:
                tables.close()
                raise DamagedError(f"{self.path} is damaged")
            self._identity = _identity(self.path)
        except BaseException:
            self._lock.release()
            raise
        if tables is None:
            self._lock.release()
        return tables

    def leave(self) -> None:
        """Tell the other processes that this one has closed the file, or never opened it."""
        self._lock.release()

    @property
    def is_changeable(self) -> bool:
        """Whether the file was opened to be written, and still has its name."""
        return self._is_writable and self._identity == _identity(self.path)

    def check(self) -> None:
        """Raise RefusedError or DamagedError if SQLite must not even look at the files."""
        names = [self.path.name + end for end in ("", *BESIDE, LOCK)]
        for name in names:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                status = self.path.with_name(name).lstat()
                if stat.S_ISDIR(status.st_mode):
                    raise RefusedError(f"{self.path.with_name(name)} is a folder")
                if not stat.S_ISREG(status.st_mode):
                    raise DamagedError(f"{self.path.with_name(name)} is not a regular file")
                if status.st_size > MOST * self._schema.limit:
                    raise DamagedError(f"{self.path.with_name(name)} is too large for a cache of forklint")
        if git_index.tracks_any(self.path.parent, names):
            raise RefusedError(f"{self.path} is tracked by git, so it is not used")
        if _ends_with(self.path.with_name(self.path.name + "-journal"), SUPER_JOURNAL):
            raise DamagedError(f"{self.path}-journal was not written by forklint")

    def renew(self, distrusted: bytes) -> bool:
        """Make the file, in place of one that is damaged or was born as ``distrusted``; raises StoreError.

        False if another process has it open, or is about to do the same.
        """
        with contextlib.suppress(DamagedError):
            self.check()
        try:
            _remove_odd(self.path)
            if not self._lock.claim(0):
                return False
            try:
                if not self._is_sound(distrusted):
                    _remove(self.path)
                    self._make()
            finally:
                self._lock.release()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror or error}") from None
        return True

    def _take_part(self, *, for_changes: bool) -> None:
        """Share the lock; raises StoreError."""
        try:
            shared = self._lock.share(PATIENCE)
        except OSError as error:
            if for_changes:
                raise StoreError(f"{self.path} cannot be written: {error.strerror or error}") from None
            return  # nobody can put another file in the place of what cannot be locked
        if not shared:
            raise BusyError(f"{self.path} is in use by another run")

    def _open(self, *, for_changes: bool) -> Tables | None:
        self._is_writable = True
        try:
            tables = Tables.open(self.path, "mode=rw", self._schema)
        except UnreachableError:
            if for_changes or not self._is_at_rest():
                raise
            self._is_writable = False
            return Tables.open(self.path, "mode=ro&immutable=1", self._schema)
        if tables is not None:
            self._touch()
        return tables

    def _is_at_rest(self) -> bool:
        """Whether all that was written is in the file itself."""
        return not any(_size(self.path.with_name(self.path.name + end)) for end in ("-wal", "-journal"))

    def _is_sound(self, distrusted: bytes) -> bool:
        """Whether the file can be used; raises StoreError if that cannot be told, or it must stay."""
        try:
            self.check()
            tables = self._open(for_changes=True) if os.path.lexists(self.path) else None
        except DamagedError:
            return False
        except UnreachableError:
            if is_local(self.path.parent):  # a full disk, or files of another user: no reason to throw it away
                raise
            return False
        if tables is None:
            return False
        tables.close()
        return tables.birth != distrusted

    def _make(self) -> None:
        try:
            Tables.make(self.path, self._schema, log=is_local(self.path.parent)).close()
        except BaseException:
            _remove(self.path)
            raise

    def _touch(self) -> None:
        """Leave a sign that the file is used, once a day: one that is not is removed some day."""
        with contextlib.suppress(OSError):
            if self.path.stat().st_mtime < time.time() - SECONDS_A_DAY:
                os.utime(self.path)


def remove(path: Path, patience: float) -> bool:
    """Remove the files of a store; raises OSError.

    False if another process still has them open after ``patience`` seconds.
    """
    _remove_odd(path)
    lock = Lock(path.with_name(path.name + LOCK))
    if not lock.claim(patience):
        return False
    try:
        _remove(path)
    finally:
        lock.release(remove=True)
    return True


def _remove(path: Path) -> None:
    for end in (*BESIDE, ""):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _remove_odd(path: Path) -> None:
    """Remove what is no regular file and would be in the way of the lock: a link, not what it leads to."""
    lock = path.with_name(path.name + LOCK)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(lock.lstat().st_mode):
            lock.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _ends_with(path: Path, end: bytes) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(end), os.SEEK_END)
            return file.read() == end
    except OSError:  # there is none, or it is shorter
        return False
