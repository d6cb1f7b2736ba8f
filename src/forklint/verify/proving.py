"""One experiment from its trials to its judgement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from forklint.verify.words import Experiment, Judgement, Observation, Trial


class Judge(Protocol):
    """The side of an experiment's module that comes after the trials."""

    def judge(self, experiment: Experiment, observations: Sequence[Observation], /) -> Judgement:
        """What the observations say."""


RunAll = Callable[[Sequence[Trial]], Sequence[Observation]]
"""Runs trials, gives their observations in the same order: ``Runner.run_all``."""


def prove(experiment: Experiment, judge: Judge, run_all: RunAll) -> tuple[Judgement, tuple[Observation, ...]]:
    """Run an experiment's trials, and those that its module's ``follow_up`` asks for, and judge them."""
    seen = list(run_all(experiment.trials))
    follow_up = getattr(judge, "follow_up", None)
    if follow_up is not None:
        further = follow_up(experiment, tuple(seen))
        if further:
            seen += run_all(further)
    return judge.judge(experiment, tuple(seen)), tuple(seen)
