"""Runs trials: each in fresh processes under a supervisor of its own, each ending with an Observation.

What may happen to a trial is told in the Observation and reaches neither the other trials nor this process. However a
run ends, this process killed with SIGKILL included, nothing that a trial made stays: see ``supervision`` for where
that holds and what is left elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from forklint.verify.debug_flags import TELLING
from forklint.verify.doctor import HARNESS
from forklint.verify.isolation import Copies, Isolations
from forklint.verify.limits import MIB, Limits
from forklint.verify.supervision.afterwards import VARIABLE, clear_away
from forklint.verify.supervision.order import Order
from forklint.verify.supervision.shared import SharedMemory
from forklint.verify.supervisor import CannotRunError, Supervisor
from forklint.verify.words import Ending, Observation, Trial

PATIENCE = 60.0
"""Seconds beyond a trial's limit after which its supervisor itself is taken for stuck and killed."""
LARGEST_JOURNAL = 64 * MIB
"""Bytes read of what the harness wrote down in one trial."""
OFFLINE = {
    "WANDB_MODE": "offline",
    "COMET_MODE": "offline",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Keeps the trackers of experiments from writing a trial into somebody's records."""
ALIKE = {"PYTHONHASHSEED": "0"}
"""Gives sets the same order in each process: classes listed from a set would number samples anew in each trial."""
SUPERVISOR_LOST, CANCELLED = "supervisor", "interrupt"
"""Further reasons in ``Ending.stopped_for``: its supervisor was killed; forklint was told to stop."""


class TrialRunner(Protocol):
    """What runs trials, here or on another machine."""

    def can_lay_over(self, trial: Trial) -> bool:
        """Whether a trial can be given other texts of files than those on the disk."""

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        """Run all, as ``Runner.run_all`` does."""


def told(
    run: Callable[[Trial], Observation],
    on_start: Callable[[Trial], None] | None,
    on_end: Callable[[Observation], None] | None,
) -> Callable[[Trial], Observation]:
    """What runs a trial between two functions, which are called from many threads, one call at a time."""
    telling = threading.Lock()

    def one(trial: Trial) -> Observation:
        if on_start:
            with telling:
                on_start(trial)
        seen = run(trial)
        if on_end:
            with telling:
                on_end(seen)
        return seen

    return one


class Runner:
    """Runs trials with one interpreter; as a context manager it leaves nothing behind."""

    def __init__(
        self,
        python: Path,
        limits: Limits | None = None,
        workplace: Path | None = None,
        isolations: Isolations | None = None,
    ) -> None:
        """Take the trials' interpreter, what they may hold, and where their folders are made.

        ``isolations`` is what is known of this system already, if anything. The workplace must exist and is the
        folder for temporary files by default. A short path is better: sockets that multiprocessing makes in TMPDIR
        may have no more than 107 bytes. Raises CannotRunError.
        """
        if not os.access(python, os.X_OK):
            raise CannotRunError(f"{python}: not a working Python interpreter")
        self.python = python.absolute()  # not resolved: a link is what makes a virtual environment
        self.limits = limits or Limits()
        self._workplace = (workplace or Path(tempfile.gettempdir())).absolute()
        self._isolations = isolations or Isolations(self._workplace)
        self._lock = threading.Lock()
        self._running: set[Supervisor] = set()
        self._cancelled = False

    def __enter__(self) -> Runner:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def cancel(self) -> None:
        """End all running trials, from any thread; they and later ones give ``interrupt`` as their reason."""
        with self._lock:
            self._cancelled = True
            for supervisor in self._running:
                supervisor.cut()

    def can_lay_over(self, trial: Trial) -> bool:
        """Whether a trial can be given other texts of files than those on the disk."""
        return self._isolations.of(trial.folders).is_own and bool(trial.folders)

    def run(self, trial: Trial, side_by_side: int = 1) -> Observation:
        """Run one trial to its end. Raises CannotRunError."""
        if self._cancelled:
            return Observation(trial, Ending(stopped_for=CANCELLED))
        prefix = f"fkl{secrets.token_hex(3)}"
        folder = self._workplace / f"forklint-{prefix[3:]}"
        isolation = self._isolations.of(trial.folders)
        copies = isolation.copies(folder)
        order = self._order(trial, prefix, folder, side_by_side, copies)._replace(view=isolation.view)
        shared = SharedMemory(prefix)
        supervisor = self._start()
        try:
            with supervisor.limited(trial.seconds + PATIENCE):
                report = supervisor.ask(order)
            records = tuple(copies.meant(record) for record in records_in(folder / "journal"))
        except CannotRunError as error:
            raise CannotRunError(f"a trial could not be started: {error}") from None
        finally:
            complaint = self._end(supervisor)
        leaked = tuple(clear_away(folder, shared)) if folder.exists() else ()  # its supervisor was killed
        if report is None:
            ending = Ending(stopped_for=CANCELLED if self._cancelled else SUPERVISOR_LOST)
            return Observation(trial, ending, records, output=complaint, leaked=leaked)
        return _observation(trial, copies.meant(report), records, leaked)

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        """Run all, so many at a time; gives their observations in the order of the trials.

        They run one after another where none can be given a view of the project of its own.
        The two functions are called from other threads, one call at a time. If one trial cannot be run, or this
        thread is interrupted, the others are ended before the error goes on.
        """
        if not all(self._isolations.of(trial.folders).is_own for trial in trials):
            side_by_side = 1

        def start(trial: Trial) -> None:
            if on_start and not self._cancelled:
                on_start(trial)

        one = told(lambda trial: self.run(trial, side_by_side), start, on_end)

        with ThreadPoolExecutor(max(1, side_by_side), thread_name_prefix="trial") as threads:
            try:
                futures = [threads.submit(one, trial) for trial in trials]
                wait(futures, return_when=FIRST_EXCEPTION)
                return [future.result() for future in futures]
            except BaseException:
                self.cancel()
                threads.shutdown(wait=True, cancel_futures=True)
                raise

    def _start(self) -> Supervisor:
        """A supervisor that waits for its order."""
        supervisor = Supervisor()
        with self._lock:
            self._running.add(supervisor)
            if self._cancelled:
                supervisor.cut()
        return supervisor

    def _end(self, supervisor: Supervisor) -> str:
        """Let the supervisor go, and wait until it has cleaned up; gives what it said of an error of its own."""
        with self._lock:
            supervisor.cut()
        complaint = supervisor.wait()
        with self._lock:
            self._running.discard(supervisor)
        return complaint

    def _order(self, trial: Trial, prefix: str, folder: Path, side_by_side: int, copies: Copies) -> Order:
        subject = trial.subject
        if not subject.folder.is_dir():
            raise CannotRunError(f"{subject.folder}: no such directory to run {' '.join(subject.command)} in")
        return Order(
            command=[str(self.python), *copies.named(subject.command)],
            environment=copies.named(self._environment(trial, folder)),
            directory=copies.named(str(subject.folder)),
            folder=str(folder),
            trial={
                "journal": str(folder / "journal"),
                "prefix": prefix,
                "task": trial.task,
                "spec": copies.named(dict(trial.spec)),
                "factors": asdict(trial.factors),
            },
            prefix=prefix,
            seconds=trial.seconds,
            memory=self.limits.memory_of_one(side_by_side),
            processes=self.limits.processes,
            scratch=self.limits.scratch_of_one(self._workplace, side_by_side),
            output=self.limits.output,
            copies=copies.places,
            texts={copies.named(path): text for path, text in trial.texts.items()},
        )

    def _environment(self, trial: Trial, folder: Path) -> dict[str, str]:
        scratch = str(folder / "tmp")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(VARIABLE)}
        if "PYTHONPATH" in inherited:  # relative to where the user is, which need not be where the trial runs
            folders = filter(None, inherited["PYTHONPATH"].split(os.pathsep))
            inherited["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders))
        environment = {**ALIKE, **inherited, **OFFLINE, **TELLING, **trial.subject.environment}
        paths = [str(HARNESS), *map(str, trial.subject.paths), environment.get("PYTHONPATH", "")]
        return environment | {
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONFAULTHANDLER": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": scratch,
            "TEMP": scratch,
            "TMP": scratch,
            "WANDB_DIR": scratch,
            "MLFLOW_TRACKING_URI": (folder / "tmp" / "mlruns").as_uri(),
            VARIABLE: str(folder / "order.json"),
        }


def _observation(
    trial: Trial, report: Mapping[str, Any], records: tuple[Mapping[str, Any], ...], leaked: Sequence[str]
) -> Observation:
    """What a report and the records show; ``leaked`` is what was left behind after the report."""
    reason = report["stopped_for"]
    ending = Ending(
        exit_code=report.get("exit_code"),
        signal=report.get("signal", ""),
        stopped_for=CANCELLED if reason == "forklint" else reason,
    )
    output = report.get("output", "")
    began = report.get("began", 0.0)
    stacks = report.get("stacks", "")
    if ending.signal:
        stacks = "\n\n".join(part for part in (_last_words(output), stacks) if part)
    return Observation(
        trial,
        ending,
        records,
        output,
        stacks,
        leaked=tuple(dict.fromkeys((*report.get("leaked", ()), *leaked))),
        wall_seconds=report.get("wall_seconds", 0.0),
        peak_bytes=report.get("peak_bytes", 0),
        began=began,
        memory=tuple((max(0.0, when - began), size) for when, size in report.get("weighings", ())),
    )


def _last_words(output: str) -> str:
    """What faulthandler printed when a process died, out of all that was printed."""
    at = output.rfind("Fatal Python error: ")
    return output[at:].rstrip() if at >= 0 else ""


def records_in(journal: Path) -> Iterable[Mapping[str, Any]]:
    """What the processes of a trial wrote down, in the order of time; half a line of a killed one is left out.

    The supervisor of a trial that is cancelled may remove the folder meanwhile.
    """
    records: list[dict[str, Any]] = []
    room = LARGEST_JOURNAL
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = sorted(path for path in journal.iterdir() if path.suffix == ".jsonl")
    for path in paths:
        if not path.is_file():  # to open a pipe that the trial put there would never end
            continue
        with contextlib.suppress(OSError), path.open("rb") as file:
            data = file.read(room)
            room -= len(data)
            records += [record for line in data.splitlines() if (record := _record(line)) is not None]
    return sorted(records, key=lambda record: record["time"])


def _record(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError, RecursionError):
        record = json.loads(line)
        if isinstance(record, dict) and isinstance(record.get("kind"), str):
            time = record.get("time")
            return {**record, "time": time if isinstance(time, (int, float)) else 0.0}
    return None
