"""Whether what was seen in an earlier run would be seen again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from forklint.cache.book import Book
from forklint.cache.stamps import digest_of, is_same, stamp
from forklint.config import Settings
from forklint.project.evidence import OTHERS, PRESETS, PYTHON, Evidence, names_digest, paths_digest, size
from forklint.project.resolver import Resolver
from forklint.source import discovery
from forklint.source.kinds import PRESET_SUFFIXES, PYTHON_SUFFIXES
from forklint.source.roots import Extent

ANSWERS: dict[str, Callable[[str], int]] = {"file": os.path.isfile, "folder": os.path.isdir, "size": size}


class Standing:
    """The evidence of a book, compared with the disk as it is now."""

    def __init__(self, book: Book, extent: Extent, settings: Settings, now: int) -> None:
        """``now``: nanoseconds; what was changed later may not be trusted to stay."""
        self._book = book
        self._extent = extent
        self._settings = settings
        self._now = now
        self.refreshed = 0
        """How many files had to be read to be known again; their stamps in the book are new."""

    def holds(self) -> bool:
        """Whether all is as it was: then so are the reports."""
        evidence = self._book.evidence
        try:
            return (
                evidence.is_consistent
                and self._same_answers(evidence)
                and self._same_contents(evidence)
                and all(_listing(folder) == known for folder, known in evidence.listings.items())
                and self._same_walks(evidence)
            )
        except (ValueError, TypeError):  # a path, or a question, that none of ours can be
            return False

    def _same_answers(self, evidence: Evidence) -> bool:
        for question, known in evidence.answers.items():
            what, _, path = question.partition(":")
            if what not in ANSWERS or ANSWERS[what](path) != known:
                return False
        return True

    def _same_contents(self, evidence: Evidence) -> bool:
        stamps = self._book.stamps
        for path, known in evidence.contents.items():
            if is_same(path, stamps[path]):
                continue
            fresh = stamp(path, self._now)
            if digest_of(path) != known:
                return False
            stamps[path] = fresh
            self.refreshed += 1
        return True

    def _same_walks(self, evidence: Evidence) -> bool:
        walks, suffixes = dict(evidence.walks), {PYTHON: PYTHON_SUFFIXES, PRESETS: PRESET_SUFFIXES}
        others = walks.pop(OTHERS, None)
        if not walks.keys() <= suffixes.keys() or (others is not None and PYTHON not in walks):
            return False
        found = self._walked({name: suffixes[name] for name in walks})
        return all(paths_digest(found[name]) == known for name, known in walks.items()) and (
            others is None or str(Resolver(self._extent).has_others(found[PYTHON])) == others
        )

    def _walked(self, suffixes: Mapping[str, tuple[str, ...]]) -> dict[str, Sequence[Path]]:
        """What each walk finds now, by its name."""
        excluded = self._settings.excludes if self._settings.exclude else discovery.nothing
        if self._extent.is_bounded:  # each has its own bound
            return {name: discovery.walk(self._extent, excluded, wanted).paths for name, wanted in suffixes.items()}
        together = tuple(suffix for wanted in suffixes.values() for suffix in wanted)
        paths = discovery.walk(self._extent, excluded, together).paths if together else ()
        return {name: [path for path in paths if path.name.endswith(wanted)] for name, wanted in suffixes.items()}


def _listing(folder: str) -> str:
    try:
        return names_digest(os.listdir(folder))
    except OSError:
        return names_digest(())
