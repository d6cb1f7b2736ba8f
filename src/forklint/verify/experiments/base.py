"""What an experimenter is: it plans the trials for a finding of one rule, and judges what they showed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from forklint.config import Settings
from forklint.model import Finding
from forklint.project.index import Project
from forklint.source.roots import Extent
from forklint.verify.doctor import Environment
from forklint.verify.subjects import Factory, Sources
from forklint.verify.unreached import why_ended_early
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

WORST_FIRST = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.NOT_REPRODUCED, Verdict.REFUTED, Verdict.UNSUPPORTED)


@dataclass(frozen=True)
class Context:
    """What there is to run with."""

    root: Path
    """The project's: the folder that its imports resolve from."""
    settings: Settings
    environment: Environment
    """Of the interpreter that runs the trials."""
    entry: tuple[str, ...] = ()
    """The script and its arguments, if the user named an entry."""
    entry_folder: Path | None = None
    """Where the entry is run: the user's working directory, since its arguments may name files from there."""
    importable: tuple[Path, ...] = ()
    """Folders that the entry needs on PYTHONPATH, since it is run as a module."""
    start_methods: tuple[str, ...] = ()
    """Those to try; empty: all that the platform has."""
    workers: int = 4
    seconds: float = 60.0
    """Limit of one trial."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for every trial."""
    factories: tuple[Factory, ...] = ()
    """Callables that give loaders, as the user named them."""
    scripts: tuple[Path, ...] = ()
    """Files that may be run as they are, if the user named no entry: those of PATHS."""
    others: str = "one"
    """``one`` or ``all``: the batches that a script gets of loaders other than the one that a trial is about."""
    samples: int = 240
    """How many samples of a dataset are read."""
    provoking: float = 2.0
    """Seconds for which a treatment goes on within its trial while no error is raised."""
    extent: Extent | None = None
    """How far the project reaches; None: all below the root."""

    def project(self) -> Project:
        """The project, with nothing known of it yet."""
        return Project(self.extent or self.root, self.settings)

    @property
    def folder(self) -> Path:
        """Working directory of trials: where the user is for an entry, else the project's root."""
        return (self.entry_folder if self.entry else None) or self.root

    @property
    def sources(self) -> Sources:
        """What the user has given to be run."""
        return Sources(self.folder, self.entry, self.importable, self.factories, self.scripts, self.variables)

    def methods(self, *wanted: str) -> tuple[str, ...]:
        """Those of the wanted start methods that the platform has and the user did not leave out."""
        chosen = self.start_methods or self.environment.start_methods
        return tuple(method for method in wanted if method in chosen and method in self.environment.start_methods)


class Experimenter(ABC):
    """One rule's experiment; a file in this folder with a subclass is all it takes."""

    code: ClassVar[str]

    def __init__(self, context: Context) -> None:
        self.context = context

    @abstractmethod
    def plan(self, finding: Finding) -> Experiment | Judgement:
        """The trials that decide, or the verdict at once if none can be run here."""

    def imports(self, finding: Finding) -> bool:
        """Whether the trials import the file of the finding, or run it."""
        return True

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """The judgement if the controls show that no treatment can decide: then none is run."""
        return None

    def informed(self, trial: Trial, seen: Sequence[Observation]) -> Trial:
        """A planned trial with what earlier ones have found out for it."""
        return trial

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """Further trials that the judgement needs after those so far, such as controls for what these showed.

        Asked again with what they show, until it names none.
        """
        return ()

    @abstractmethod
    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """What the trials say."""

    def trial(  # noqa: PLR0913 - a trial has so many sides
        self,
        finding: Finding,
        subject: Subject,
        task: str,
        spec: Mapping[str, object],
        factors: Factors,
        *,
        is_control: bool = False,
    ) -> Trial:
        """Make a trial, with a name that is the same the next time."""
        cell = str(factors).replace(", ", "-").replace(" ", "")
        name = f"{finding.code.lower()}-{finding.fingerprint[:6]}-{cell}"
        folders = (self.context.root, subject.folder)
        return Trial(name, subject, task, spec, factors, is_control, self.context.seconds, folders=folders)


def one_after_another(attempts: Sequence[Experiment]) -> Experiment:
    """The first of some experiments, each with the next for where its control comes to nothing; at least one."""
    *sooner, chain = attempts
    for attempt in reversed(sooner):
        chain = replace(attempt, otherwise=chain)
    return chain


def inconclusive(why: str, advice: str) -> Judgement:
    """A verdict that says nothing, with the one thing to do about it."""
    return Judgement(Verdict.INCONCLUSIVE, why, advice)


def worst_of(cells: Mapping[str, Judgement]) -> Judgement:
    """The judgement of a finding whose cells were judged one by one: the worst verdict, with all that led to it."""
    if not cells:
        return inconclusive("no start method to try", "run it without --start-method")
    verdict = min((cell.verdict for cell in cells.values()), key=WORST_FIRST.index)
    told: dict[str, list[str]] = {}
    for factors, cell in cells.items():
        if cell.verdict is verdict:
            told.setdefault(cell.evidence, []).append(factors)
    return Judgement(
        verdict,
        "; ".join(f"{' and '.join(factors)}: {evidence}" for evidence, factors in told.items()),
        next(cell.advice for cell in cells.values() if cell.verdict is verdict),
        {"cells": {factors: cell.verdict.value for factors, cell in cells.items()}},
    )


def not_ended(seen: Observation) -> Judgement | None:
    """The judgement for a trial that was stopped, or died, before it showed anything; None if it ended by itself."""
    return why_ended_early(seen, "it reached the code in question")


def last_line(output: str) -> str:
    """The last line of an output that says something, the place where Python puts an error."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
