"""A run in several processes that is killed leaves none of them behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"


def below(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are listed by /proc")
def test_its_processes_end_as_well() -> None:
    command = [sys.executable, "-m", "forklint", str(FIXTURES), "--isolated", "--no-cache", "-j", "2", "--preview"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers: list[int] = []
    try:
        assert within(60, lambda: len(below(run.pid)) == 2)
        workers = below(run.pid)
        time.sleep(0.5)
        run.kill()
        run.wait()
        assert within(30, lambda: not any(map(is_alive, workers)))
    finally:
        run.kill()
        run.wait()
        for pid in filter(is_alive, workers):
            os.kill(pid, signal.SIGKILL)
