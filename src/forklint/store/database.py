"""Tables of rows by key, on disk or in memory: the interface of the store."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forklint.store import folder
from forklint.store.errors import BusyError, DamagedError, RefusedError, StoreError, UnreachableError
from forklint.store.lock import PATIENCE, PAUSE
from forklint.store.schema import Schema

if TYPE_CHECKING:
    from types import TracebackType

    from forklint.store.disk import Disk
    from forklint.store.tables import Tables

__all__ = ["LIMIT", "Store", "StoreError", "Transaction"]

LIMIT = 512_000_000
"""Bytes that the store of one project may take: 68,000 files with summaries of 7.5 kB, thirteen times transformers."""
ATTEMPTS = 3
"""How often a new file is made, if none of them can be opened after that."""

Result = TypeVar("Result")
_of_parents: list[Tables] = []
"""Connections of processes that this one was forked from. To close one here could disturb them."""


class Transaction:
    """Reads and writes of which all are done or none. Reads see the newest state, and what was written here.

    All methods raise StoreError; then nothing is written.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def read(self, table: str, key: str) -> bytes | None:
        """The value of a key; None if there is none."""
        return self.read_many(table, (key,)).get(key)

    def read_many(self, table: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that there are."""
        return self._tables.read_many(table, keys)

    def rows(self, table: str) -> Iterator[tuple[str, bytes]]:
        """All keys of a table with their values."""
        return iter(self._tables.all(table))

    def put(self, table: str, key: str, value: bytes) -> None:
        """Store a value in place of an older one."""
        self.put_many(table, {key: value})

    def put_many(self, table: str, rows: Mapping[str, bytes]) -> None:
        """Store values in place of older ones; in place of one of more than 64 MB there is none afterwards."""
        self._tables.put_many(table, rows)

    def delete(self, table: str, keys: Iterable[str]) -> None:
        """Remove keys."""
        self._tables.delete(table, keys)

    def clear(self, table: str) -> None:
        """Remove all keys of a table."""
        self._tables.clear(table)

    def used(self, table: str, keys: Iterable[str]) -> None:
        """Let keys count as used today; those that were read or written do."""
        self._tables.use(table, keys)


class Store:
    """Tables of rows by key, on disk or in memory.

    Threads take turns, and a transaction holds the others up. A process that was forked opens the file for itself; of
    a store in memory it has a copy.
    """

    def __init__(self, file: Path | None, schema: Schema, tell: Callable[[str], None]) -> None:
        """As ``open`` does."""
        self.intact = True
        """False once something could not be read: what seems to be missing may have been there."""
        self._file = file
        self._schema = schema
        self._tell = tell
        self._told = False
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._disk: Disk | None = None
        self._tables: Tables | None = None
        self._is_unusable = False
        self._distrusted = b""
        """What the store was born as in which there was damage."""

    @classmethod
    def open(
        cls,
        file: Path | None,
        tables: Sequence[str],
        tell: Callable[[str], None],
        *,
        limit: int = LIMIT,
        evictable: Sequence[str] | None = None,
    ) -> Store:
        """A store in a ``file`` (None: in memory), which is opened when something is wanted of it.

        ``tell`` hears once, in one line, what is wrong with the file. Nothing is in the store then, and the next
        transaction puts a new file in its place, unless git tracks it. Where there are more than ``limit`` bytes, a
        transaction removes rows of ``evictable`` tables (None: of all), those first that were not used for longest.
        """
        return cls(file, Schema(tuple(tables), tuple(tables if evictable is None else evictable), limit), tell)

    def read(self, table: str, key: str) -> bytes | None:
        """The value of a key; None if there is none."""
        return self.read_many(table, (key,)).get(key)

    def read_many(self, table: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that there are, all of one moment."""
        nothing: dict[str, bytes] = {}
        return self._read(lambda tables: tables.read_many(table, keys), nothing)

    def rows(self, table: str) -> Iterator[tuple[str, bytes]]:
        """All keys of a table with their values, all of one moment."""
        nothing: list[tuple[str, bytes]] = []
        return iter(self._read(lambda tables: tables.all(table), nothing))

    def used(self, table: str, keys: Iterable[str]) -> None:
        """Let keys count as used today, from the next transaction on; those that were read or written do."""
        self._read(lambda tables: tables.use(table, keys), None)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is of one moment, whatever other processes write."""
        with self._alone(), contextlib.ExitStack() as stack:
            self._read(lambda tables: stack.enter_context(tables.one_state()), None)
            yield

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Write, when no other process does. All that is written is there for others when this ends, or nothing is.

        Raises StoreError, and nothing else of its own, if that cannot be; after five seconds if others write.
        """
        with self._alone():
            tables, process = self._opened_for_changes(), os.getpid()
            try:
                tables.begin()
                yield Transaction(tables)
                if os.getpid() != process:
                    raise StoreError(
                        f"{tables.label} can only be written by the process that opened it, not by a child process"
                    )
                tables.commit()
            except BaseException as error:
                if os.getpid() == process:
                    tables.roll_back()
                    if isinstance(error, DamagedError):
                        self._give_up(error)
                        self._start_anew()
                raise

    def close(self) -> None:
        """Close the file; reading or writing opens it again."""
        with self._alone():
            if self._tables is not None:
                self._tables.close()
                self._tables = None
            if self._disk is not None:
                self._disk.leave()

    def __enter__(self) -> Store:  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads out, and leave to a parent process what is its own."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = threading.RLock()
            if self._disk is not None and self._tables is not None:
                _of_parents.append(self._tables)
                self._tables = None
                self._disk.leave()
        with self._lock:
            yield

    def _read(self, read: Callable[[Tables], Result], nothing: Result) -> Result:
        with self._alone():
            try:
                tables = self._opened()
                return nothing if tables is None else read(tables)
            except StoreError as error:
                if self._tables is not None and self._tables.is_changing:
                    raise  # it is for the transaction to end
                self._give_up(error)
                return nothing

    def _opened(self) -> Tables | None:
        """The tables, opened if need be; None if there is nothing to read. Raises StoreError."""
        if self._tables is None and not self._is_unusable and (self._file is None or os.path.lexists(self._file)):
            self._tables = self._connected(for_changes=False)
        return self._tables

    def _opened_for_changes(self) -> Tables:
        """The tables of a file that is whole and can be written, made anew if need be; raises StoreError."""
        if self._tables is not None:
            if self._tables.is_reading:
                raise StoreError(f"{self._tables.label} is already being read or written")
            if self._disk is None or self._disk.is_changeable:
                return self._tables
            self.close()
        self._prepare()
        deadline, attempts = time.monotonic() + PATIENCE, 0
        while attempts < ATTEMPTS and time.monotonic() < deadline:
            with contextlib.suppress(UnreachableError):  # ``renew`` says whether that is for good
                try:
                    self._tables = self._connected(for_changes=True)
                except DamagedError as error:
                    self._give_up(error)
            if self._tables is not None:
                self._is_unusable = False
                return self._tables
            if self._disk is not None and self._disk.renew(self._distrusted):
                attempts += 1
            else:
                time.sleep(PAUSE)
        raise BusyError(f"{self._file} is in use by another run")

    def _connected(self, *, for_changes: bool) -> Tables | None:
        try:
            from forklint.store.disk import Disk  # noqa: PLC0415 - imports SQLite, which takes 3 ms
            from forklint.store.tables import Tables  # noqa: PLC0415
        except ImportError:
            raise RefusedError("this Python was built without SQLite") from None
        if self._file is None:
            return Tables.make(None, self._schema)
        self._disk = self._disk or Disk(self._file, self._schema)
        return self._disk.connect(for_changes=for_changes, distrusted=self._distrusted)

    def _prepare(self) -> None:
        """Make the folder of the file, and remove from it what is out of use."""
        if self._file is None:
            return
        try:
            folder.make(self._file.parent)
            folder.tidy(self._file.parent, self._file)
        except OSError as error:
            raise StoreError(f"{self._file.parent} cannot be written: {error.strerror or error}") from None

    def _give_up(self, error: StoreError) -> None:
        """Do without what is stored: none of it is read any more."""
        if not self._told:
            self._told = True
            self._tell(str(error))
        self.intact = False
        self._is_unusable = True
        if self._tables is not None and isinstance(error, DamagedError):
            self._distrusted = self._tables.birth
        self.close()

    def _start_anew(self) -> None:
        """Put an empty file in place of the damaged one, for the next run."""
        with contextlib.suppress(StoreError):
            if self._disk is not None:
                self._disk.renew(self._distrusted)
