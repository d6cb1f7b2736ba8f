"""When garbage is looked for: trees know each other in circles, so that nothing else frees them.

To look through all that is known of a large project takes a second. So what has lasted is set aside, and after each
file only what is new is looked through, which takes milliseconds; everything is when the user is away.
"""

from __future__ import annotations

import gc
import time

TOO_LONG = 0.03
"""Seconds for looking through what is new, from which on it is set aside, too."""
MOST_SET_ASIDE = 40
"""So often things are set aside, until everything is looked through though the user is not away."""


class Collector:
    """Takes the place of Python's own times for looking for garbage."""

    def __init__(self) -> None:
        gc.disable()
        self._set_aside = 0
        self._is_due = False

    def sweep(self) -> None:
        """Free what is out of use among what is new."""
        begin = time.perf_counter()
        gc.collect()
        self._is_due = True
        if time.perf_counter() - begin > TOO_LONG:
            gc.freeze()
            self._set_aside += 1
        if self._set_aside > MOST_SET_ASIDE:
            self.sweep_all()

    def sweep_all(self) -> None:
        """Free all that is out of use."""
        if self._is_due:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._is_due, self._set_aside = False, 0
