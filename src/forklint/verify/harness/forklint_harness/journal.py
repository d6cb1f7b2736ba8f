"""What a process of a trial writes down: one JSON line after another, in a file of its own.

A line is one write to a descriptor opened for appending: it is with the kernel when ``record`` returns, so neither
SIGKILL nor ``os._exit`` can lose it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Dict, Optional

MAIN = "FORKLINT_TRIAL_MAIN"
"""Variable that holds the process id of the trial's first Python process, for its descendants."""
_open: Dict[int, int] = {}
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


def path_of(pid: int, kind: str) -> str:
    """The file of a process, ``jsonl`` or ``stack``."""
    return os.path.join(_folder or ".", "{}.{}".format(pid, kind))


def record(kind: str, **facts: Any) -> None:
    """Write one record down; what JSON does not know is written as its repr."""
    if _folder is None:
        return
    pid = os.getpid()
    line = dict(facts, kind=kind, pid=pid, role=role(), time=time.time())
    data = json.dumps(line, default=repr).encode("utf-8", "backslashreplace") + b"\n"
    if pid not in _open:  # a forked child has its parent's descriptor, but must have its own file
        _open.clear()
        _open[pid] = os.open(path_of(pid, "jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(_open[pid], data)
    except OSError:  # the program closed descriptors that it does not own
        _open[pid] = os.open(path_of(pid, "jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.write(_open[pid], data)
