"""What the run of a command says: who died of what, what else was noticed, and what fits it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forklint.crashes.exit_status import SHELL, described, signal_in, signal_of
from forklint.crashes.hypotheses import Explanation, explain
from forklint.crashes.reading import NO_CRASH, LogReader, Reading, of_signal, of_worker
from forklint.model import Finding
from forklint.verify.stuck import PROCESS, Frame, frames_of
from forklint.verify.watched_command import Seen

TIMED_OUT, INTERRUPTED, LOST = 124, 130, 125
"""Exit statuses where doctor ended the command, as timeout(1) and shells have them; its supervisor was killed."""
LITTLE = 0.05
"""A share of /dev/shm below which it was as good as full."""
MIB = 2**20
_FATAL = re.compile(r"^Fatal Python error: ([A-Z][a-z ]+?)$", re.MULTILINE)
_WORKER_KILLED = re.compile(r"is killed by signal: ([A-Z][a-z ]+)")


@dataclass(frozen=True)
class Death:
    """A process that a signal ended."""

    pid: int
    """0 if it is not known."""
    signal: str
    worker: int | None = None
    """The number of a DataLoader worker."""
    frame: Frame | None = None
    """The project's line in which it was."""
    is_command: bool = False

    def __str__(self) -> str:
        if self.is_command:
            who = "The command"
        elif self.worker is not None:
            who = f"DataLoader worker {self.worker} (process {self.pid})"
        else:
            who = f"Process {self.pid}" if self.pid else "A process"
        where = f" at {self.frame}" if self.frame else ""
        return f"{who} was killed by {described(self.signal)}{where}."


@dataclass(frozen=True)
class Diagnosis:
    """What was seen of a command, and what fits it."""

    seen: Seen
    deaths: tuple[Death, ...]
    explained: Explanation
    standing: tuple[str, ...] = ()
    """Where the processes stood when they had to be stopped, a line for each that was in code of the project."""

    @property
    def headline(self) -> str:
        """One line: what happened."""
        seen = self.seen
        if seen.stopped_for == "supervisor":
            return "The process that watched the command was killed, and the command with it."
        if seen.stopped_for:
            how = "did not end within" if seen.stopped_for == "time" else "was interrupted after"
            return f"The command {how} {seen.seconds:.0f} seconds; it had printed nothing for {seen.quiet_seconds:.0f}."
        if self.deaths:
            return str(self.deaths[0])
        if seen.exit_code:
            return f"The command ended with exit code {seen.exit_code}."
        left = f" It left behind: {', '.join(seen.leaked)}." if seen.leaked else ""
        return f"The command ended with exit code 0: nothing crashed.{left}"

    @property
    def status(self) -> int:
        """The exit status of the command, as a shell would have it."""
        seen = self.seen
        if seen.stopped_for:
            return {"time": TIMED_OUT, "stop": INTERRUPTED}.get(seen.stopped_for, LOST)
        if seen.signal:
            named = seen.signal.rpartition(" ")[2]
            return SHELL + (int(named) if named.isdigit() else signal.Signals[named])
        return seen.exit_code or 0

    def notes(self) -> Iterator[str]:
        """What else was noticed, a line for each."""
        seen = self.seen
        yield from self.standing
        for death in self.deaths if seen.stopped_for else self.deaths[1:]:
            yield str(death)
        if self.deaths and not self.deaths[0].is_command and not seen.stopped_for:
            yield f"The command ended with exit code {seen.exit_code}."
        for leaked in seen.leaked:
            yield f"Left behind and removed: {leaked}."
        if seen.shm and seen.shm[0] < LITTLE * seen.shm[1]:
            yield (
                f"/dev/shm was full: down to {seen.shm[0] // MIB} of {seen.shm[1] // MIB} MiB. "
                "Give the container --shm-size=8g or --ipc=host."
            )
        for pid, names in seen.runtimes.items():
            yield f"Process {pid} has {len(names)} OpenMP runtimes: {', '.join(names)}. They can hang or crash it."


def diagnose(seen: Seen, folder: Path, findings: Sequence[Finding]) -> Diagnosis:
    """Put together what was seen of a command that ran in this folder, and the findings of the project."""
    deaths = tuple(_deaths(seen, folder))
    reading = Reading()
    for death in deaths:
        reading |= of_signal(death.signal, str(death))
    reading |= _stacks(seen) | seen.printed
    for death in deaths:
        if death.worker is not None:
            reading |= of_worker(death.signal, str(death))
    if not reading.signs and not seen.stopped_for and not seen.exit_code and not seen.signal:
        reading |= of_signal(NO_CRASH, "exit code 0")
    return Diagnosis(seen, deaths, explain(reading, findings), tuple(_standing(seen, folder)))


def _standing(seen: Seen, folder: Path) -> Iterator[str]:
    if seen.stopped_for:
        workers = _workers(seen)
        for pid, frame in frames_of(seen.stacks, folder).items():
            who = f"DataLoader worker {workers[pid]} (process {pid})" if pid in workers else f"Process {pid}"
            yield f"{who} was at {frame}."


def _workers(seen: Seen) -> dict[int, int]:
    """The numbers of DataLoader workers, by process."""
    noted = (record for record in seen.records if record["kind"] == "worker")
    return {record["pid"]: record["number"] for record in noted if record.get("number") is not None}


def _stacks(seen: Seen) -> Reading:
    """The stacks, read as a log."""
    reader = LogReader()
    reader.feed(seen.stacks.encode(errors="replace"))
    return reader.end()


def _deaths(seen: Seen, folder: Path) -> Iterator[Death]:
    """Who was killed, workers first, then other processes, the command itself last; none is told twice."""
    workers = _workers(seen)
    frames = frames_of(seen.stacks, folder) if not seen.stopped_for else {}
    signals = {**_noted(seen), **_told_by_torch(seen), **_told_by_stacks(seen)}
    main = next((record["pid"] for record in seen.records if record["kind"] == "process"), 0)
    of_command = seen.signal or signal_of(seen.exit_code or 0)
    for pid in sorted(signals, key=lambda pid: (pid not in workers, pid)):
        if not (pid == main and of_command):
            yield Death(pid, signals[pid], workers.get(pid), frames.get(pid))
    if of_command:
        yield Death(main, of_command, frame=frames.get(main), is_command=True)


def _noted(seen: Seen) -> dict[int, str]:
    """What parents heard of their children; a child that was told to end is none that crashed."""
    deaths = {}
    for record in seen.records:
        if record["kind"] == "child-died":
            name = signal_of(-record["signal"])
            if name not in {"SIGTERM", "SIGINT", ""}:
                deaths[int(record["child"])] = name
    return deaths


def _told_by_torch(seen: Seen) -> dict[int, str]:
    deaths = {}
    for sign in seen.printed.signs:
        killed = _WORKER_KILLED.search(sign.text)
        if sign.worker and killed and signal_in(killed[1].strip()):
            deaths[sign.worker] = signal_in(killed[1].strip())
    return deaths


def _told_by_stacks(seen: Seen) -> dict[int, str]:
    """What faulthandler wrote in processes as they died."""
    heads = list(PROCESS.finditer(seen.stacks))
    ends = [*(head.start() for head in heads[1:]), len(seen.stacks)]
    deaths = {}
    for head, end in zip(heads, ends, strict=False):
        fatal = _FATAL.search(seen.stacks, head.end(), end)
        if fatal and signal_in(fatal[1]):
            deaths[int(head[1])] = signal_in(fatal[1])
    return deaths
