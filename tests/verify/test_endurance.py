"""Half an hour of trials that crash, hang, fork, fill the disk and ignore signals: nothing of them is left, ever."""

from __future__ import annotations

import os
import random
import secrets
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from trial_making import MEMORY, alive, make, within

from forklint.verify import runner as running
from forklint.verify.limits import MIB, Limits
from forklint.verify.runner import Runner
from forklint.verify.words import Observation, Trial

DEAF = "\nfor n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(n, signal.SIG_IGN)\n"
SHARED = """
import _posixshmem, _multiprocessing, mmap
def leave(name):
    fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_RDWR, mode=0o600); os.ftruncate(fd, 4096)
    return mmap.mmap(fd, 4096), _multiprocessing.SemLock(1, 1, 1, name + "s", False)
kept = leave("/" + order["prefix"] + MARK)
other = leave("/" + MARK + str(os.getpid()))
time.sleep(0.3)
"""
KINDS = {
    "ends": ("print('fine')", {0}),
    "exits": ("sys.exit(3)", {3}),
    "prints": ("print('x' * 3_000_000)", {0}),
    "raises": ("raise ValueError('no')", {1}),
    "segfaults": ("os.kill(os.getpid(), signal.SIGSEGV)", {"SIGSEGV"}),
    "reads address 0": ("import ctypes; ctypes.string_at(0)", {"SIGSEGV"}),
    "aborts": ("os.abort()", {"SIGABRT"}),
    "hangs": ("time.sleep(600)", {"time"}),
    "hangs in a lock": ("import threading; one = threading.Lock(); one.acquire(); one.acquire()", {"time"}),
    "is busy": ("while True: pass", {"time"}),
    "ignores signals": (f"daemon(600)\n{DEAF}time.sleep(600)", {"time"}),
    "ignores signals in a group of its own": (f"{DEAF}os.fork() or os.setsid()\ntime.sleep(600)", {"time"}),
    "stops itself": ("daemon(600); os.kill(os.getpid(), signal.SIGSTOP)", {"time"}),
    "forks": ("while True:\n    if os.fork() == 0: time.sleep(600)", {"processes", 1}),
    "leaves daemons": ("[daemon(600) for _ in range(8)]", {0}),
    "leaves a tree": (
        "for _ in range(4): os.fork()\nif os.getpid() != os.getsid(0): os.setsid(); time.sleep(600)",
        {0},
    ),
    "fills the disk": (
        "with open(os.environ['TMPDIR'] + '/big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))",
        {"scratch", 1},
    ),
    "leaves many files": (
        "os.chdir(os.environ['TMPDIR']); os.mkfifo('p')\nfor n in range(2000): open(str(n), 'w').close()",
        {0},
    ),
    "takes memory": ("kept = []\nwhile True: kept.append(bytearray(b'x') * (8 << 20))", {"memory", "SIGKILL", 1}),
    "leaves shared memory": (f"{SHARED}os._exit(0)", {0}),
    "dies with shared memory": (f"{SHARED}os.kill(os.getpid(), signal.SIGKILL)", {"SIGKILL"}),
    "hangs with shared memory": (f"{SHARED}daemon(600); time.sleep(600)", {"time"}),
    "kills its supervisor": ("daemon(600); os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)", {"supervisor"}),
    "stops its supervisor": ("daemon(600); os.kill(os.getppid(), signal.SIGSTOP); time.sleep(600)", {"supervisor"}),
    "deletes its journal": ("import shutil; shutil.rmtree(os.path.dirname(journal)); sys.exit(5)", {5}),
}
"""What a trial does, and how it may end: an exit code, a signal, or what it was stopped for."""


def ending(seen: Observation) -> int | str | None:
    return seen.ending.stopped_for or seen.ending.signal or seen.ending.exit_code


def trial(name: str, mark: str, folder: Path) -> Trial:
    """A trial of a kind: soon over where its time is up, and otherwise with time enough on a busy machine."""
    code, endings = KINDS[name]
    return make(f"\nMARK = {mark!r}\n{code}", folder, seconds=2 if "time" in endings else 60, name=name)


def state() -> tuple[int, int, int]:
    """Descriptors, threads and resident bytes of this process."""
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return len(os.listdir("/proc/self/fd")), threading.active_count(), resident


@pytest.mark.soak
@pytest.mark.minutes(30)
def test_nothing_is_left(
    workplace: Path,
    tmp_path: Path,
    soak_seconds: float,
    soak_seed: int,
    monkeypatch: pytest.MonkeyPatch,
    record_property: pytest.RecordProperty,
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 5.0)  # a supervisor that is stopped is waited for: a minute otherwise
    draw = random.Random(soak_seed)
    mark = f"vt{secrets.token_hex(6)}"
    endings: Counter[str] = Counter()
    odd: list[str] = []
    states = []
    limits = Limits(memory=400 * MIB, processes=40, scratch=64 * MIB, output=8 * MIB)
    until = time.monotonic() + soak_seconds
    with Runner(Path(sys.executable), limits, workplace) as runner:
        while time.monotonic() < until or not states:
            names = draw.sample(sorted(KINDS), 6)
            trials = [trial(name, mark, tmp_path) for name in names]
            for name, seen in zip(names, runner.run_all(trials, side_by_side=2), strict=True):
                endings[name] += 1
                if ending(seen) not in KINDS[name][1]:
                    odd.append(f"{name}: {ending(seen)}: {seen.output[-200:]}")
            assert within(5, lambda: not alive(workplace)), f"processes of one of {names}"
            assert not list(workplace.iterdir()), f"files of one of {names}"
            segments = [path.name for path in MEMORY.iterdir() if mark in path.name]
            assert not segments, f"shared memory of one of {names}"
            states.append(state())
    descriptors, threads, resident = zip(*states, strict=True)
    assert len(set(descriptors)) == 1, descriptors
    assert max(threads) == threads[0], threads
    quarter = len(states) // 4 + 1
    growth = max(resident[-quarter:]) - max(resident[:quarter])
    figures = f"{sum(endings.values())} trials of {len(endings)} kinds, {len(odd)} ended otherwise than expected; "
    figures += f"memory of forklint {resident[0] // MIB} MiB at first, {resident[-1] // MIB} MiB at last"
    print(figures, odd)
    record_property("figures", figures)
    assert growth < 4 * MIB, resident
    assert not odd, odd
