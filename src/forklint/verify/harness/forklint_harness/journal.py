"""What a process of a trial writes down: one JSON line after another, in a file of its own.

A line is one write to a descriptor opened for appending: it is with the kernel when ``record`` returns, so neither
SIGKILL nor ``os._exit`` can lose it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Dict, Optional, Tuple

MAIN = "FORKLINT_TRIAL_MAIN"
"""Variable that holds the process id of the trial's first Python process, for its descendants."""
OUT_OF_THE_WAY = 512
"""Descriptors from here on are the harness's: a program that closes and opens files gets the lowest that are free."""
Kept = Tuple[int, Tuple[int, int]]
"""A descriptor, with device and inode of the file that it was opened for."""
_open: Dict[int, Kept] = {}
_folder: Optional[str] = None


def begin(folder: str) -> None:
    """Take the folder; the first process to come here is the main one."""
    global _folder  # noqa: PLW0603 - one journal a process
    _folder = folder
    os.environ.setdefault(MAIN, str(os.getpid()))


def is_main() -> bool:
    """Whether this is the process that runs the program itself."""
    return os.environ.get(MAIN) == str(os.getpid())


def role() -> str:
    """``main``, ``worker`` (of a DataLoader) or ``other``."""
    if is_main():
        return "main"
    worker = sys.modules.get("torch.utils.data._utils.worker")
    return "worker" if worker is not None and getattr(worker, "_worker_info", None) is not None else "other"


def folder() -> str:
    """Where the journal is."""
    return _folder or "."


def path_of(pid: int, kind: str) -> str:
    """The file of a process, ``jsonl`` or ``stack``."""
    return os.path.join(folder(), "{}.{}".format(pid, kind))


def record(kind: str, **facts: Any) -> None:
    """Write one record down; what JSON does not know is written as its repr.

    What goes wrong with that is never the program's business: the record is lost then.
    """
    if _folder is None:
        return
    pid = os.getpid()
    line = dict(facts, kind=kind, pid=pid, role=role(), time=time.time())
    data = json.dumps(line, default=repr).encode("utf-8", "backslashreplace") + b"\n"
    try:
        kept = _open.get(pid)
        if kept is None or not is_ours(kept):
            kept = open_out_of_the_way(path_of(pid, "jsonl"))
            _open.clear()  # a forked child has its parent's descriptor, but must have its own file
            _open[pid] = kept
        os.write(kept[0], data)  # by its own name: another thread may be here at the same time
    except OSError:
        return


def open_out_of_the_way(path: str) -> Kept:
    """Open a file for appending, under a number that the program does not come by."""
    low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    number = low
    try:
        import fcntl

        number = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
        os.close(low)
    except (ImportError, OSError):  # Windows; fewer descriptors than that are allowed
        pass
    return number, _identity(number)


def is_ours(kept: Kept) -> bool:
    """Whether a descriptor still is what it was: a program may close those of others, and be given their numbers."""
    try:
        return _identity(kept[0]) == kept[1]
    except OSError:
        return False


def _identity(number: int) -> Tuple[int, int]:
    found = os.fstat(number)
    return found.st_dev, found.st_ino
