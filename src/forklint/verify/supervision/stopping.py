"""How the processes of a trial are asked for their stacks, frozen, and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from . import tree
from .tree import Process

STACK_SIGNAL: int = getattr(signal, "SIGRTMIN", getattr(signal, "SIGUSR1", 0) - 5) + 5
"""The harness has faulthandler write all stacks on this signal, into ``PID.stack``; programs use others.

macOS has no real-time signals and gets SIGUSR1. Windows has neither.
"""
PATIENCE = 2.0
"""Seconds to wait for stacks."""
UNKILLABLE = 10.0
"""Seconds after which a process that SIGKILL does not end (one that waits in a driver) is given up, and named."""
LARGEST_STACK = 64 * 1024
"""Bytes of stacks kept for one process."""
LARGEST = 1024 * 1024
"""Characters of stacks kept for one trial."""


class Family(NamedTuple):
    """How the processes of one trial are found."""

    look: Callable[[], Mapping[int, Process]]
    nearest: Callable[[], Iterable[int]] = tuple
    """Those that are children of this process, found faster; none where other children of it are not the trial's."""
    is_over: Callable[[], bool] = lambda: True
    """Whether a look that found nobody may be believed."""


def send(pid: int, number: int) -> None:
    """Send a signal; nothing happens if the process is gone or not ours."""
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def stacks(processes: Iterable[Process], journal: Path) -> str:
    """The stacks of all processes as text, each under a line that names the process and its state.

    Only a process that has a handler for the signal is asked: another would die of it. Where nobody tells who has one,
    all are taken to have one. One that is stopped is continued, or it could not answer.
    """
    processes = sorted(processes, key=lambda process: process.started)
    titles = {process.pid: _title(process) for process in processes}
    asked = [process for process in processes if not tree.HAS_PROC or tree.catches(process.pid, STACK_SIGNAL)]
    before = _sizes(journal)
    for process in asked:
        send(process.pid, STACK_SIGNAL)
        if process.state in "Tt":
            send(process.pid, signal.SIGCONT)
    patience = time.monotonic() + PATIENCE
    sizes, last = before, None
    while time.monotonic() < patience and asked:
        answered = sum(sizes[name] > before.get(name, 0) for name in sizes)
        if answered >= len(asked) and sizes == last:
            break
        time.sleep(0.05)
        last, sizes = sizes, _sizes(journal)
    parts = [f"{title}\n{_stack(journal / f'{pid}.stack')}".rstrip() for pid, title in titles.items()]
    return "\n\n".join([*parts, *filter(None, [written(journal, but=set(titles))])])[:LARGEST]


def written(journal: Path, but: Container[int] = ()) -> str:
    """The stacks that processes wrote by themselves, when they crashed; each under a line that names the process."""
    parts = []
    for name, size in sorted(_sizes(journal).items()):
        pid = name.removesuffix(".stack")
        if size and not (pid.isdigit() and int(pid) in but):
            parts.append(f"process {pid}\n{_stack(journal / name)}".rstrip())
    return "\n\n".join(parts)[:LARGEST]


def freeze(family: Family, patience: float = 5.0) -> dict[int, Process]:
    """Stop all processes and all that they start meanwhile; gives those that were alive.

    A whole process group is stopped in one call, which no fork can slip through (fork(2) fails with a pending signal).
    Children of this process are stopped at once: a process that starts the next and ends, over and over, is never
    more than that, and is gone before a look has come to it.
    """
    frozen: dict[int, Process] = {}
    quiet = 0
    patience += time.monotonic()
    while quiet < 2 and time.monotonic() < patience:
        nearest = set(family.nearest())
        for pid in nearest - frozen.keys():
            send(pid, signal.SIGSTOP)
        found = family.look()
        alive = {pid: process for pid, process in found.items() if process.is_alive}
        moving = [process for process in alive.values() if process.state not in "Tt"]
        reap(found.values())
        is_missed = not alive and not family.is_over()  # somebody is there whom no look has met
        quiet = 0 if moving or nearest - found.keys() or is_missed else quiet + 1
        for group in {process.group for process in moving}:
            if group not in {0, os.getpgrp()}:
                with contextlib.suppress(OSError):
                    os.killpg(group, signal.SIGSTOP)
        for process in moving:
            send(process.pid, signal.SIGSTOP)
        frozen.update(alive)
        time.sleep(0.002 if moving else 0)
    return frozen


def kill(family: Family) -> list[Process]:
    """Kill all processes, wait until it is over, and reap those left to this one; gives those that would not die."""
    patience = time.monotonic() + UNKILLABLE
    quiet = 0
    while True:
        for pid in family.nearest():
            send(pid, signal.SIGKILL)
        found = family.look()
        reap(found.values())
        alive = [process for process in found.values() if process.is_alive]
        quiet = 0 if alive or not family.is_over() else quiet + 1
        if quiet == 2 or time.monotonic() > patience:
            return alive
        for process in alive:
            send(process.pid, signal.SIGKILL)
        time.sleep(0.005 if alive else 0)


def reap(processes: Iterable[Process], but: int = 0) -> None:
    """Wait for those zombies that are children of this process, so that their numbers are free again."""
    for process in processes:
        if process.state == "Z" and process.parent == os.getpid() and process.pid != but:
            with contextlib.suppress(OSError):
                os.waitpid(process.pid, os.WNOHANG)


def kill_group(leader: int) -> None:
    """Kill a process and its group, or on Windows its children: what can be done where there is no ``/proc``."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)  # noqa: S603, S607
    else:
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


def registered(journal: Path, group: int) -> list[Process]:
    """Processes of a group that have a file for their stacks, found without ``/proc``; no more is known."""
    found = []
    for name in _sizes(journal):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            pid = int(name.removesuffix(".stack"))
            if os.getpgid(pid) == group:
                found.append(Process(pid, 0, "", group, 0, 0))
    return found


def _title(process: Process) -> str:
    states = {"R": "running", "S": "sleeping", "D": "waiting for a device", "T": "stopped", "Z": "ended"}
    place = tree.waits_in(process.pid)
    state = states.get(process.state, process.state) + (f" in {place}" if place else "")
    return f"process {process.pid} ({state}): {tree.command(process.pid)}" if state else f"process {process.pid}"


def _sizes(journal: Path) -> dict[str, int]:
    sizes = {}
    with contextlib.suppress(OSError):
        for path in journal.glob("*.stack"):
            with contextlib.suppress(OSError):
                if path.is_file():
                    sizes[path.name] = path.stat().st_size
    return sizes


def _stack(path: Path) -> str:
    with contextlib.suppress(OSError):
        if path.is_file():  # to open a pipe that the trial put there would never end
            with path.open("rb") as file:
                return file.read(LARGEST_STACK).decode(errors="replace")
    return ""
