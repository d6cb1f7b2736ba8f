"""What a store knows of a project's files, for linting some of them again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forklint.incremental import rows, tables
from forklint.incremental.disk import Readable
from forklint.incremental.rows import MalformedError
from forklint.project.seen import Seen
from forklint.summaries import codec

WHOLE = "whole"
"""The key in the table of terms that says that it is complete."""


class StoredLibrary:
    """Summaries and terms from a store, as ``project.library`` describes them."""

    def __init__(self, store: Readable, digests: Mapping[str, str], newer: frozenset[Path], now: Seen) -> None:
        """``digests``: of the files whose stamps say that they are as they were; ``now``: what a walk found."""
        self._store = store
        self._digests = digests
        self.newer = newer
        self.files = tuple(map(Path, now.files)) if now.files is not None else None
        self.presets = tuple(map(Path, now.presets)) if now.presets is not None else None
        self.left_out = tuple(now.left_out or ())
        self._ids: list[Path] | None = None
        self._is_whole: bool | None = None

    def digest(self, path: Path) -> str | None:
        """What stands for the content of a file that is as the store knows it; None for others."""
        return self._digests.get(str(path))

    def summary(self, digest: str) -> codec.StoredSummary | None:
        """The summary of a content, by its digest; None if it is not known."""
        row = self._store.read(tables.SUMMARIES, digest)
        try:
            return codec.StoredSummary(row) if row is not None else None
        except codec.MalformedError:
            return None

    def where(self, kind: str, name: str) -> tuple[Path, ...] | None:
        """The files that had a term, in the order of the walk; None if terms were not written down."""
        if self._is_whole is None:
            self._is_whole = self._store.read(tables.TERMS, WHOLE) is not None
        if not self._is_whole:
            return None
        row = self._store.read(tables.TERMS, f"{kind}:{name}")
        if row is None:
            return ()
        try:
            if self._ids is None:
                known = self._store.read(tables.META, "ids")
                self._ids = [Path(path) for path in rows.texts(known)] if known is not None else []
            return tuple(self._ids[number] for number in rows.numbers(row))
        except (MalformedError, IndexError):
            return None
