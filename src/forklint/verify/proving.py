"""From findings to verdicts: plans the experiments, runs their trials, and asks the experimenters what they show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from forklint.model import Finding
from forklint.parallel import available_cores
from forklint.verify.experiments.base import Context
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
        """What would be run."""
        return self.outcome.trials if isinstance(self.outcome, Experiment) else ()


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
    experiment = planned.outcome
    if isinstance(experiment, Judgement):
        return Result(planned.finding, "", experiment)
    experimenter = experimenters()[planned.finding.code](planned.context)
    began = time.monotonic()
    seen: list[Observation] = []
    judgement = None
    for number in range(experiment.rounds):
        trials = [trial for trial in experiment.trials if number == 0 or not trial.is_control]
        seen += _run(trials, experiment, runner, tell)
        further = experimenter.follow_up(experiment, seen)
        seen += _run(further, experiment, runner, tell) if further else []
        judgement = experimenter.judge(experiment, seen)
        if judgement.verdict is not Verdict.NOT_REPRODUCED or time.monotonic() - began > budget:
            break
    assert judgement is not None  # noqa: S101 - there is a round at least
    return Result(planned.finding, experiment.claim, judgement, tuple(seen))


def _run(trials: Sequence[Trial], experiment: Experiment, runner: Runner, tell: Tell) -> list[Observation]:
    return runner.run_all(
        trials,
        available_cores() if experiment.side_by_side else 1,
        on_start=lambda trial: tell(experiment.finding, trial, None),
        on_end=lambda seen: tell(experiment.finding, seen.trial, seen),
    )
