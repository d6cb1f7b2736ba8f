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

Place = tuple[Path, Path | None]
FEWEST = 24
"""Files of a project, of which so many are to be linted, for which it pays."""
MOST = 4
"""It pays if at least one in so many is to be linted."""
MOST_IN_SHARE = 500
"""Files whose summaries one process sends to another at a time."""
TOGETHER = 20_000
"""So many files are summarised beforehand, of whatever projects; of more, those of each project when its turn comes."""
LARGE = 5_000
"""A project of so many files is summarised beforehand in any case, by all processes together."""


Term = tuple[str, str]
"""A kind and a name."""


class Gathered(NamedTuple):
    """What some files say: each word is held once, however many of them have it."""

    files: int
    """How many they are."""
    summaries: dict[str, bytes]
    """By the digests of contents, as ``codec.encode`` writes them."""
    terms: dict[Term, array[int]]
    """The files that have each term, by their numbers among these files."""


class GatheredLibrary:
    """Summaries and terms of all files of a project, in memory; ``project.library`` describes it."""

    def __init__(self, walked: Walk, gathered: Iterable[Gathered]) -> None:
        """``gathered``: what all files say, share after share in their order; each is let go once it is taken in."""
        self.files: tuple[Path, ...] | None = walked.paths
        self.left_out = walked.left_out
        self.presets: tuple[Path, ...] | None = None
        self.newer: frozenset[Path] = frozenset()
        self.summaries: dict[str, bytes] = {}
        """By the digests of contents."""
        self.terms: dict[Term, array[int]] = {}
        """The files that have each term, by their numbers among ``files``."""
        first = 0
        for share in gathered:
            self.summaries |= share.summaries
            for term, numbers in share.terms.items():
                shifted = array("I", [first + number for number in numbers])
                known = self.terms.setdefault(term, shifted)
                if known is not shifted:
                    known.extend(shifted)
            first += share.files

    def digest(self, path: Path) -> str | None:
        """None: each file is read again."""
        return None

    def summary(self, digest: str) -> codec.StoredSummary | None:
        """The summary of a content, by its digest; None if it is not known."""
        row = self.summaries.get(digest)
        return codec.StoredSummary(row) if row is not None else None

    def where(self, kind: str, name: str) -> tuple[Path, ...] | None:
        """The files that have a term, in the order of the walk."""
        files = self.files or ()
        return tuple(files[number] for number in self.terms.get((kind, name), ()))


def gather(paths: Sequence[str]) -> Gathered:
    """Summarise files."""
    summaries: dict[str, bytes] = {}
    terms: dict[Term, array[int]] = {}
    for number, path in enumerate(paths):
        data = content_of(path)
        state = state_of(Path(path), data)
        summaries[digest(data)] = codec.encode(state.summary)
        for kind, names in state.terms.items():
            for name in names:
                known = terms.get((kind, name))
                if known is None:
                    terms[kind, name] = array("I", (number,))
                else:
                    known.append(number)
    return Gathered(len(paths), summaries, terms)


def in_shares(files: Sequence[Path], shares: int) -> list[list[str]]:
    """Files in shares of neighbours, several for each process, so that none waits long for another."""
    size = max(1, min(MOST_IN_SHARE, -(-len(files) // shares)))
    return [[str(path) for path in files[start : start + size]] for start in range(0, len(files), size)]


def wanted(finder: SettingsFinder, files: Iterable[Path], stored: Mapping[Place, Library]) -> dict[Place, Walk]:
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
    fewest = FEWEST if counts.total() <= TOGETHER else LARGE
    for place, count in counts.items():
        known = stored.get(place)
        if count < fewest or (known is not None and known.where("", "") is not None):
            continue
        extent, settings = found_of[place]
        own = discovery.walk(extent, settings.excludes)
        if count * MOST >= len(own.paths):
            found[place] = own
    return found
