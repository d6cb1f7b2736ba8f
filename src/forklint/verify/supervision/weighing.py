"""How much memory and disk the processes of a trial hold, at a bounded cost."""

from __future__ import annotations

import time
from collections.abc import Mapping

from . import files, tree
from .order import Order
from .tree import Process

PAUSE = 0.5
"""Seconds between two weighings when nothing seems to grow."""
SHARE = 20
"""And at least so many times what a weighing costs: the map of a process that has loaded torch takes milliseconds."""
MOST_POINTS = 240
"""Weighings that are reported: when there are more, every other one is dropped and as many are taken from then on."""


class Scales:
    """Weighs a trial against its order.

    Memory is the sum of the proportional set sizes, which is costly to read; between two weighings it cannot have
    grown by more than the resident sizes have, which are known anyway: where that may be too much, it is weighed.
    """

    def __init__(self, order: Order) -> None:
        self.peak = 0
        self.weighings: list[tuple[float, int]] = []
        """When (seconds since the epoch) the trial held how many bytes, at growing distances in a long trial."""
        self._apart = 0.0
        self._order = order
        self._total = 0
        self._resident: dict[int, int] = {}
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is time for a weighing."""
        return time.monotonic() >= self._next

    def excess(self, alive: Mapping[int, Process]) -> str:
        """What they hold too much of: ``memory``, ``scratch``, or nothing."""
        grown = sum(max(0, process.resident - self._resident.get(pid, 0)) for pid, process in alive.items())
        is_due = self.is_due
        if not is_due and self._total + grown <= self._order.memory:
            return ""
        began = time.thread_time()
        self._total = sum(tree.proportional_bytes(process) for process in alive.values())
        self._resident = {pid: process.resident for pid, process in alive.items()}
        self.peak = max(self.peak, self._total)
        self._note(time.time())
        if self._total > self._order.memory:
            return "memory"
        if not is_due:
            return ""
        held = files.size(self._order.folder) + files.deleted_size(alive, self._order.folder)
        self._next = time.monotonic() + max(PAUSE, SHARE * (time.thread_time() - began))
        return "scratch" if held > self._order.scratch else ""

    def _note(self, now: float) -> None:
        """Keep the last weighing for the report, which stays small however long the trial takes."""
        if not self._total:
            return  # nobody is there any more
        if self.weighings and now - self.weighings[-1][0] < self._apart:
            return
        self.weighings.append((now, self._total))
        if len(self.weighings) > MOST_POINTS:
            del self.weighings[1::2]
            self._apart = 2 * max(self._apart, PAUSE)
