"""Runs commands and measures them: in turns, so that what disturbs the machine disturbs all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

LONGEST = 1800.0
"""Seconds after which a command is ended, unless it has a limit of its own."""
LOOK = 0.1
"""Seconds between two looks at the memory of a command's processes."""
MOST_MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Bytes at which a command whose memory is watched is ended, before it takes the machine with it."""
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which getrusage counts memory."""


class FailedError(Exception):
    """A command ended as it should not; the message says how."""


@dataclass(frozen=True)
class Command:
    """What is executed, and what is read off it."""

    name: str
    words: tuple[str, ...]
    facts: Callable[[str], dict[str, float]]
    watched: bool = False
    after: str = ""
    """A command that does less of the same: where that fails, this is not tried."""
    longest: float = LONGEST
    """Seconds after which it is ended."""
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered before each run and left after it, untimed: what sets the stage, and puts it back even after a failure.

    Raises FailedError where that cannot be done.
    """


@dataclass(frozen=True)
class Timing:
    """One run of a command."""

    wall: float
    user: float
    system: float
    """Seconds; the processor's are those of all its processes."""
    peak: int
    """Bytes of memory that its largest process held at most."""
    peak_together: int = 0
    """Bytes that its processes held together at most, shared pages counted in each; 0 if nobody looked."""
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Series:
    """All runs of one contender, in the order of the rounds."""

    runs: tuple[Timing, ...]

    @property
    def walls(self) -> tuple[float, ...]:
        """Seconds from start to end, of each run."""
        return tuple(run.wall for run in self.runs)

    @property
    def wall(self) -> float:
        """Their median."""
        return statistics.median(self.walls)

    @property
    def spread(self) -> float:
        """Their median absolute deviation."""
        return deviation(self.walls)

    def fact(self, name: str) -> float:
        """What the last run told; 0 if nothing."""
        return self.runs[-1].facts.get(name, 0)


def deviation(values: Sequence[float]) -> float:
    """The median distance of values from their median."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


def in_turns(
    commands: Sequence[Command],
    rounds: Mapping[str, int],
    warm_ups: frozenset[str],
    run: Callable[[Command], Timing],
    tell: Callable[[str], None],
) -> tuple[dict[str, Series], dict[str, str]]:
    """Run each command so many times as ``rounds`` has by its name, one after another in each round.

    Those in ``warm_ups`` are run once before, and that does not count. Gives what was measured, and of commands that
    failed, why; these are not run again.
    """
    timings: dict[str, list[Timing]] = {command.name: [] for command in commands}
    failed: dict[str, str] = {}
    for number in range(max(rounds.values(), default=0) + 1):
        told = []
        for command in commands:
            due = command.name in warm_ups if number == 0 else number <= rounds[command.name]
            if command.after in failed:
                failed.setdefault(command.name, failed[command.after])
            if not due or command.name in failed:
                continue
            try:
                timing = run(command)
            except FailedError as error:
                failed[command.name] = str(error)
                told.append(f"{command.name} FAILED: {error}")
                continue
            told.append(f"{command.name} {timing.wall:.3f}")
            if number:
                timings[command.name].append(timing)
        if told:
            tell(f"{f'round {number}' if number else 'warm-up'}: {', '.join(told)}")
    return {name: Series(tuple(runs)) for name, runs in timings.items() if runs and name not in failed}, failed


def measure(command: Command, folder: Path, variables: Mapping[str, str]) -> Timing:
    """Run a command in a folder, to which its output is written as well. Raises FailedError.

    A linter may exit with 0 or 1; whatever else happens is a failure: what crashes early would seem fast.
    """
    with command.around():
        return _measure(command, folder, variables)


def _measure(command: Command, folder: Path, variables: Mapping[str, str]) -> Timing:
    printed, complained = folder / f"{command.name}.out", folder / f"{command.name}.err"
    with printed.open("wb") as out, complained.open("wb") as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            command.words,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        timer = threading.Timer(command.longest, _kill, [process.pid])
        timer.daemon = True
        timer.start()
        watcher = _Watcher(process.pid) if command.watched else None
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            _kill(process.pid)
            raise
        finally:
            timer.cancel()
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    together = watcher.end() if watcher else 0
    if together > MOST_MEMORY:
        raise FailedError(f"held {together / 1e9:.1f} GB after {wall:.0f} s, and was ended")
    if process.returncode == -signal.SIGKILL and wall >= command.longest:
        raise FailedError(f"not done after {command.longest:g} s")
    if process.returncode not in {0, 1} or b"Traceback (most recent" in complained.read_bytes():
        said = complained.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise FailedError(f"ended with {process.returncode}: {said[-1] if said else 'nothing was said'}")
    return Timing(
        wall,
        usage.ru_utime,
        usage.ru_stime,
        usage.ru_maxrss * RSS_UNIT,
        together,
        command.facts(printed.read_text(encoding="utf-8", errors="replace")),
    )


def _kill(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


class _Watcher(threading.Thread):
    """Sums the memory of a process and of all below it, again and again; where there is no /proc the sum is 0."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._ended = threading.Event()
        self._peak = 0
        self.start()

    def end(self) -> int:
        """Stop looking; gives the largest sum in bytes."""
        self._ended.set()
        self.join()
        return self._peak

    def run(self) -> None:
        """Look until told to stop."""
        while not self._ended.wait(LOOK):
            self._peak = max(self._peak, sum(map(_resident, _tree(self._process))))
            if self._peak > MOST_MEMORY:
                _kill(self._process)


def _tree(process: int) -> list[int]:
    """A process and those below it."""
    found = [process]
    for parent in found:
        with contextlib.suppress(OSError):
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text(encoding="ascii").split())
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
