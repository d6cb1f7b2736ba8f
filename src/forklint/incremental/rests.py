"""Whether what a stored report rests on has changed; ``project.rests`` says how that is written."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from forklint.incremental.rows import MalformedError


def split(data: bytes) -> tuple[array[int], array[int]]:
    """The numbers of facts and of groups in a row; raises MalformedError."""
    found = array("Q")
    try:
        found.frombytes(data)
    except ValueError:
        raise MalformedError from None
    if not found or found[0] > len(found) - 1:
        raise MalformedError
    return found[1 : found[0] + 1], found[found[0] + 1 :]


class Touched:
    """Tells what rests on facts that have changed; of one set of changes."""

    def __init__(self, changed: Collection[int], groups: Callable[[Iterable[int]], Mapping[int, bytes]]) -> None:
        """``changed``: numbers of facts; ``groups`` gives the rows of groups, of those that there are."""
        self._changed = frozenset(changed)
        self._groups = groups
        self._rows: dict[int, tuple[frozenset[int], array[int]] | None] = {}
        """The changed facts in each group that was read, and the groups below it; None if it is gone or malformed."""
        self._known: dict[int, frozenset[int]] = {}

    def read(self, rests: Iterable[bytes]) -> None:
        """Read the groups that rows rest on: those of one level at once, as there may be thousands."""
        wanted = self._unread(group for _, groups in self._understood(rests) for group in groups)
        while wanted:
            below: list[int] = []
            found = self._groups(wanted)
            self._rows |= dict.fromkeys(wanted)
            for number, data in found.items():
                for facts, groups in self._understood((data,)):
                    self._rows[number] = self._changed.intersection(facts), groups
                    below += groups
            wanted = self._unread(below)

    def _unread(self, groups: Iterable[int]) -> set[int]:
        return {one for one in groups if one not in self._rows}

    def by(self, data: bytes) -> frozenset[int]:
        """Those of the changed facts that a row rests on; raises MalformedError if a group is gone."""
        facts, groups = split(data)
        self.read((data,))
        for group in groups:
            self._look_at(group)
        return self._changed.intersection(facts).union(*(self._known[group] for group in groups))

    @staticmethod
    def _understood(rows: Iterable[bytes]) -> Iterator[tuple[array[int], array[int]]]:
        """What is in rows; one that is malformed is left to whoever needs it."""
        for row in rows:
            with contextlib.suppress(MalformedError):
                yield split(row)

    def _look_at(self, group: int) -> None:
        waiting = [group]
        begun = set[int]()
        while waiting:
            one = waiting[-1]
            if one in self._known:
                waiting.pop()
                continue
            begun.add(one)
            row = self._rows[one]
            if row is None:
                raise MalformedError
            facts, groups = row
            below = [other for other in groups if other not in self._known]
            if not begun.isdisjoint(below):
                raise MalformedError  # a group that is below itself is none of ours
            if below:
                waiting.extend(below)
                continue
            waiting.pop()
            self._known[one] = facts.union(*(self._known[other] for other in groups))
