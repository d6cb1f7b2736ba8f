"""All files of a project summarised at once, before most of them are linted, by as many processes as there are."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forklint.config import Settings, SettingsFinder
from forklint.project.changes import state_of
from forklint.project.library import Library
from forklint.source import discovery
from forklint.source.digest import digest
from forklint.source.discovery import Walk
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root
from forklint.source.roots import Extent, Roots
from forklint.store.stamps import content_of
from forklint.summaries import codec
from forklint.summaries.summary import Summary

Place = tuple[Path, Path | None]
FEWEST = 24
"""Files of a project, of which so many are to be linted, for which it pays."""
MOST = 4
"""It pays if at least one in so many is to be linted."""


class Gathered(NamedTuple):
    """What one file says."""

    path: str
    digest: str
    summary: bytes
    """As ``codec.encode`` writes it."""
    terms: dict[str, frozenset[str]]


class GatheredLibrary:
    """Summaries and terms of all files of a project, in memory; ``project.library`` describes it."""

    def __init__(self, walked: Walk, gathered: Iterable[Gathered]) -> None:
        """``gathered``: one for each of the files, in their order."""
        self.files: tuple[Path, ...] | None = walked.paths
        self.left_out = walked.left_out
        self.presets: tuple[Path, ...] | None = None
        self.newer: frozenset[Path] = frozenset()
        self.summaries: dict[str, bytes] = {}
        """By the digests of contents."""
        self.terms: dict[tuple[str, str], array[int]] = {}
        """The files that have each term, by their numbers among ``files``."""
        for number, one in enumerate(gathered):
            self.summaries[one.digest] = one.summary
            for kind, names in one.terms.items():
                for name in names:
                    self.terms.setdefault((kind, name), array("I")).append(number)

    def summary(self, digest: str) -> Summary | None:
        """The summary of a content, by its digest; raises KeyError if it is not known."""
        return codec.decode(self.summaries[digest])

    def where(self, kind: str, name: str) -> tuple[Path, ...] | None:
        """The files that have a term, in the order of the walk."""
        files = self.files or ()
        return tuple(files[number] for number in self.terms.get((kind, name), ()))


def gather(paths: Iterable[str]) -> list[Gathered]:
    """Summarise files."""
    found = []
    for path in paths:
        data = content_of(path)
        state = state_of(Path(path), data)
        found.append(Gathered(path, digest(data), codec.encode(state.summary), dict(state.terms)))
    return found


def in_shares(files: Sequence[Path], shares: int) -> list[list[str]]:
    """Files in shares of neighbours, several for each process, so that none waits long for another."""
    size = max(1, -(-len(files) // shares))
    return [[str(path) for path in files[start : start + size]] for start in range(0, len(files), size)]


def wanted(
    finder: SettingsFinder, files: Iterable[Path], stored: Mapping[Place, Library]
) -> dict[Place, Walk]:
    """The Python files of each project of which most are to be linted and whose terms are not stored."""
    counts: Counter[Place] = Counter()
    roots, places, found_of = Roots(), dict[Path, Place](), dict[Place, tuple[Extent, Settings]]()
    for path in files:
        if path.parent not in places:
            absolute = from_root(path)
            settings, extent = finder.for_file(absolute), roots.of(absolute)
            place = places[path.parent] = (extent.walked, settings.source)
            found_of[place] = extent, settings
        counts[places[path.parent]] += kind_of(path) is Kind.PYTHON
    found: dict[Place, Walk] = {}
    for place, count in counts.items():
        known = stored.get(place)
        if count < FEWEST or (known is not None and known.where("", "") is not None):
            continue
        extent, settings = found_of[place]
        own = discovery.walk(extent, settings.excludes)
        if count * MOST >= len(own.paths):
            found[place] = own
    return found
