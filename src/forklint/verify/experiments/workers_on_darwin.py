"""How FKL401 is proved: on macOS by running it; elsewhere it cannot be."""

from __future__ import annotations

from collections.abc import Sequence

from forklint.model import Finding
from forklint.verify.experiments.base import Experimenter
from forklint.verify.words import Experiment, Judgement, Observation, Verdict


class WorkersOnDarwin(Experimenter):
    """Says what it needs."""

    code = "FKL401"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Nothing is run where macOS is not at hand."""
        return Judgement(Verdict.UNSUPPORTED, "it needs darwin", "run forklint verify on a Mac")

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Never asked: nothing is planned."""
        raise NotImplementedError
