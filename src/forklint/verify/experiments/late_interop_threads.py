"""How FKL102 is proved: the number is set as soon as torch has been imported, and where the program sets it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.experiments.poisoned_fork import subject_of
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Verdict


class LateInteropThreads(Experimenter):
    """One call, early and late: torch refuses the one and not the other."""

    code = "FKL102"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the call."""
        in_child = finding.proof["in_child"]
        if in_child and not self.context.methods("fork"):
            return Judgement(Verdict.UNSUPPORTED, "it needs fork", "run it without --start-method")
        subject = subject_of(Path(finding.path), self.context)
        if isinstance(subject, Judgement):
            return subject
        spec = {name: finding.proof[name] for name in ("file", "rows")}
        method = "fork" if in_child else None
        trials = tuple(
            self.trial(finding, subject, "interop", spec, Factors(method, environment=when), is_control=when == "early")
            for when in ("early", "late")
        )
        return Experiment(finding, "torch raises an error when the number is set", trials, side_by_side=True)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if torch refuses the late call alone, refuted if it takes it."""
        seen = {one.trial.factors.environment: one for one in observations}
        early, late = seen["early"].of("set"), seen["late"].of("set")
        finding = experiment.finding
        if not early or early[0]["error"]:
            why = early[0]["error"] if early else last_line(seen["early"].output) or "torch was never imported"
            return not_ended(seen["early"]) or inconclusive(f"early: {why}", "make it run without forklint first")
        refused = next((record for record in late if record["error"]), None)
        if refused is not None:
            path, _, row = refused["place"].rpartition(":")
            where = f"{relative_to(Path(path), self.context.root)}:{row}"
            return Judgement(Verdict.CONFIRMED, f"at {where} torch raises: {refused['error']}")
        if late:
            return Judgement(Verdict.REFUTED, f"torch accepted the number {len(late)} times, without an error")
        why = last_line(seen["late"].output) or f"{finding.path}:{finding.span.row} was never reached"
        return not_ended(seen["late"]) or inconclusive(why, f"pass a script that reaches {finding.path}")
