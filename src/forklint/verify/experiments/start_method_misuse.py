"""How FKL202 is proved: the call that should raise is watched as the program makes it, or the module is imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.subjects import module_of
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

NEEDS_DARWIN = Judgement(
    Verdict.UNSUPPORTED, "needs darwin or windows", "run forklint verify there", needs=("darwin", "windows")
)
CLAIMS = {
    "twice": "set_start_method raises",
    "settled": "set_start_method raises",
    "import": "importing it changes the start method, or raises",
    "environment": "later workers of the fork server do not see the variable",
    "fork": "fork is not available, or is unsafe",
}
SENT = Judgement(Verdict.INCONCLUSIVE, "it is refused only where it is sent", "run the program under Linux")
ENTRY = "pass a script that reaches it: forklint verify SCRIPT -- ARGS"


class StartMethodMisuse(Experimenter):
    """One trial: the program as it is, or one that has chosen its start method and imports the module."""

    code = "FKL202"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script that holds the call, or import the module that does."""
        context, proof = self.context, finding.proof
        kind = proof["kind"]
        if kind == "fork" and context.environment.system == "linux":
            return NEEDS_DARWIN
        if kind == "locked":
            return SENT
        path = from_root(Path(finding.path))
        if kind == "import":
            module, folder = module_of(path)
            subject = Subject("module", ("-m", "forklint_harness.tasks.start_method"), context.root)
            spec = {**proof, "module": module, "search": [str(folder), str(context.root)]}
        else:
            folder = context.folder if context.entry else path.parent
            subject = Subject("entry", context.entry or (str(path),), folder, environment=context.variables)
            spec = {**proof, "file": str(path), "rows": (finding.span.row, finding.span.end_row)}
        return Experiment(finding, CLAIMS[kind], (self.trial(finding, subject, "start_method", spec, Factors()),))

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by the error, by the method that was changed, or by a worker that lacks the variable."""
        (seen,) = observations
        kind = experiment.finding.proof["kind"]
        judged = {"import": self._imported, "environment": self._variable}.get(kind, self._set)(seen)
        if judged is not None:
            return judged
        return not_ended(seen) or inconclusive(
            f"the program did not reach it: {last_line(seen.output) or 'it ended by itself'}", ENTRY
        )

    def _set(self, seen: Observation) -> Judgement | None:
        for record in seen.of("set"):
            place = relative_to(Path(record["place"]), self.context.root)
            if record["error"]:
                return Judgement(Verdict.CONFIRMED, f"at {place}: {record['error']}")
            if seen.trial.spec["kind"] == "fork":
                return Judgement(
                    Verdict.NOT_REPRODUCED, f"at {place} the method is set; whether a child crashes depends on timing"
                )
            return Judgement(Verdict.REFUTED, f"at {place} the call raises no error")
        return None

    def _imported(self, seen: Observation) -> Judgement | None:
        for record in seen.of("imported"):
            if "context has already been set" in record["error"]:
                why = f"imported by a program that has set {record['own']}: {record['error']}"
                return Judgement(Verdict.CONFIRMED, why)
            if record["error"]:
                return inconclusive(f"the import fails with {record['error']}", "make the module importable here")
            if record["left"] != record["own"]:
                why = f"a program that has set {record['own']} has {record['left']} after the import"
                return Judgement(Verdict.CONFIRMED, why)
            return Judgement(Verdict.REFUTED, f"a program that has set {record['own']} still has it after the import")
        return None

    def _variable(self, seen: Observation) -> Judgement | None:
        for record in seen.of("variable"):
            later = [child for child in seen.of("child") if child["time"] > record["time"]]
            lacking = [child for child in later if child["value"] != record["value"]]
            name = seen.trial.spec["method"]
            if lacking:
                held = lacking[0]["value"]
                why = f"{len(lacking)} of {len(later)} later workers have {name} = {held}, not {record['value']!r}"
                return Judgement(Verdict.CONFIRMED, why)
            if later:
                return Judgement(Verdict.REFUTED, f"all {len(later)} later workers have {name} = {record['value']!r}")
            return inconclusive("no worker started after the variable was set", ENTRY)
        return None
