"""System V shared memory, which stays until somebody removes it (sysvipc(7)): MPI and some C libraries use it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Container

from .tree import contents

REMOVE = 0
"""``IPC_RMID`` (shmctl(2))."""


def segments() -> dict[int, int]:
    """Identifier of each segment, and the pid of who made it."""
    found = {}
    for line in contents("/proc/sysvipc/shm").splitlines()[1:]:
        fields = line.split()
        found[int(fields[1])] = int(fields[4])
    return found


def remove(makers: Container[int], before: Container[int]) -> list[str]:
    """Remove the segments that one of these processes made and that were not there before; gives a line for each."""
    if sys.platform != "linux":
        return []
    library = ctypes.CDLL(None)
    mine = [number for number, maker in segments().items() if maker in makers and number not in before]
    return [f"System V shared memory {number}" for number in mine if library.shmctl(number, REMOVE, None) == 0]
