"""Stacks of a process, on request and when it dies, in a file of its own beside the journal."""

from __future__ import annotations

import faulthandler
import os
import signal
from typing import Dict

from forklint_harness import journal

_files: Dict[int, journal.Kept] = {}


def arm() -> None:
    """Write the stacks of all threads when a real-time signal asks for them, in this process and in forked ones."""
    _arm_this()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_arm_this)


def _arm_this() -> None:
    if not hasattr(faulthandler, "register"):
        return
    try:
        file = journal.open_out_of_the_way(journal.path_of(os.getpid(), "stack"))
        number = getattr(signal, "SIGRTMIN", signal.SIGUSR1 - 5) + 5
        faulthandler.register(number, file=file[0], all_threads=True, chain=False)
    except (OSError, ValueError, RuntimeError):
        return
    for inherited in filter(journal.is_ours, _files.values()):
        os.close(inherited[0])
    _files.clear()
    _files[os.getpid()] = file


def catch_crashes() -> None:
    """Write the stacks when this process dies by a fault.

    A DataLoader's worker sets handlers of its own for SIGSEGV and SIGBUS, over those of PYTHONFAULTHANDLER: so
    this must be called once more in each worker.
    """
    file = _files.get(os.getpid())
    if file is not None and journal.is_ours(file):
        faulthandler.disable()
        faulthandler.enable(file=file[0], all_threads=True)


def written(pid: int) -> str:
    """What a process wrote there before it died."""
    try:
        with open(journal.path_of(pid, "stack"), encoding="utf-8", errors="replace") as file:
            return file.read(20000)
    except OSError:
        return ""
