"""From findings to verdicts: plans the experiments, runs their trials, and asks the experimenters what they show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from forklint.model import Finding
from forklint.parallel import available_cores
from forklint.verify.experiments.base import Context, Experimenter
from forklint.verify.experiments.registry import experimenters
from forklint.verify.runner import Runner
from forklint.verify.words import Experiment, Judgement, Observation, Trial, Verdict

Tell = Callable[[Finding, Trial, Observation | None], None]
"""Called when a trial begins (no observation yet) and when it has ended."""


@dataclass(frozen=True)
class Planned:
    """A finding and what is to be done about it: an experiment, or a verdict at once."""

    finding: Finding
    context: Context
    outcome: Experiment | Judgement

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What would be run, that included which is for where the first comes to nothing."""
        if isinstance(self.outcome, Judgement):
            return ()
        return tuple(trial for attempt in self.outcome.attempts for trial in attempt.trials)


@dataclass(frozen=True)
class Result:
    """A finding, what was run for it, and the verdict."""

    finding: Finding
    claim: str
    judgement: Judgement
    observations: tuple[Observation, ...] = ()


def plan(findings: Iterable[Finding], context_of: Callable[[Finding], Context]) -> list[Planned]:
    """Plan an experiment for each finding of a rule that has one; the others are left out."""
    planned = []
    for finding in findings:
        experimenter = experimenters().get(finding.code)
        if experimenter is not None:
            context = context_of(finding)
            planned.append(Planned(finding, context, experimenter(context).plan(finding)))
    return planned


def prove(planned: Planned, runner: Runner, budget: float, tell: Tell) -> Result:
    """Run the trials of one experiment, its treatments again while they may still show harm, and judge.

    ``budget``: seconds after which no further round begins.
    """
    if isinstance(planned.outcome, Judgement):
        return Result(planned.finding, "", planned.outcome)
    experimenter = experimenters()[planned.finding.code](planned.context)
    seen: list[Observation] = []
    judgement = None
    for experiment in planned.outcome.attempts:
        instead_of = judgement or experiment.instead_of
        attempt = _Attempt(replace(experiment, instead_of=instead_of), experimenter, runner, tell)
        judgement = attempt.prove(budget)
        seen += attempt.seen
        if attempt.is_reached:
            break
    assert judgement is not None  # noqa: S101 - there is an attempt at least
    return Result(planned.finding, planned.outcome.claim, judgement, tuple(seen))


class _Attempt:
    """One experiment, run until it shows harm, or for as long as it may."""

    def __init__(self, experiment: Experiment, experimenter: Experimenter, runner: Runner, tell: Tell) -> None:
        self.experiment = experiment
        self.seen: list[Observation] = []
        self.is_reached = True
        """Whether the program came to what it was to show: if not, something else may."""
        self._experimenter = experimenter
        self._run_all = partial(_run, experiment=experiment, runner=runner, tell=tell)

    def prove(self, budget: float) -> Judgement:
        """Run the controls, and the treatments if those came to where they should; judge."""
        experiment, experimenter = self.experiment, self._experimenter
        began = time.monotonic()
        if not experiment.side_by_side:
            self.seen += self._run_all([trial for trial in experiment.trials if trial.is_control])
            if not all(map(experimenter.is_reached, self.seen)):
                self.is_reached = any(control.of("done") for control in self.seen)
                return experimenter.judge(experiment, self.seen)
        judgement = None
        for number in range(experiment.rounds):
            with_controls = experiment.side_by_side and number == 0
            self.seen += self._run_all([one for one in experiment.trials if with_controls or not one.is_control])
            further = experimenter.follow_up(experiment, self.seen)
            self.seen += self._run_all(further) if further else []
            judgement = experimenter.judge(experiment, self.seen)
            if judgement.verdict is not Verdict.NOT_REPRODUCED or time.monotonic() - began > budget:
                break
        assert judgement is not None  # noqa: S101 - there is a round at least
        return judgement


def _run(trials: Sequence[Trial], experiment: Experiment, runner: Runner, tell: Tell) -> list[Observation]:
    return runner.run_all(
        trials,
        available_cores() if experiment.side_by_side else 1,
        on_start=lambda trial: tell(experiment.finding, trial, None),
        on_end=lambda seen: tell(experiment.finding, seen.trial, seen),
    )
