"""What conclusions rest on, as numbers: facts, and groups of facts that many of them rest on together.

Thousands of reports may rest on the same thousands of facts, such as what is imported below a package. An answer with
many facts below it becomes a group, which is written down once, and a group may rest on other groups. A group is
named by a digest of what is in it, so that it is the same group in every process and every run.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection

from forklint.project.answers import Answer, Fact, Rests
from forklint.summaries.parts import NUMBERS

MOST = 48
"""Facts below an answer from which on it is a group."""
Flat = tuple[frozenset[int], frozenset[int]]
"""The numbers of some facts, and of groups."""


def mark(fact: Fact) -> int:
    """A number that stands for a fact: 64 bits of a digest."""
    return _digest("\0".join(fact).encode(errors="surrogatepass"))


def _digest(data: bytes) -> int:
    from hashlib import blake2b  # noqa: PLC0415 - only where something is stored

    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


class Encoder:
    """Writes what the reports of one project rest on."""

    def __init__(self) -> None:
        self.groups: dict[int, bytes] = {}
        """The groups so far, by their numbers."""
        self._marks: dict[Fact, int] = {}
        self._flat: dict[Answer, Flat] = {}

    def encode(self, rests: Rests) -> bytes:
        """What a report rests on, as a row."""
        for one in rests:
            if isinstance(one, Answer):
                self._flatten(one)
        return _row(*self._together(rests))

    def _flatten(self, answer: Answer) -> None:
        """Find the facts and groups below an answer, those below others first."""
        waiting = [answer]
        while waiting:
            one = waiting[-1]
            if one in self._flat:
                waiting.pop()
                continue
            below = [other for other in one.rests if isinstance(other, Answer) and other not in self._flat]
            if below:
                waiting.extend(below)
                continue
            waiting.pop()
            facts, groups = self._together(one.rests)
            if len(facts) + len(groups) > MOST:
                row = _row(facts, groups)
                number = _digest(row)
                self.groups[number] = row
                facts, groups = frozenset(), frozenset({number})
            self._flat[one] = facts, groups

    def _together(self, rests: Rests) -> Flat:
        facts: set[int] = set()
        groups: set[int] = set()
        for one in rests:
            if isinstance(one, Answer):
                below = self._flat[one]
                facts |= below[0]
                groups |= below[1]
            elif one[0] != NUMBERS:  # no number outlives the process
                facts.add(self._mark(one))
        return frozenset(facts), frozenset(groups)

    def _mark(self, fact: Fact) -> int:
        known = self._marks.get(fact)
        if known is None:
            known = self._marks[fact] = mark(fact)
        return known


def _row(facts: Collection[int], groups: Collection[int]) -> bytes:
    return array("Q", [len(facts), *sorted(facts), *sorted(groups)]).tobytes()
