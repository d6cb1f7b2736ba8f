"""FKL306: a dataset's attribute is changed after the first epoch, and persistent workers do not see it.

The control has no workers, and sees the change. Each treatment has persistent workers by another start method.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify.experiments.base import Experimenter, inconclusive, worst_of
from forklint.verify.subjects import NO_WAY_OUT, subject_of
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Verdict

WORKERS = 2
BATCHES = 4


class LostDatasetUpdate(Experimenter):
    """One control and a treatment for each start method."""

    code = "FKL306"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find a program that makes the loader."""
        proof, context = finding.proof, self.context
        path = from_root(Path(proof["call"]["file"]))
        subject = subject_of(path, self.context.sources, context.project())
        if subject is None:
            return inconclusive(f"no script is known that creates the loader in {path.name}", NO_WAY_OUT)
        methods = context.methods("fork", "spawn", "forkserver")
        if not methods:
            return inconclusive("no start method to try", "run it without --start-method")
        spec = {
            "call": proof["call"],
            "dataset": dict(zip(("file", "qualname"), proof["dataset"], strict=True)),
            "attribute": proof["attribute"],
            "batches": BATCHES,
            "others": context.others,
        }
        cells = [Factors(workers=0), *(Factors(method, WORKERS) for method in methods)]
        trials = [self.trial(finding, subject, "update", spec, cell, is_control=not cell.workers) for cell in cells]
        claim = f"workers do not see that `{proof['attribute']}` is changed"
        return Experiment(finding, claim, tuple(trials), side_by_side=True)

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """Without workers the change must be seen; if it is not, something else is at work."""
        for seen in controls:
            unreached = why_unreached(seen, "the loader")
            if unreached:
                return unreached
            if seen.of("no-dataset"):
                return inconclusive("the loader's dataset is of another class", "pass a script that creates it")
            if _values(seen)[2] is not True:
                return inconclusive("the change is not seen without workers, either", "check how it is stored")
        return None

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed where workers go on with the value of the first epoch, refuted where they have the new one."""
        problem = self.unprovable([seen for seen in observations if seen.trial.is_control])
        if problem:
            return problem
        judged = {str(seen.trial.factors): _cell(seen) for seen in observations if not seen.trial.is_control}
        return worst_of(judged)


def _values(seen: Observation) -> tuple[str, str, bool | None]:
    """The attribute before and after the change, and whether whoever read the last batches had the new value.

    None in place of the last if nobody was seen to read after the change.
    """
    epochs = seen.of("epoch")
    if len(epochs) < 2:
        return "", "", None
    old, new = str(epochs[0]["has"]), str(epochs[1]["has"])
    later = [record["has"] for record in seen.of("seen") if record["time"] > epochs[1]["time"]]
    if not later or old == new:
        return old, new, None
    return old, new, all(has == new for has in later)


def _cell(seen: Observation) -> Judgement:
    unreached = why_unreached(seen, "the loader")
    if unreached:
        return unreached
    old, new, has_new = _values(seen)
    if has_new is None:
        errors = seen.of("error")
        words = f"{errors[0]['type']}: {first_line(errors[0]['text'])}" if errors else "no batch was read"
        return inconclusive(f"no second epoch could be read: {words}", "make it work with these workers first")
    if has_new:
        return Judgement(Verdict.REFUTED, f"workers see the change from {old} to {new}")
    return Judgement(Verdict.CONFIRMED, f"workers still have {old} after it was changed to {new}")
