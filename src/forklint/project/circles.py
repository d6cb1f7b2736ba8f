"""Files that import each other in circles, found in one walk: each circle after all that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from forklint.records import dataclass


@dataclass(frozen=True)
class Circle:
    """Files of which each reaches every other: a strongly connected component, most often of one file."""

    head: Path
    """The least of its files, by which it is called."""
    members: tuple[Path, ...]
    number: int
    """It is greater than those of all circles that this one leads to."""
    below: int
    """The numbers of all circles that it leads to, and its own, as the bits of an integer."""


class Circles:
    """The circles of a graph, as far as they were asked for."""

    def __init__(self, step: Callable[[Path], tuple[Path, ...]]) -> None:
        self._step = step
        self._known: dict[Path, Circle] = {}
        self._count = 0

    def of(self, path: Path) -> Circle:
        """The circle that a file is in."""
        if path not in self._known:
            self._walk(path)
        return self._known[path]

    def leads(self, first: Path, second: Path) -> bool:
        """Whether one file is reached from another, or is the same."""
        below, target = self.of(first).below, self._known.get(second)
        return target is not None and bool(below >> target.number & 1)

    def ordered(self, paths: Iterable[Path]) -> list[Circle]:
        """The circles of some files, each after those of them that it leads to."""
        circles = {one.number: one for one in map(self.of, paths)}
        return [circles[number] for number in sorted(circles)]

    def forget(self) -> None:
        """Forget all, as an edge may be another."""
        self._known.clear()
        self._count = 0

    def _walk(self, start: Path) -> None:
        """Find the circles of all files that are reached from one: Tarjan's way, without recursion."""
        numbers = {start: 0}
        lowest = {start: 0}
        trail = [start]
        waiting = [(start, iter(self._step(start)))]
        while waiting:
            path, targets = waiting[-1]
            for target in targets:
                if target in self._known:
                    continue
                if target not in numbers:
                    numbers[target] = lowest[target] = len(numbers)
                    trail.append(target)
                    waiting.append((target, iter(self._step(target))))
                    break
                lowest[path] = min(lowest[path], numbers[target])  # it is still on the trail
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    lowest[above] = min(lowest[above], lowest[path])
                if lowest[path] == numbers[path]:
                    self._close(trail, path)

    def _close(self, trail: list[Path], first: Path) -> None:
        """Take a circle off the end of the trail."""
        members = [trail.pop()]
        while members[-1] != first:
            members.append(trail.pop())
        members.sort()
        number, inside = self._count, frozenset(members)
        self._count += 1
        below = 1 << number
        for member in members:
            for target in self._step(member):
                if target not in inside:
                    below |= self._known[target].below
        circle = Circle(members[0], tuple(members), number, below)
        self._known.update(dict.fromkeys(members, circle))
