"""One project of a run: which of its stored reports hold, and what is written down at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from forklint.config import Settings
from forklint.incremental import rows, tables
from forklint.incremental.disk import EVERYTHING, Difference, Disk, Nothing, Readable, read_seen, seen_rows
from forklint.incremental.gathering import GatheredLibrary
from forklint.incremental.places import Places
from forklint.incremental.rests import Touched
from forklint.incremental.rows import FileRow, MalformedError
from forklint.incremental.stored_library import StoredLibrary
from forklint.incremental.stored_terms import update_terms, write_terms
from forklint.model import FileReport
from forklint.project.answers import Fact
from forklint.project.rests import mark
from forklint.project.seen import Seen
from forklint.source.digest import digest
from forklint.source.kinds import Kind, kind_of
from forklint.source.roots import Extent
from forklint.store import rows as report_rows
from forklint.store.database import Store, Transaction
from forklint.store.stamps import content_of, stamp

EVERYTHING_MARK = mark(EVERYTHING)
MOST_CHANGES = 64
"""Revisions whose changes are kept; reports that were not asked for since are dropped with older ones."""


class UnsteadyError(Exception):
    """Files changed while they were linted, so that nothing can be written down."""


class Later(NamedTuple):
    """What has changed since a revision."""

    marks: dict[int, Fact]
    """The facts, by the numbers that stand for them."""
    moved: frozenset[str]
    """Files whose text is another."""
    touched: Touched

    @property
    def everything(self) -> bool:
        """Whether it cannot be told what has."""
        return EVERYTHING_MARK in self.marks


Fresh = tuple[FileReport, bytes]
"""A report that was made in this run, and what it rests on, as ``project.rests`` writes it."""


class Session:
    """The store of one project under one set of settings, and how the disk differs from it."""

    def __init__(self, extent: Extent, settings: Settings, variant: str, store: Store, begin: int) -> None:
        """``variant`` stands for how files are linted; ``begin``: nanoseconds, when the run began."""
        self._extent = extent
        self._settings = settings
        self._variant = variant
        self._store = store
        self._begin = begin
        self._is_void = False
        try:
            with store.snapshot():
                self._read()
        except (MalformedError, ValueError, LookupError):  # what is there is none of ours: as good as nothing
            self._is_void = True
            self._read()

    def _read(self) -> None:
        """Read what the store says, and compare the disk with it; raises MalformedError."""
        known: Readable = Nothing() if self._is_void else self._store
        self.revision = self._revision(known)
        self._disk = Disk(self._extent, self._settings, known, self._begin)
        self.difference = self._disk.compare() if self.revision else Difference()
        changes = [(key, row) for key, row in known.rows(tables.CHANGES) if key.isdecimal()]
        self._changes = {int(key): frozenset(rows.facts(row)) for key, row in changes}
        if self.difference.facts:
            self._changes[self.revision + 1] = frozenset(self.difference.facts)
        self._later: dict[int, Later] = {}
        self._places = Places()

    @staticmethod
    def _revision(store: Readable) -> int:
        row = store.read(tables.META, "revision")
        return rows.numbers(row)[0] if row is not None else 0

    # Earlier reports

    def find(self, shown: Mapping[str, str]) -> dict[str, FileReport]:
        """The reports that hold, by path; ``shown`` has the paths of the files, with how each is shown."""
        if self._is_void:
            return {}
        with self._store.snapshot():
            return self._find({self._key(path): path for path in shown}, shown)

    def _find(self, keys: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, FileReport]:
        stored: dict[str, tuple[int, object]] = {}
        for key, data in self._store.read_many(tables.REPORTS, keys).items():
            with contextlib.suppress(MalformedError):
                stored[key] = _report_row(data)
        found: dict[str, FileReport] = {}
        for key in self._holding({key: revision for key, (revision, _) in stored.items()}):
            revision, row = stored[key]
            with contextlib.suppress(MalformedError, report_rows.MalformedError):
                report = report_rows.report(shown[keys[key]], row)
                found[keys[key]] = self._places.refreshed(report, self._after(revision).moved)
        return found

    def why(self, path: str) -> frozenset[Fact] | None:
        """The facts whose change keeps the report of a file from holding; None if there is no report."""
        data = self._store.read(tables.REPORTS, self._key(path))
        if data is None or self._is_void:
            return None
        later = self._after(_report_row(data)[0])
        if later.everything:
            return frozenset({EVERYTHING})
        return frozenset(later.marks[number] for number in later.touched.by(self._rests(self._key(path))))

    def _holding(self, revisions: Mapping[str, int]) -> Iterator[str]:
        """Of stored reports, given with their revisions, those that rest on nothing that has changed since."""
        asked: dict[int, list[str]] = {}
        for key, revision in revisions.items():
            later = self._after(revision)
            if not later.marks:
                yield key
            elif not later.everything:
                asked.setdefault(revision, []).append(key)
        for revision, keys in asked.items():
            touched, rests = self._after(revision).touched, self._store.read_many(tables.RESTS, keys)
            touched.read(rests.values())
            for key, row in rests.items():
                with contextlib.suppress(MalformedError):
                    if not touched.by(row):
                        yield key

    def _rests(self, key: str) -> bytes:
        row = self._store.read(tables.RESTS, key)
        if row is None:
            raise MalformedError
        return row

    def _groups(self, numbers: Iterable[int]) -> dict[int, bytes]:
        return {int(key): row for key, row in self._store.read_many(tables.GROUPS, map(str, numbers)).items()}

    def _after(self, revision: int) -> Later:
        """What has changed since a revision."""
        if revision not in self._later:
            facts = {fact for number, some in self._changes.items() if number > revision for fact in some}
            moved = frozenset(fact[1] for fact in facts if fact[0] == "text")
            marks = {mark(fact): fact for fact in facts}
            self._later[revision] = Later(marks, moved, Touched(marks, self._groups))
        return self._later[revision]

    def library(self) -> StoredLibrary:
        """What the store knows of the files."""
        newer = frozenset(map(Path, self.difference.newer))
        digests = {path: row.digest for path, row in self._disk.known.items() if path not in self.difference.digests}
        return StoredLibrary(self._store, digests, newer, self._disk.now)

    def _key(self, path: str) -> str:
        return f"{self._variant}:{path}"

    # Writing down

    def is_changed(self) -> bool:
        """Whether the store says something that is no longer so, though no report is new."""
        return bool(self.difference.facts or self.difference.stamps or self.difference.digests)

    def keep(self, fresh: Mapping[str, Fresh], seen: Seen, gathered: GatheredLibrary | None = None) -> None:
        """Write down new reports, what was seen of the disk and what was gathered of all files.

        Raises StoreError, and UnsteadyError.
        """
        digests = {path: row.digest for path, row in self._disk.known.items()} | self.difference.digests
        if any(digests.get(path, now) != now for path, now in seen.contents.items()) or not seen.is_consistent:
            raise UnsteadyError
        try:
            self._keep(fresh, seen, digests, gathered)
        except MalformedError:  # it was not read so far: nothing of it is of use
            with self._store.transaction() as change:
                _clear(change)

    def close(self) -> None:
        """Close the store; what is asked of it later opens it again."""
        self._store.close()

    def _keep(
        self, fresh: Mapping[str, Fresh], seen: Seen, digests: dict[str, str], gathered: GatheredLibrary | None
    ) -> None:
        with self._store.transaction() as change:
            if self._is_void:
                _clear(change)
            elif self._revision(change) != self.revision and not self._agrees(change, digests):
                return
            self._write(change, fresh, seen, digests)
            if gathered is not None:
                change.put_many(tables.SUMMARIES, gathered.summaries)
                write_terms(change, list(map(str, gathered.files or ())), gathered.terms)

    def _agrees(self, change: Transaction, digests: Mapping[str, str]) -> bool:
        """Whether a run that ended meanwhile has seen the same as this one."""
        for path, data in change.rows(tables.FILES):
            row = rows.file_row(data)
            if row.revision > self.revision and digests.get(path, row.digest) != row.digest:
                return False
        newest = read_seen(change)
        newest.add(self._disk.now)
        return newest.is_consistent

    def _write(self, change: Transaction, fresh: Mapping[str, Fresh], seen: Seen, digests: dict[str, str]) -> None:
        revision = max(self._revision(change), self.revision) + bool(self.difference.facts)
        if self.difference.facts and self.revision:
            change.put(tables.CHANGES, str(revision), rows.pack(sorted(self.difference.facts)))
        change.put(tables.META, "revision", rows.pack([max(revision, 1)]))
        digests |= seen.contents
        new = {path: now for path, now in digests.items() if path in seen.contents or path in self.difference.digests}
        update_terms(change, self.difference.terms, self._disk.now.files or ())
        self._write_files(change, new, revision)
        stored = read_seen(change)
        stored.put(self._disk.now)
        stored.put(seen)
        change.put_many(tables.SEEN, seen_rows(stored))
        change.put_many(
            tables.REPORTS,
            {self._key(path): rows.pack([revision, report_rows.of_report(one)]) for path, (one, _) in fresh.items()},
        )
        change.put_many(tables.RESTS, {self._key(path): rests for path, (_, rests) in fresh.items()})
        change.put_many(tables.GROUPS, {str(number): row for number, row in seen.groups.items()})
        self._drop_old(change)

    def _write_files(self, change: Transaction, new: Mapping[str, str], revision: int) -> None:
        found: dict[str, bytes] = {}
        for path, now in new.items():
            known = self._disk.known.get(path)
            since = known.revision if known is not None and known.digest == now else revision
            found[path] = rows.of_file(FileRow(since, stamp(path, self._begin), now))
        for path, fresh_stamp in self.difference.stamps.items():
            known = self._disk.known[path]
            found.setdefault(path, rows.of_file(known._replace(stamp=fresh_stamp)))
        change.put_many(tables.FILES, found)
        for path, now in new.items():
            if kind_of(Path(path)) is Kind.PYTHON and change.read(tables.TEXTS, now) is None:
                data = content_of(path)
                if digest(data) == now:
                    change.put(tables.TEXTS, now, rows.squeeze(data))

    def _drop_old(self, change: Transaction) -> None:
        """Forget changes of long ago, and reports that may rest on what they changed."""
        known = sorted(int(key) for key, _ in change.rows(tables.CHANGES) if key.isdecimal())
        if len(known) <= MOST_CHANGES:
            return
        dropped = known[: len(known) // 2]
        change.delete(tables.CHANGES, map(str, dropped))
        old = [key for key, data in change.rows(tables.REPORTS) if _report_row(data)[0] < dropped[-1]]
        change.delete(tables.REPORTS, old)
        change.delete(tables.RESTS, old)


def _clear(change: Transaction) -> None:
    for table in tables.ALL:
        change.clear(table)


def _report_row(data: bytes) -> tuple[int, object]:
    """The revision of a stored report, and its row; raises MalformedError."""
    found = rows.unpack(data)
    if not isinstance(found, list) or len(found) != 2 or found[0].__class__ is not int:
        raise MalformedError
    return found[0], found[1]
