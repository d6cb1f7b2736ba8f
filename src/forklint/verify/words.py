"""The words of proving, as data: experiments, trials, observations, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from forklint.model import Finding


class Verdict(str, Enum):
    """What the trials of one experiment say about its claim."""

    CONFIRMED = "confirmed"
    """Harm was seen, and not in the control."""
    REFUTED = "refuted"
    """The mechanism did not happen."""
    NOT_REPRODUCED = "not reproduced"
    """The mechanism happened and no harm was seen: never called safe."""
    UNSUPPORTED = "unsupported here"
    """It needs a platform, a device or a Python that is not at hand."""
    INCONCLUSIVE = "inconclusive"
    """The trials say nothing; the advice names the one thing to do about it."""


@dataclass(frozen=True)
class Factors:
    """The cell in which a trial runs; None leaves a factor as the program has it."""

    start_method: str | None = None
    workers: int | None = None
    pin_memory: bool | None = None
    environment: str | None = None
    """``early`` or ``late``: whether a variable is set before the process starts or where the program sets it."""
    device: str | None = None
    """Of the main process: in use there before workers start."""
    parent: str | None = None
    """``warm``: the main process has read a sample before workers start."""
    code: str | None = None
    """In a tolerant run: what was done to the code, if that is what is varied."""

    def __str__(self) -> str:
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        parts = [self.start_method, None if self.workers is None else workers]
        parts += [None if self.pin_memory is None else f"pin_memory={self.pin_memory}", self.environment, self.device]
        parts += [None if self.parent is None else f"{self.parent} parent", self.code]
        return ", ".join(part for part in parts if part) or "as it is"


@dataclass(frozen=True)
class Subject:
    """What a trial runs: the program's own entry, a factory, a class built with its defaults or with made-up data."""

    kind: str
    """``entry``, ``factory``, ``class``, ``module`` or ``made`` (see ``made_data``)."""
    command: tuple[str, ...]
    """Arguments of the interpreter: ``("train.py", "--config", "x.yaml")`` or ``("-m", "forklint_harness", ...)``."""
    folder: Path
    """Working directory of the trial."""
    paths: tuple[Path, ...] = ()
    """Folders that must be importable, put on PYTHONPATH behind the harness."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One run of one cell."""

    name: str
    """Unique within a run of verify, and the same the next time: ``--replay`` takes it."""
    subject: Subject
    task: str
    """What the harness does in it: the name of one of its tasks."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """What the task wants to know, as JSON can hold it."""
    factors: Factors = field(default_factory=Factors)
    is_control: bool = False
    seconds: float = 60.0
    """Wall-clock limit."""
    side_by_side: bool = False
    """Whether it may run beside its neighbours in the experiment, because it looks for no race."""
    folders: tuple[Path, ...] = ()
    """Of the project: what it writes there, no other trial and nobody else sees."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """By path, what the trial finds in a file of these folders in place of what is on the disk."""


@dataclass(frozen=True)
class Ending:
    """How the first process of a trial ended, and what had to be done about the rest."""

    exit_code: int | None = None
    """None if a signal ended it or it had to be killed."""
    signal: str = ""
    """``SIGSEGV`` and the like, if a signal that forklint did not send ended it."""
    stopped_for: str = ""
    """Why forklint ended it: ``time``, ``memory``, ``processes``, ``scratch``, ``output``; empty if it did not.

    ``supervisor``: the process that watched it was killed. ``interrupt``: forklint was told to stop. ``machine``: the
    other machine that ran it was lost.
    """


@dataclass(frozen=True)
class Observation:
    """What one trial showed."""

    trial: Trial
    ending: Ending
    records: tuple[Mapping[str, Any], ...] = ()
    """What the harness wrote down, in every process of the trial: each has ``kind``, ``pid``, ``role`` and ``time``."""
    output: str = ""
    """First and last part of what it printed."""
    stacks: str = ""
    """Stacks of all its processes if it was stopped for time, of those that crashed otherwise."""
    leaked: tuple[str, ...] = ()
    """Processes, shared-memory segments and semaphores that it left behind and that were cleaned away.

    Empty if it was stopped, or ended by the harness as soon as it had shown enough: it had no time to tidy up.
    What is still there after its supervisor has ended is listed in any case.
    """
    wall_seconds: float = 0.0
    peak_bytes: int = 0
    """Largest sum of proportional set sizes of its processes."""
    began: float = 0.0
    """When it was started, in seconds since the epoch, as the ``time`` of its records."""
    memory: tuple[tuple[float, int], ...] = ()
    """At some moments, in seconds since it began, the sum of proportional set sizes of its processes in bytes."""

    @property
    def first_batch_seconds(self) -> float | None:
        """Seconds from the start of the loader's workers to its first batch; None if there was none."""
        seconds = [one["first_seconds"] for one in self.of("pass")] + [one["seconds"] for one in self.of("first-batch")]
        return seconds[0] if seconds else None

    @property
    def samples_per_second(self) -> float | None:
        """Samples a second in the fastest pass over them; None if none came to its end."""
        ended = [one for one in self.of("pass") if one["ended"] and one["samples"] and one["seconds"]]
        return max((one["samples"] / one["seconds"] for one in ended), default=None)

    def of(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        """The records of one kind."""
        return tuple(record for record in self.records if record["kind"] == kind)


@dataclass(frozen=True)
class Judgement:
    """A verdict with the evidence for it."""

    verdict: Verdict
    evidence: str
    """One line."""
    advice: str = ""
    """For ``inconclusive`` and ``unsupported here``: the one thing to do."""
    details: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """For ``unsupported here``: labels of machines, any one of which can run the experiment."""


@dataclass(frozen=True)
class Experiment:
    """One finding, one claim, a control and treatments that differ from it in one factor."""

    finding: Finding
    claim: str
    trials: tuple[Trial, ...]
    side_by_side: bool = False
    """Whether its trials may run at the same time: only where that cannot change what they show."""
    instead_of: Judgement | None = None
    """Why nothing better can be run; told with what this one shows, if that decides nothing."""
    otherwise: Experiment | None = None
    """What is tried where the control does not come to what it should show."""
    needs: tuple[str, ...] = ()
    """Labels of machines, any one of which can decide it, if this machine cannot."""
    is_tolerant: bool = False
    """Whether it goes on where the world is missing: then it is tried where those before it say nothing."""

    @property
    def attempts(self) -> tuple[Experiment, ...]:
        """It, and what is tried otherwise, one after another."""
        return (self, *(self.otherwise.attempts if self.otherwise else ()))
