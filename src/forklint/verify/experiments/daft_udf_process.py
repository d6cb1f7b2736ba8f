"""How FKL602 is proved: the processes that build the class are counted, in the program or for a small class like it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line
from forklint.verify.unreached import why_ended_early
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

PROGRAM = ("-m", "forklint_harness.tasks.daft_class")
DECIDED = {"use_process": False}


class DaftUdfProcess(Experimenter):
    """Where there is no entry, the control is the same class kept in the calling process."""

    code = "FKL602"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """The program itself, or a small class with no options and with ``use_process=False``."""
        context, proof = self.context, finding.proof
        claim = f"Daft creates `{proof['class']}` in processes of its choice, or more than once"
        if context.entry:
            spec = {**proof, "file": str(from_root(Path(finding.path)))}
            subject = Subject("entry", context.entry, context.folder, environment=context.variables)
            return Experiment(finding, claim, (self.trial(finding, subject, "daft_class", spec, Factors()),))
        subject = Subject("stand-in", PROGRAM, context.root)
        plain = self.trial(finding, subject, "daft_class", {**proof, "options": {}}, Factors())
        told = {**proof, "options": DECIDED}
        control = self.trial(finding, subject, "daft_class", told, Factors(environment="told"), is_control=True)
        return Experiment(finding, claim, (control, plain))

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if the class was built elsewhere or more than once, and not so where that was said."""
        seen = observations[-1]
        controls = [one for one in observations if one.trial.is_control]
        for record in seen.of("not-imported"):
            return inconclusive(record["error"], "install daft, or pass an interpreter that has it with --python")
        built = seen.of("built")
        if not built:
            ended = why_ended_early(seen, "the class was created")
            why = ended.evidence if ended else f"the class was not created: {last_line(seen.output) or 'it ended'}"
            return inconclusive(why, "pass a script that runs the query: forklint verify SCRIPT -- ARGS")
        elsewhere = [record for record in built if not record["main"]]
        who = "the class is" if seen.trial.subject.kind == "entry" else "a small class instead of it is"
        evidence = f"{who} created {_times(len(built))}, {_times(len(elsewhere))} in a separate process"
        if not elsewhere and len(built) == 1:
            return Judgement(Verdict.NOT_REPRODUCED, f"{evidence}; Daft chooses depending on how a query runs")
        if any(len(one.of("built")) >= len(built) for one in controls):
            return inconclusive(
                f"{evidence}, also with use_process=False", "pass a script: forklint verify SCRIPT -- ARGS"
            )
        return Judgement(Verdict.CONFIRMED, evidence)


def _times(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{number} times")
