"""Distributes files to processes by directory, so that shared imports are analyzed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

RUNS = 8
"""Into so many runs the share of a process is cut; with fewer one waits longer for another at the end."""


class Deck:
    """Files in equal shares, one a process; whoever is done with its own helps the others from their back.

    It is made in one process and handed to others as these begin.
    """

    def __init__(self, files: Sequence[Path], processes: int, context: BaseContext) -> None:
        self._files = files
        sizes = [_size(path) for path in files]
        shares = _cut(range(len(files)), sizes, processes)
        self._shares = [_cut(share, sizes, RUNS) for share in shares]
        self._begun = context.Value("i", 0)
        self._left = context.Array("i", [end for share in self._shares for end in (0, len(share))])
        """Of each share the first run that nobody took, and the one behind the last."""

    def __len__(self) -> int:
        """How many runs there are."""
        return sum(map(len, self._shares))

    def seat(self) -> int:
        """The number of the share that a process is to begin with; to be asked for once by each."""
        with self._begun.get_lock():
            self._begun.value += 1
            return int((self._begun.value - 1) % len(self._shares))

    def take(self, seat: int) -> tuple[tuple[int, int], Sequence[Path]]:
        """The next run for a process, and its place among all; there is one for each of ``len`` calls."""
        with self._left.get_lock():
            left = {n: (self._left[2 * n], self._left[2 * n + 1]) for n in range(len(self._shares))}
            first, stop = left[seat]
            share, run = seat, first
            if first < stop:
                self._left[2 * seat] += 1
            else:
                share = max(left, key=lambda n: left[n][1] - left[n][0])
                run = left[share][1] - 1
                self._left[2 * share + 1] -= 1
        numbers = self._shares[share][run]
        return (share, run), self._files[numbers.start : numbers.stop]


def _cut(numbers: range, sizes: Sequence[int], parts: int) -> list[range]:
    """Cut the numbers of files into at most so many runs of about equal size."""
    share = sum(sizes[number] for number in numbers) / parts
    starts: list[int] = []
    taken = 0
    for number in numbers:
        if taken >= share * len(starts) or not starts:
            starts.append(number)
        taken += sizes[number]
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], numbers.stop], strict=True)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size + 1
    except OSError:
        return 1
