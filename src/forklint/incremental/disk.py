"""How the files differ from what a store says of them, as facts that changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from forklint.config import Settings
from forklint.incremental import rows, tables
from forklint.incremental.rows import FileRow, MalformedError
from forklint.project.answers import Fact
from forklint.project.changes import State, changed, changed_searches, state_of
from forklint.project.searches import Content, Search
from forklint.project.seen import WALKED, Seen, beside, importable
from forklint.project.top_level import MODULE, TREE
from forklint.records import dataclass
from forklint.source import discovery
from forklint.source.digest import digest
from forklint.source.kinds import PRESET_SUFFIXES, PYTHON_SUFFIXES, Kind, kind_of
from forklint.source.roots import Extent
from forklint.store.stamps import Stamp, content_of, is_same, stamp

EVERYTHING: Fact = ("everything",)
"""Changed where it cannot be told what did: no report of before holds."""


class Readable(Protocol):
    """A store, or a transaction of one."""

    def read(self, table: str, key: str) -> bytes | None:
        """One row; None if there is none."""

    def rows(self, table: str) -> Iterator[tuple[str, bytes]]:
        """All rows of a table."""


class Nothing:
    """A store with nothing in it."""

    def read(self, table: str, key: str) -> bytes | None:
        """No row."""
        return None

    def rows(self, table: str) -> Iterator[tuple[str, bytes]]:
        """No rows."""
        return iter(())


@dataclass
class Difference:
    """How the disk differs from a store."""

    facts: set[Fact] = field(default_factory=set)
    newer: set[str] = field(default_factory=set)
    """Python files that have changed, come or gone."""
    terms: list[tuple[str, str, bool]] = field(default_factory=list)
    """Terms that files have got (True) or lost, as ``kind:name``, path and which."""
    digests: dict[str, str] = field(default_factory=dict)
    """The files whose content is another, or that have come, with the digests of what is in them now."""
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Files that were read and are as they were, with new stamps."""


class Disk:
    """Compares the files of one project with a store."""

    def __init__(self, extent: Extent, settings: Settings, store: Readable, begin: int) -> None:
        """``begin``: nanoseconds; what was changed later may not be trusted to stay."""
        self._extent = extent
        self._settings = settings
        self._store = store
        self._begin = begin
        self.known: dict[str, FileRow] = {path: rows.file_row(row) for path, row in store.rows(tables.FILES)}
        """What the store says of each file."""
        self.seen = read_seen(store)
        self._sought = [text.encode(errors="surrogateescape") for text in self.seen.sought]
        self._searches = [Search.read(text, words) for text, words in self.seen.patterns.items()]
        self.now = Seen()
        """The same, as it is now."""

    def compare(self) -> Difference:
        """Look at every file and folder that the store knows of; raises MalformedError."""
        found = Difference()
        for path, row in self.known.items():
            if not is_same(path, row.stamp):
                self._compare_file(path, row, found)
        self._compare_walks(found)
        found.facts.update(self._entries())
        found.facts.update(self._paths())
        return found

    def _compare_file(self, path: str, row: FileRow, found: Difference) -> None:
        fresh, data = stamp(path, self._begin), content_of(path)
        now = digest(data)
        if now == row.digest:
            found.stamps[path] = fresh
            return
        found.digests[path] = now
        if kind_of(Path(path)) is Kind.PYTHON:
            self._take_in(path, self._before(path, row, found), state_of(Path(path), data), found)
        else:
            found.facts.update((("text", path), ("size", path), (MODULE, path), (TREE, path)))

    def _before(self, path: str, row: FileRow, found: Difference) -> State:
        """A Python file as it was."""
        packed = self._store.read(tables.TEXTS, row.digest)
        if packed is None:  # it was dropped to make room
            found.facts.add(EVERYTHING)
            return State.none()
        old = rows.unsqueeze(packed)
        if digest(old) != row.digest:
            raise MalformedError
        return state_of(Path(path), old)

    def _take_in(self, path: str, old: State, new: State, found: Difference) -> None:
        """Take in how a Python file has changed."""
        found.newer.add(path)
        found.facts.update(changed(Path(path), old, new))
        was, now = Content(old.data), Content(new.data)
        found.facts.update(changed_searches(Path(path), was, now, self._sought, self._searches))
        for kind in {*old.terms, *new.terms}:
            before, after = old.terms.get(kind, frozenset()), new.terms.get(kind, frozenset())
            found.terms += [(f"{kind}:{name}", path, name in after) for name in before ^ after]

    def _compare_walks(self, found: Difference) -> None:
        known = {"files": PYTHON_SUFFIXES, "presets": PRESET_SUFFIXES}
        wanted = {name: suffixes for name, suffixes in known.items() if getattr(self.seen, name) is not None}
        if not wanted:
            return
        walked, self.now.left_out = self._walked(wanted)
        if self.seen.left_out is not None and self.seen.left_out != self.now.left_out:
            found.facts.add(("left out",))
        for name in wanted:
            now, before = walked[name], getattr(self.seen, name)
            setattr(self.now, name, now)
            if now != before:
                found.facts.add((name,))
                if name == "files":
                    self._compare_lists(before, now, found)

    def _walked(self, wanted: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
        """What each walk finds now, by its name, and what was left out."""
        excluded = self._settings.excludes if self._settings.exclude else discovery.nothing
        if self._extent.is_bounded:  # each walk has a bound of its own
            walks = {name: discovery.walk(self._extent, excluded, suffixes) for name, suffixes in wanted.items()}
            left_out = walks["files"].left_out if "files" in walks else ()
            return {name: one.texts for name, one in walks.items()}, left_out
        every = tuple(suffix for suffixes in wanted.values() for suffix in suffixes)
        walk = discovery.walk(self._extent, excluded, every)
        parts = {name: tuple(one for one in walk.texts if one.endswith(wanted[name])) for name in wanted}
        return parts, walk.left_out

    def _compare_lists(self, before: Sequence[str], now: Sequence[str], found: Difference) -> None:
        """Take in the Python files that have come or gone."""
        gone, come = set(before) - set(now), set(now) - set(before)
        for path in sorted(come):
            data = content_of(path)
            found.digests[path] = digest(data)
            self._take_in(path, State.none(), state_of(Path(path), data), found)
        for path in sorted(gone):
            row = self.known.get(path)
            old = self._before(path, row, found) if row is not None else State.none()
            self._take_in(path, old, State.none(), found)

    def _entries(self) -> Iterator[Fact]:
        """Give the facts about names in folders that are others now."""
        for folder, before in self.seen.folders.items():
            now = listing(folder)
            self.now.folders[folder] = now
            for name in set(before) ^ set(now):
                yield "entry", folder, name

    def _paths(self) -> Iterator[Fact]:
        for question, before in self.seen.paths.items():
            kind, _, path = question.partition(":")
            if kind not in ASKED:
                raise MalformedError
            now = self.now.paths[question] = ASKED[kind](path)
            if now != before:
                yield kind, path


def listing(folder: str) -> tuple[str, ...]:
    """The names in a folder that can be modules or packages, sorted; none if it cannot be read."""
    try:
        return importable(os.listdir(folder))
    except OSError:
        return ()


def size(path: str) -> int:
    """How many bytes a file has; -1 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def _is_file(path: str) -> int:
    return int(os.path.isfile(path))


def _is_folder(path: str) -> int:
    return int(os.path.isdir(path))


ASKED = {"file": _is_file, "folder": _is_folder, "size": size, "beside": beside}
"""What is asked of single paths."""


def read_seen(store: Readable) -> Seen:
    """What a store says that was asked of the disk; raises MalformedError."""
    seen = Seen()
    for name in WALKED:
        row = store.read(tables.SEEN, name)
        setattr(seen, name, tuple(rows.texts(row)) if row is not None else None)
    folders, paths = store.read(tables.SEEN, "folders"), store.read(tables.SEEN, "paths")
    if folders is not None:
        seen.folders = {folder: tuple(names) for folder, names in _mapping(folders, list).items()}
    if paths is not None:
        seen.paths = _mapping(paths, int)
    sought, patterns = store.read(tables.SEEN, "sought"), store.read(tables.SEEN, "patterns")
    if sought is not None:
        seen.sought = set(rows.texts(sought))
    if patterns is not None:
        seen.patterns = {text: tuple(words) for text, words in _mapping(patterns, list).items()}
    return seen


def seen_rows(seen: Seen) -> dict[str, bytes]:
    """The rows of what was asked of the disk."""
    found = {name: rows.pack(getattr(seen, name)) for name in ("folders", "paths", "patterns")}
    found["sought"] = rows.pack(sorted(seen.sought))
    for name in WALKED:
        walked: Iterable[str] | None = getattr(seen, name)
        if walked is not None:
            found[name] = rows.pack(walked)
    return found


def _mapping(data: bytes, kind: type) -> dict[str, Any]:
    found = rows.unpack(data)
    if not isinstance(found, dict) or any(value.__class__ is not kind for value in found.values()):
        raise MalformedError
    for value in found.values() if kind is list else ():
        if any(one.__class__ is not str for one in value):
            raise MalformedError
    return found
