"""What must stand in a file for a rule to find something in it: plain words, looked for before anything is parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from forklint.records import dataclass

Words = tuple[bytes, ...]
Row = tuple[str, str, str, bool, tuple[tuple[Words, ...], Words, Words]]
"""A card, and in it the needs, as ``table.py`` holds it."""


@dataclass(frozen=True)
class Needs:
    """Words without which a rule finds nothing, whatever the project holds. No words of a kind: nothing is said."""

    here: tuple[Words, ...] = ()
    """Groups of words: of each group, one stands somewhere in the file."""
    reached: Words = ()
    """One of these stands somewhere in the file, or in a file of the project that it reaches by imports; or else"""
    named: Words = ()
    """one of these does, as a whole name."""

    @property
    def words(self) -> Iterator[bytes]:
        """All words that are looked for."""
        yield from chain(*self.here, self.reached, self.named)

    def may_be_met(self, data: bytes) -> bool:
        """Whether a file holds what must stand in the file itself."""
        for group in self.here:
            for word in group:  # a generator would cost as much as the search
                if word in data:
                    break
            else:
                return False
        return True


def last_names(qualified: Iterable[str]) -> Words:
    """The last parts of dotted names, each once."""
    return tuple(sorted({name.rpartition(".")[2].encode() for name in qualified}))


NEVER = Needs(here=((),))
"""Those of a rule that finds nothing by itself: the engine does."""


@dataclass(frozen=True)
class Card:
    """What is known of a rule without its module."""

    code: str
    name: str
    module: str
    """In this package."""
    preview: bool
    needs: Needs
