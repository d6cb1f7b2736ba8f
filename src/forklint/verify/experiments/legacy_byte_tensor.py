"""How FKL603 is proved: the call is made with the torch at hand, and what torch says of it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forklint.model import Finding
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

COMMAND = ("-m", "forklint_harness.tasks.byte_tensor")


class LegacyByteTensor(Experimenter):
    """The control is ``torch.frombuffer``."""

    code = "FKL603"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Two trials that need nothing of the project."""
        subject = Subject("class", COMMAND, self.context.root, environment=self.context.variables)
        trials = []
        for is_control in (True, False):
            spec = {"storage": not is_control}
            trial = self.trial(finding, subject, "byte_tensor", spec, Factors(), is_control=is_control)
            trials.append(replace(trial, name=f"{trial.name}-{'frombuffer' if is_control else 'storage'}"))
        return Experiment(finding, "torch warns about the storage, but not about `torch.frombuffer`", tuple(trials))

    def imports(self, finding: Finding) -> bool:
        """Nothing of the project is run."""
        return False

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A torch without ``frombuffer``, or one that warns of it as well, offers nothing better."""
        return next((found for seen in controls if (found := self._failed(seen))), None)

    def _failed(self, seen: Observation) -> Judgement | None:
        for record in seen.of("raised"):
            return inconclusive(f"`torch.frombuffer` ends with {record['error']}", "use torch 1.10 or newer")
        for record in seen.of("made"):
            if record["same"] and not record["warnings"]:
                return None
            said = "; ".join(record["warnings"]) or "other bytes"
            return inconclusive(f"`torch.frombuffer` returns {said}", "see its output with --replay")
        return not_ended(seen) or inconclusive(
            last_line(seen.output) or "it ended early", "see its output with --replay"
        )

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by the warning or by an error; refuted where torch says nothing."""
        failed = self.unprovable([seen for seen in observations if seen.trial.is_control])
        if failed is not None:
            return failed
        (seen,) = (one for one in observations if not one.trial.is_control)
        for record in seen.of("raised"):
            return Judgement(Verdict.CONFIRMED, record["error"])
        for record in seen.of("made"):
            if record["warnings"]:
                return Judgement(Verdict.CONFIRMED, " ".join(record["warnings"][0].split())[:120])
            return Judgement(Verdict.REFUTED, "this torch creates it without a warning")
        return not_ended(seen) or inconclusive(
            last_line(seen.output) or "it ended early", "see its output with --replay"
        )
