"""For ``forklint doctor``: who is a worker, who died of what, and the stacks of each process that crashes.

Nothing of the program is changed: only what happens to its processes is written down.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any, Dict, Set, Tuple

from forklint_harness import journal, stacks
from forklint_harness.imports import after_import

_told: Set[Tuple[int, int]] = set()


def install(_order: Dict[str, Any]) -> None:
    """Set the hooks in this process; forked ones inherit them."""
    stacks.catch_crashes()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=stacks.catch_crashes)
    after_import("torch.utils.data._utils.signal_handling", _note_workers)
    after_import("multiprocessing.popen_fork", _note_deaths)


def _note_workers(module: ModuleType) -> None:
    """A worker says its number; torch's handlers of signals, set at that moment, do not hide its stacks."""
    name = "_set_worker_signal_handlers"
    set_handlers: Any = getattr(module, name, None)
    if set_handlers is None:
        return

    def set_and_note(*arguments: Any) -> Any:
        given = set_handlers(*arguments)
        stacks.catch_crashes()
        journal.record("worker", number=sys._getframe(1).f_locals.get("worker_id"))
        return given

    setattr(module, name, set_and_note)


def _note_deaths(module: ModuleType) -> None:
    """A parent says of which signal a child died, as soon as it hears of it."""
    popen: Any = module.Popen
    poll = popen.poll

    def poll_and_note(self: Any, *arguments: Any, **keywords: Any) -> Any:
        code = poll(self, *arguments, **keywords)
        if code is not None and code < 0 and (os.getpid(), self.pid) not in _told:
            _told.add((os.getpid(), self.pid))
            journal.record("child-died", child=self.pid, signal=-code)
        return code

    popen.poll = poll_and_note
