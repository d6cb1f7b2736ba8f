"""When garbage is looked for: trees know each other in circles, so that nothing else frees them.

To look through all that is known of a large project takes a second. So what has lasted is set aside, and after each
file only what is new is looked through, which takes milliseconds; everything is when the user is away.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

TOO_LONG = 0.03
"""Seconds of processor time for looking through what is new, from which on it is set aside, too."""
FEW = 2_000
"""So many blocks of memory more or fewer than after the last look: a file was asked for again that has not changed."""
MOST_SET_ASIDE = 40
"""So often things are set aside, until everything is looked through though the user is typing."""
MANY_SET_ASIDE = 5
"""So often, until everything is looked through as soon as the user pauses."""
MOST_NEW = 200_000
"""So many blocks of memory more than after everything was looked through, until that is done though the user is typing:
15 MB."""
MANY_NEW = 60_000
"""So many, until it is done as soon as the user pauses. Memory that was in use once mostly stays with the process: it
goes back to the system in pieces of a megabyte, and only those that hold nothing at all."""


class Collector:
    """Takes the place of Python's own times for looking for garbage."""

    def __init__(self) -> None:
        gc.disable()
        self.give_back = _trimming()
        """Gives memory back that is free: that of native code, of which Python's blocks tell nothing, among it."""
        self._set_aside = 0
        self._is_due = False
        self._blocks = sys.getallocatedblocks()
        """Blocks of memory in use after everything was looked through, ..."""
        self._last = 0
        """... and after what was new was."""

    @property
    def is_cluttered(self) -> bool:
        """Whether it is time to look through everything."""
        return self._set_aside > MANY_SET_ASIDE or self._new > MANY_NEW

    @property
    def _new(self) -> int:
        """How many blocks of memory came into use since everything was looked through."""
        return sys.getallocatedblocks() - self._blocks

    def sweep(self) -> None:
        """Free what is out of use among what is new."""
        if abs(sys.getallocatedblocks() - self._last) < FEW:
            return
        begin = time.thread_time()  # whatever else the machine does
        gc.collect()
        self.give_back()
        self._is_due = True
        if time.thread_time() - begin > TOO_LONG:
            gc.freeze()
            self._set_aside += 1
        self._last = sys.getallocatedblocks()
        self._blocks = min(self._blocks, self._last)
        if self._set_aside > MOST_SET_ASIDE or self._new > MOST_NEW:
            self.sweep_all()

    def sweep_all(self) -> None:
        """Free all that is out of use."""
        if self._is_due:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self.give_back()
            self._is_due, self._set_aside = False, 0
            self._blocks = self._last = sys.getallocatedblocks()


def _trimming() -> Callable[[], Any]:
    """What gives freed memory back to the system, in a millisecond or two.

    LibCST's parser is native, and glibc keeps the heap of the thread that it frees its trees in.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # not glibc
        return int
    return lambda: trim(0)
