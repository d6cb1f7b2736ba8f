"""Whether what a stored report rests on has changed; ``project.rests`` says how that is written."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection

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

    def __init__(self, changed: Collection[int], group: Callable[[int], bytes | None]) -> None:
        """``changed``: numbers of facts; ``group`` gives the row of a group, None if it is gone."""
        self._changed = frozenset(changed)
        self._group = group
        self._known: dict[int, frozenset[int]] = {}

    def by(self, data: bytes) -> frozenset[int]:
        """Those of the changed facts that a row rests on; raises MalformedError if a group is gone."""
        facts, groups = split(data)
        for group in groups:
            self._look_at(group)
        return self._changed.intersection(facts).union(*(self._known[group] for group in groups))

    def _look_at(self, group: int) -> None:
        waiting = [group]
        rows: dict[int, tuple[array[int], array[int]]] = {}
        while waiting:
            one = waiting[-1]
            if one in self._known:
                waiting.pop()
                continue
            if one not in rows:
                data = self._group(one)
                if data is None:
                    raise MalformedError
                rows[one] = split(data)
            facts, groups = rows[one]
            below = [other for other in groups if other not in self._known]
            if any(other in rows for other in below):
                raise MalformedError  # a group that is below itself is none of ours
            if below:
                waiting.extend(below)
                continue
            waiting.pop()
            self._known[one] = self._changed.intersection(facts).union(*(self._known[other] for other in groups))
