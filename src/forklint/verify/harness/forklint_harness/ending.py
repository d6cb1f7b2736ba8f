"""Ends a trial as soon as it has shown what it was run for, from whichever of its processes saw it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from forklint_harness import journal

MARK = "end"
"""A file of this name in the journal's folder asks the main process to end, and says that the harness ended it."""
MOMENT = 0.05
PATIENCE = 10.0
"""Seconds that a process waits to be ended, once it has asked for that."""


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
    time.sleep(PATIENCE)  # the program's work is not to begin meanwhile


def end_unwatched() -> None:
    """End the trial from another process than the main one, where that does not ``watch``."""
    _mark(journal.folder())
    os.kill(int(os.environ[journal.MAIN]), getattr(signal, "SIGKILL", signal.SIGTERM))
    os._exit(0)


def leave(code: int) -> None:
    """End the process with all that torch and multiprocessing began, but with nothing that the program registered.

    Processes that the program would have ended later are ended here: multiprocessing would wait for them for ever.
    """
    from multiprocessing import active_children, util

    tidy: Any = getattr(util, "_exit_function")  # noqa: B009 - what multiprocessing itself has at exit
    try:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the program may have closed it, or put something of its own there
                stream.flush()
        for child in active_children():
            if not child.daemon:
                child.kill()
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
