"""How FKL402 is proved: a loader with these options is made for a few numbers, and one without the refused option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forklint.model import Finding
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

COMMAND = ("-m", "forklint_harness.tasks.options")
MPS = "MPS"
"""What torch's warning of memory that is not pinned speaks of."""
NEEDS_MPS = Judgement(Verdict.UNSUPPORTED, "needs MPS", "run forklint verify on a Mac with MPS", needs=("mps",))


class ConflictingLoaderOptions(Experimenter):
    """The control leaves the option out; a loader refuses by its arguments alone, whatever the dataset holds."""

    code = "FKL402"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Two trials that differ in one option."""
        proof = finding.proof
        if proof["option"] == "pin_memory" and not self.context.environment.torch.get("mps"):
            return NEEDS_MPS
        subject = Subject("class", COMMAND, self.context.root, environment=self.context.variables)
        trials = []
        for is_control in (True, False):
            options = {k: v for k, v in proof["options"].items() if not is_control or k != proof["option"]}
            spec = {"loader": proof["loader"], "options": options, "iterable": proof["iterable"]}
            trial = self.trial(finding, subject, "options", spec, Factors(), is_control=is_control)
            trials.append(replace(trial, name=f"{trial.name}-{'without' if is_control else 'with'}"))
        claim = f"`{proof['option']}` cannot be combined with the other options"
        return Experiment(finding, claim, tuple(trials))

    def imports(self, finding: Finding) -> bool:
        """Nothing of the project is run."""
        return False

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is refused without the option, too, shows nothing with it."""
        return next((found for seen in controls if (found := self._failed(seen))), None)

    def _failed(self, seen: Observation) -> Judgement | None:
        for record in seen.of("not-imported"):
            return inconclusive(f"the import fails with {record['error']}", "install the packages of the program")
        for record in seen.of("refused"):
            why = f"without it the loader raises an error, too: {record['error']}"
            return inconclusive(why, "fix the other findings of this call first")
        if seen.of("batch"):
            return None
        return not_ended(seen) or inconclusive(
            last_line(seen.output) or "it ended early", "see its output with --replay"
        )

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by the error, or, of pinned memory, by the warning; refuted by a batch."""
        failed = self.unprovable([seen for seen in observations if seen.trial.is_control])
        if failed is not None:
            return failed
        (seen,) = (one for one in observations if not one.trial.is_control)
        proof = experiment.finding.proof
        for record in seen.of("refused"):
            return Judgement(Verdict.CONFIRMED, f"{record['error']} (when it is {record['when']})")
        for record in seen.of("batch"):
            return _of_batch(record, proof)
        return not_ended(seen) or inconclusive(
            last_line(seen.output) or "it ended early", "see its output with --replay"
        )


def _of_batch(record: Mapping[str, Any], proof: Mapping[str, Any]) -> Judgement:
    told = [text for text in record["warnings"] if MPS in text]
    if proof["option"] == "pin_memory" and told:
        return Judgement(Verdict.CONFIRMED, told[0])
    return Judgement(Verdict.REFUTED, "with it, the loader is created and returns a batch")
