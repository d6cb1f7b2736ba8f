"""Processes and their descent, read from ``/proc``; empty answers where there is none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

HAS_PROC = os.path.exists("/proc/self/stat")  # noqa: PTH110 - pathlib would double the start of a supervisor
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


class Process(NamedTuple):
    """One process as ``/proc/PID/stat`` shows it (proc(5))."""

    pid: int
    parent: int
    state: str
    """``R``, ``S``, ``D``, ``T`` (stopped), ``Z`` (ended and not yet waited for) and so on."""
    group: int
    started: int
    """Clock ticks since boot: with the pid, the identity of a process."""
    resident: int
    """Bytes."""

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self.state not in "ZX"


class Tree:
    """The descendants of one process.

    A process that was there before the root started anything can never become its descendant. So a quick look reads
    only what is new, and costs one listing of ``/proc`` and one file for each descendant; a thorough look reads all,
    which also finds a descendant that was given the number of a stranger who is gone.
    """

    def __init__(self, root: int) -> None:
        self.root = root
        self._strangers = set(_numbers())

    def look(self, *, thorough: bool = False) -> dict[int, Process]:
        """All descendants at this moment, zombies included, by pid."""
        numbers = set(_numbers())
        self._strangers &= numbers
        found = everyone(numbers if thorough else numbers - self._strangers)
        family = descendants(found.values(), {self.root})
        for process in sorted(found.values(), key=lambda process: process.started):
            if process.pid in family:
                self._strangers.discard(process.pid)
            elif process.parent == 0 or process.parent in self._strangers:
                self._strangers.add(process.pid)  # a parent nobody knows may be a descendant that just ended
        return family


def everyone(numbers: Iterable[int] | None = None) -> dict[int, Process]:
    """The processes of these numbers, of all there are by default, without those that are gone."""
    processes = (read(number) for number in (_numbers() if numbers is None else numbers))
    return {process.pid: process for process in processes if process is not None}


def descendants(processes: Iterable[Process], roots: set[int]) -> dict[int, Process]:
    """Those that descend from one of the roots, which are not in the answer."""
    children: dict[int, list[Process]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    family: dict[int, Process] = {}
    open_ones = list(roots)
    while open_ones:
        for child in children.get(open_ones.pop(), ()):
            if child.pid not in family and child.pid not in roots:
                family[child.pid] = child
                open_ones.append(child.pid)
    return family


def read(pid: int) -> Process | None:
    """One process; None if it is gone."""
    data = contents(f"/proc/{pid}/stat")
    if not data:
        return None
    fields = data[data.rindex(b")") + 2 :].split()  # the name before it may hold blanks and brackets
    resident = int(fields[21]) * PAGE
    return Process(pid, int(fields[1]), fields[0].decode(), int(fields[2]), int(fields[19]), resident)


def own_children() -> list[int]:
    """Children of this process, zombies included, at the cost of a file for each of its threads.

    Empty where the kernel does not list them (``CONFIG_PROC_CHILDREN``).
    """
    threads = os.listdir("/proc/self/task") if HAS_PROC else []  # noqa: PTH208
    return [int(pid) for thread in threads for pid in contents(f"/proc/self/task/{thread}/children").split()]


def has_descendants() -> bool:
    """Whether this process, a subreaper, has a descendant at all, alive or zombie.

    This is certain where a look at ``/proc`` is not, which can miss a process that ends while its child starts: who
    loses its parent becomes a child of the subreaper, so that without a child there is no descendant.
    """
    if not HAS_PROC:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def proportional_bytes(process: Process) -> int:
    """Its memory, with what it shares divided among those who share it; its resident size on kernels before 4.14."""
    match = _PSS.search(contents(f"/proc/{process.pid}/smaps_rollup"))
    return int(match[1]) * 1024 if match else process.resident


def catches(pid: int, signal: int) -> bool:
    """Whether the process has a handler of its own for this signal, so that it does not die of it."""
    match = re.search(rb"^SigCgt:\s+([0-9a-f]+)", contents(f"/proc/{pid}/status"), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) >> (signal - 1) & 1)


def command(pid: int) -> str:
    """Its command line, shortened to one line of 120 characters."""
    line = contents(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")
    line = " ".join(line.split())
    return line if len(line) <= 120 else line[:117] + "..."


def waits_in(pid: int) -> str:
    """The kernel's name for what it waits in, if the kernel tells."""
    name = contents(f"/proc/{pid}/wchan").decode(errors="replace")
    return "" if name == "0" else name


def contents(path: str) -> bytes:
    """A file of ``/proc``; empty if the process is gone or not ours to read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return b""


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if HAS_PROC else []  # noqa: PTH208
