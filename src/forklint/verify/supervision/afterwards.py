"""What is left to do when a supervisor was killed: found by what is remembered, since the tree has lost its root."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from . import files, stopping, tree
from .shared import SharedMemory
from .tree import Process

VARIABLE = "FORKLINT_TRIAL"
"""Environment variable that every process of a trial inherits; it names the trial's ``order.json``."""


def clear_away(folder: Path, shared: SharedMemory) -> list[str]:
    """Kill what is left of the trial in this folder, remove its shared memory and the folder; a line for each.

    A process is known by the trial's variable in its environment, by having been seen by the supervisor, or by
    descending from such a one.
    """
    seen = _seen(folder / "seen")
    family = stopping.Family(lambda: _family(folder, seen))
    frozen = stopping.freeze(family)
    lines = [f"process {pid}: {tree.command(pid)}" for pid in sorted(frozen)]
    shared.notice(frozen)
    left = stopping.kill(family)
    shared.pids = {pid for pid, _ in seen} | frozen.keys()
    lines += shared.unlink()
    lines += [f"process {process.pid}, which SIGKILL does not end" for process in left]
    files.remove(str(folder))
    return lines


def _family(folder: Path, seen: set[tuple[int, int]]) -> dict[int, Process]:
    everyone = tree.everyone()
    mark = f"{VARIABLE}={folder}/".encode(errors="surrogateescape")
    roots = {
        pid: process for pid, process in everyone.items() if _is_marked(pid, mark) or (pid, process.started) in seen
    }
    family: Mapping[int, Process] = tree.descendants(everyone.values(), set(roots))
    return {pid: process for pid, process in {**family, **roots}.items() if process.is_alive}


def _is_marked(pid: int, mark: bytes) -> bool:
    return any(line.startswith(mark) for line in tree.contents(f"/proc/{pid}/environ").split(b"\0"))


def _seen(path: Path) -> set[tuple[int, int]]:
    pairs = set()
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text(encoding="ascii").splitlines():
            pid, started = line.split()
            pairs.add((int(pid), int(started)))
    return pairs
