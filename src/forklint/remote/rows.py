"""The output of ``lint-many``: a line of JSON for each finding, and beside it a journal, so that a run can go on.

The journal has a line for each repository that is done, with the size that the output had then: what was written
after that belongs to a repository that was cut short, and is removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from forklint.remote.repositories import Linted

SUFFIX = ".journal"
KEYS = frozenset({"repository", "digest", "end", "findings"})
"""Of a line of the journal."""


class RowsError(Exception):
    """The output cannot be written; the message is one line for the user."""


class Rows:
    """The output, as a context manager; ``done`` has the digests of repositories that earlier runs have finished."""

    def __init__(self, path: Path, options: str) -> None:
        """Open the output, and its journal if that is of the same options; raises RowsError."""
        self._path, self._journal_path = path, path.with_name(path.name + SUFFIX)
        self.done: dict[str, str] = {}
        self.findings = 0
        """Of all repositories that are done."""
        self._options = options
        self._begin: dict[str, int] = {}
        """Where the findings of a repository begin that was linted in this run."""
        try:
            size, end = self._read()
            self._journal: BinaryIO = self._journal_path.open("ab")
            self._journal.truncate(size)
            if not size:
                self._note({"options": options})
            self._file: BinaryIO = path.open("ab")
            self._file.truncate(end)
            self._file.seek(end)  # it tells where it is by its old size
        except OSError as error:
            raise RowsError(f"{path}: {error.strerror or error}") from None

    def _read(self) -> tuple[int, int]:
        """Read what is done from a journal of this output and these options; returns the bytes of both that hold."""
        if not self._journal_path.exists() or not self._path.exists():
            return 0, 0
        lines = self._journal_path.read_bytes().splitlines(keepends=True)
        if not lines or _row(lines[0]) != {"options": self._options}:
            return 0, 0
        size, end, written = len(lines[0]), 0, self._path.stat().st_size
        for line in lines[1:]:
            row = _row(line)
            if not line.endswith(b"\n") or not row.keys() >= KEYS or row["end"] > written:
                break  # cut short
            size, end, self.findings = size + len(line), row["end"], row["findings"]
            self.done[row["repository"]] = row["digest"]
        return size, end

    def __enter__(self) -> Rows:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._journal.close()

    def write(self, done: Linted) -> None:
        """Write the findings of a repository; one that could not be linted is tried again by the next run."""
        if done.error:
            return
        self._begin[done.name] = self._file.tell()
        for finding in done.findings:
            self._file.write(json.dumps({"repository": done.name, **finding}).encode() + b"\n")
        self._file.flush()
        self.findings += len(done.findings)
        self.done[done.name] = done.digest
        end = self._file.tell()
        self._note({"repository": done.name, "digest": done.digest, "end": end, "findings": self.findings})

    def tidy(self, names: Collection[str]) -> None:
        """Leave only the last findings of each repository, and of these alone; called when a run is complete."""
        self._file.flush()
        wanted, new = set(names), self._path.with_name(f".{self._path.name}.forklint")
        self.findings, at = 0, 0
        with self._path.open("rb") as lines, new.open("wb") as target:
            for line in lines:
                name = json.loads(line)["repository"]
                if name in wanted and at >= self._begin.get(name, 0):
                    target.write(line)
                    self.findings += 1
                at += len(line)
        self.done = {name: digest for name, digest in self.done.items() if name in wanted}
        end = new.stat().st_size
        self._journal.truncate(0)
        self._note({"options": self._options})
        self._file.close()
        new.replace(self._path)
        self._file = self._path.open("ab")
        for name, digest in self.done.items():
            self._note({"repository": name, "digest": digest, "end": end, "findings": self.findings})

    def _note(self, row: Mapping[str, Any]) -> None:
        self._journal.write(json.dumps(row).encode() + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())


def _row(line: bytes) -> dict[str, Any]:
    """A line of the journal; empty if it is none."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def to_parquet(rows: Path, target: Path) -> None:
    """Write the rows as a table with the columns that people filter by, and each finding as JSON; raises RowsError."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - forklint[parquet]
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise RowsError("Parquet needs pyarrow: pip install 'forklint[parquet]'") from None
    names = ("repository", "code", "name", "severity", "filename", "row", "column", "message", "subject", "fingerprint")
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "finding")}
    with rows.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            flat = {**row, **row["location"], "finding": line.rstrip("\n")}
            for name, values in columns.items():
                values.append(flat[name])
    types = {name: pa.int32() if name in {"row", "column"} else pa.string() for name in columns}
    new = target.with_name(f".{target.name}.forklint")
    try:
        parquet.write_table(pa.table(columns, schema=pa.schema(list(types.items()))), new)
        new.replace(target)
    except OSError as error:
        raise RowsError(f"{target}: {error.strerror or error}") from None
    finally:
        new.unlink(missing_ok=True)
