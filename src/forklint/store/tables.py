"""Tables of rows in one SQLite database, each row with a checksum: damage is an error, never a wrong row."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from forklint.store.errors import DamagedError, StoreError, from_sqlite
from forklint.store.lock import PATIENCE
from forklint.store.schema import Schema
from forklint.store.statements import LARGEST_VALUE, Statements

APPLICATION, FORMAT = 0x666B6C73, 1
"""What SQLite keeps in the header of a file for whoever made it."""
ABOUT, BIRTH = "about", "birth"
"""The table and the key of the random bytes that tell one store from the next of the same name."""
SECONDS_A_DAY = 24 * 3600
SMALLEST_ROW = 8
"""Bytes that a row takes in the file at the least: more rows than that cannot be in it."""
OVERHEAD = 64
"""Bytes that a row takes beside its value, about."""
BATCH = 16_000_000
"""Bytes of values after which it is looked at how large the store has become."""
AT_ONCE = 500
"""Keys in one question; older versions of SQLite take 999 at the most."""
SETTINGS = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",  # a file that somebody cuts short must be an error, not a SIGBUS
    "synchronous = NORMAL",  # see the package
    "temp_store = MEMORY",
)


class Tables:
    """The tables of one open database. All methods raise StoreError and what derives from it."""

    def __init__(self, connection: sqlite3.Connection, schema: Schema, label: str) -> None:
        """``label`` names the file in messages."""
        self.label = label
        self._schema = schema
        self._connection = connection
        self._statements = {name: Statements(name) for name in (ABOUT, *schema.tables)}
        self.birth = b""
        """What tells this store from another one of its name."""
        self._used: dict[str, set[bytes]] = {}
        """Rows that were read and whose day in the file is another."""
        self._failure: StoreError | None = None
        """What went wrong in the transaction that is open."""
        self._writes = False

    @classmethod
    def open(cls, path: Path, options: str, schema: Schema) -> Tables | None:
        """Open a file with the ``options`` of a URI; None if nothing was ever written to it."""
        connection = _connected(_uri(path, options), str(path))
        tables = cls(connection, schema, str(path))
        try:
            if not tables._is_made():
                tables.close()
                return None
        except BaseException:
            tables.close()
            raise
        return tables

    @classmethod
    def make(cls, path: Path | None, schema: Schema, *, log: bool = False) -> Tables:
        """Make a new file, or a database in memory; ``log``: changes go into a write-ahead log first."""
        label = "the store in memory" if path is None else str(path)
        connection = _connected(":memory:" if path is None else _uri(path, "mode=rwc"), label)
        tables = cls(connection, schema, label)
        try:
            with tables._errors():
                tables._writes = True
                tables._fill(log=log)
        except BaseException:
            tables.close()
            raise
        return tables

    def close(self) -> None:
        """Close the file; the last process to do so writes what is in the log into it."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    @property
    def is_reading(self) -> bool:
        """Whether a transaction is open, be it of reads alone."""
        return self._connection.in_transaction

    @property
    def is_changing(self) -> bool:
        """Whether a transaction is open that may write."""
        return self._writes

    # Reading

    def read_many(self, table: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The rows of a table that there are among ``keys``."""
        statements, today, found = self._statements[table], _today(), {}
        wanted = {key.encode("utf-8", "surrogatepass"): key for key in keys}
        with self._errors(), self.one_state():
            rest = iter(wanted)
            while names := tuple(islice(rest, AT_ONCE)):
                for row in islice(self._connection.execute(statements.some(len(names)), names), len(names)):
                    value = self._value(statements.start, row, wanted)
                    found[wanted[row[0]]] = value
                    if row[1] != today:
                        self._used.setdefault(table, set()).add(row[0])
        return found

    def all(self, table: str) -> list[tuple[str, bytes]]:
        """All rows of a table."""
        statements = self._statements[table]
        rows = []
        with self._errors(), self.one_state():
            room = self._size()
            for row in self._connection.execute(statements.all):
                value = self._value(statements.start, row)
                rows.append((row[0].decode("utf-8", "surrogatepass"), value))
                room -= SMALLEST_ROW + len(value)
                if room < 0:  # the tree goes round in a circle
                    raise self._fail(DamagedError(f"{self.label} is damaged"))
        return rows

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All that is read inside is of one state, whatever other processes write."""
        if self._connection.in_transaction:
            yield
            return
        with self._errors():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self.roll_back()

    def _value(self, start: int, row: tuple[Any, ...], wanted: Collection[bytes] | None = None) -> bytes:
        key, day, total, value = row
        if (
            type(key) is bytes
            and type(day) is int
            and type(value) is bytes
            and (wanted is None or key in wanted)
            and zlib.crc32(value, zlib.crc32(key, start)) == total
        ):
            return value
        raise self._fail(DamagedError(f"{self.label} is damaged"))

    # Writing

    def begin(self) -> None:
        """Begin to write, when no other process does."""
        self._failure, self._writes = None, True
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")

    def put_many(self, table: str, rows: Mapping[str, bytes]) -> None:
        """Store rows, in place of those of the same keys."""
        statements, today, batch, size = self._statements[table], _today(), [], 0
        self.delete(table, (key for key, value in rows.items() if len(value) > LARGEST_VALUE))
        for key, value in rows.items():
            if len(value) > LARGEST_VALUE:
                continue
            name = key.encode("utf-8", "surrogatepass")
            batch.append((name, today, zlib.crc32(value, zlib.crc32(name, statements.start)), value))
            size += len(value)
            if size > BATCH:
                self._change(statements.put, batch)
                self._evict()
                batch, size = [], 0
        self._change(statements.put, batch)

    def use(self, table: str, keys: Iterable[str]) -> None:
        """Rows are needed today, though nobody read them."""
        self._used.setdefault(table, set()).update(key.encode("utf-8", "surrogatepass") for key in keys)

    def delete(self, table: str, keys: Iterable[str]) -> None:
        """Remove rows."""
        self._change(self._statements[table].delete, ((key.encode("utf-8", "surrogatepass"),) for key in keys))

    def clear(self, table: str) -> None:
        """Remove all rows of a table."""
        self._change(self._statements[table].clear, ((),))

    def commit(self) -> None:
        """Write down what was used, remove the oldest rows if there are too many, and end writing."""
        today = _today()
        for table, keys in self._used.items():
            self._change(self._statements[table].use, ((today, key) for key in keys))
        self._used.clear()
        if self._failure is not None:
            raise self._failure
        evicted = self._evict()
        with self._errors():
            self._connection.execute("COMMIT")
        self._writes = False
        if evicted:
            with contextlib.suppress(sqlite3.Error):  # then some other time
                self._connection.executescript("PRAGMA incremental_vacuum")  # ``execute`` would give back one page

    def roll_back(self) -> None:
        """End reading or writing, and leave all as it was."""
        self._writes = False
        with contextlib.suppress(sqlite3.Error):  # it was rolled back when it failed
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _change(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._errors():
            if self._failure is not None:  # SQLite may have ended the transaction: each change would be one
                raise self._failure
            self._connection.executemany(statement, rows)

    def _evict(self) -> bool:
        """If there is more than the limit, remove rows, the oldest first, until an eighth of it is free."""
        limit = self._schema.limit
        with self._errors():
            if self._size() <= limit:
                return False
            oldest = iter(sorted(self._ages()))
            while (excess := self._size() - (limit - limit // 8)) > 0:
                row = None
                for row in oldest:
                    _, _, table, key, length = row
                    self._connection.execute(self._statements[table].delete, (key,))
                    excess -= length + len(key) + OVERHEAD
                    if excess <= 0:
                        break
                if row is None:  # no more of them
                    break
            if self._size() > limit:
                raise self._fail(StoreError(f"{self.label} would take more than {limit:,} bytes"))
        return True

    def _ages(self) -> Iterator[tuple[int, int, str, bytes, int]]:
        """Of each row that may be removed its day, its number in the order of writing, and where it is."""
        today = _today()
        for table in self._schema.evictable:
            rows = self._connection.execute(self._statements[table].ages)
            for day, number, key, length in islice(rows, self._size() // SMALLEST_ROW):
                if type(day) is not int or type(key) is not bytes or type(length) is not int:
                    raise self._fail(DamagedError(f"{self.label} is damaged"))
                yield (day if day <= today else 0), number, table, key, length

    def _size(self) -> int:
        """Bytes that the rows take."""
        pages, free, size = (self._pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    # Opening

    def _pragma(self, name: str) -> int:
        number = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return number if type(number) is int else -1

    def _settle(self) -> None:
        for setting in SETTINGS:
            self._connection.execute(f"PRAGMA {setting}")

    def _is_made(self) -> bool:
        """Whether there is what ``make`` makes, and nothing else: no trigger or view runs unseen."""
        expected = set[tuple[object, ...]]().union(*(statements.schema for statements in self._statements.values()))
        with self._errors():
            self._settle()
            select = f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {len(expected) + 1}"  # noqa: S608 - a number
            found = self._connection.execute(select).fetchall()
            made = (self._pragma("application_id"), self._pragma("user_version"))
        if not found and made == (0, 0):
            return False
        if made != (APPLICATION, FORMAT) or len(found) != len(expected) or set(found) != expected:
            raise DamagedError(f"{self.label} is not a store of this version")
        self.birth = self.read_many(ABOUT, (BIRTH,)).get(BIRTH, b"")
        if not self.birth:
            raise DamagedError(f"{self.label} is damaged")
        return True

    def _fill(self, *, log: bool) -> None:
        self._settle()
        self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        if log:
            with contextlib.suppress(sqlite3.OperationalError):  # where memory cannot be shared there is a journal
                self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
        self._connection.execute("BEGIN IMMEDIATE")
        for statements in self._statements.values():
            self._connection.execute(statements.make)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        self.put_many(ABOUT, {BIRTH: os.urandom(16)})
        self._connection.execute("COMMIT")
        self._writes = False

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn an error of SQLite into one of ours."""
        try:
            yield
        except (sqlite3.Error, MemoryError, OverflowError, UnicodeError) as error:
            failure = from_sqlite(error, self.label, writes=self._writes)
            if self._writes and "readonly" in str(error) and _may_write(self.label):
                failure = DamagedError(f"{self.label} is damaged")  # only its header says that it cannot be written
            raise self._fail(failure) from None

    def _fail(self, failure: StoreError) -> StoreError:
        """Remember what went wrong: what was begun must not be written, whoever handles the error."""
        self._failure = failure
        return failure


def _today() -> int:
    return int(time.time()) // SECONDS_A_DAY


def _may_write(path: str) -> bool:
    effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=effective) for each in (path, os.path.dirname(path)))


def _uri(path: Path, options: str) -> str:
    """What SQLite opens; ``Path.as_uri`` would import a package for it."""
    whole = path.absolute().as_posix().replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{'' if whole.startswith('/') else '/'}{whole}?{options}"


def _connected(target: str, label: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            target,
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,  # transactions begin where this file says so
            check_same_thread=False,  # the store sees to it that threads take turns
        )
    except sqlite3.Error as error:
        raise from_sqlite(error, label, writes=False) from None
