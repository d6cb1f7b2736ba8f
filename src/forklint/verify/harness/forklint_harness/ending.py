"""Ends a trial as soon as it has shown what it was run for, from whichever of its processes saw it."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from forklint_harness import journal

MARK = "end"
"""A file of this name in the journal's folder asks the main process to end, and says that the harness ended it."""
MOMENT = 0.05


def watch(folder: str) -> None:
    """In the main process: end, without a word, once another process has asked for it."""
    path = os.path.join(folder, MARK)

    def wait() -> None:
        while not os.path.exists(path):
            time.sleep(MOMENT)
        _exit(folder)

    if journal.is_main():
        threading.Thread(target=wait, name="forklint-end", daemon=True).start()


def end(folder: str) -> None:
    """End the trial: at once in the main process, by asking it from another."""
    if journal.is_main():
        _exit(folder)
    _mark(folder)


def leave(code: int) -> None:
    """End the process with all that torch and multiprocessing began, but with nothing that the program registered."""
    from multiprocessing import util

    tidy: Any = getattr(util, "_exit_function")  # noqa: B009 - what multiprocessing itself has at exit
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        tidy()
    finally:
        os._exit(code)


def _mark(folder: str) -> None:
    with open(os.path.join(folder, MARK), "w", encoding="utf-8"):
        pass


def _exit(folder: str) -> None:
    """End this process and its workers: nothing that the program would do at its end is wanted."""
    _mark(folder)
    processes = sys.modules.get("multiprocessing.process")
    for child in processes.active_children() if processes is not None else ():
        child.kill()
    os._exit(0)
