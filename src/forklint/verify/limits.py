"""How much a trial may take, and how much there is."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024
_PROC = Path("/proc/meminfo")
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""Limit and use of the container, as it sees them itself: cgroup v2, then v1."""


@dataclass(frozen=True)
class Limits:
    """What one trial may hold, over all of its processes; it is ended when it holds more."""

    memory: int | None = None
    """Bytes, shared pages divided among those who share them; None is a share of what is available at its start."""
    memory_share: float = 0.7
    """That share; where trials run side by side they divide it among them."""
    processes: int = 512
    scratch: int = 4096 * MIB
    """Bytes on disk in its TMPDIR, and never more than half of what is free there."""
    output: int = 256 * MIB
    """Bytes that it prints. What is printed is read to the end up to here, and only both ends of it are kept."""

    def memory_of_one(self, side_by_side: int) -> int:
        """Bytes that one of so many trials may hold now."""
        if self.memory is not None:
            return self.memory
        return int(available_memory() * self.memory_share / side_by_side)

    def scratch_of_one(self, folder: Path, side_by_side: int) -> int:
        """Bytes that one of so many trials may write into this folder now."""
        with contextlib.suppress(OSError):
            return min(self.scratch, shutil.disk_usage(folder).free // 2 // side_by_side)
        return self.scratch


def available_memory() -> int:
    """Bytes that new processes can have without swapping, the limit of a container included."""
    found = [_available_here()]
    for limit, used in _GROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            found.append(int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
    return max(MIB, min(found))


def _available_here() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _PROC.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2  # macOS tells no more without a tool
    return 4096 * MIB
