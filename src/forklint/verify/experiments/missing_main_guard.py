"""How FKL201 is proved: the script is run where processes are spawned; a child that starts one itself is seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.subjects import command_of
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict


class MissingMainGuard(Experimenter):
    """The control starts processes by fork, where no child imports the program; the treatments spawn them."""

    code = "FKL201"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the first child."""
        context = self.context
        treatments = context.methods("spawn", "forkserver")
        if not treatments:
            return Judgement(Verdict.UNSUPPORTED, "it needs spawn or forkserver", "leave out --start-method")
        path = from_root(Path(finding.path))
        command, importable = (context.entry, context.importable) if context.entry else command_of(path)
        folder = context.folder if context.entry else path.parent
        subject = Subject("entry", command, folder, importable, context.variables)
        spec = {"file": str(path), "others": context.others}
        trials = tuple(
            self.trial(finding, subject, "guard", spec, Factors(start_method=method), is_control=method == "fork")
            for method in (*context.methods("fork"), *treatments)
        )
        return Experiment(finding, "children start processes while they import the program", trials, side_by_side=True)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if a child was refused its start, refuted if each child came to its work."""
        cells = {str(seen.trial.factors): _cell(seen) for seen in observations}
        for seen in observations:
            for record in seen.of("starts-while-importing"):
                line = f", at {relative_to(Path(record['place']), self.context.root)}" if record["place"] else ""
                words = "RuntimeError: an attempt has been made to start a new process before the current process has "
                evidence = f"under {seen.trial.factors.start_method}{line}: {words}finished its bootstrapping phase"
                return Judgement(Verdict.CONFIRMED, evidence, details={"cells": cells})
        treatments = [seen for seen in observations if not seen.trial.is_control]
        unrun = [seen for seen in treatments for one in seen.of("child-works") if not one["has_run"]]
        if unrun:
            command = unrun[0].trial.subject.command[0]
            why = f"the children of {command} do not come by {experiment.finding.path}"
            return inconclusive(why, "name an entry that imports it: forklint verify SCRIPT -- ARGUMENTS")
        if all(seen.of("child-works") for seen in treatments):
            methods = " and ".join(str(seen.trial.factors.start_method) for seen in treatments)
            evidence = f"under {methods} the child came to its work without starting a process"
            return Judgement(Verdict.REFUTED, evidence, details={"cells": cells})
        silent = next(seen for seen in treatments if not seen.of("child-works"))
        ended = not_ended(silent)
        if ended:
            return ended
        why = f"no process was started under {silent.trial.factors.start_method}: {_words(silent)}"
        return inconclusive(why, "name an entry that gets there: forklint verify SCRIPT -- ARGUMENTS")


def _cell(seen: Observation) -> str:
    if seen.trial.is_control:
        return "control"
    if seen.of("starts-while-importing"):
        return "confirmed"
    return "refuted" if any(one["has_run"] for one in seen.of("child-works")) else "inconclusive"


def _words(seen: Observation) -> str:
    code = seen.ending.exit_code
    return f"it ended with exit code {code}" + (f", {last_line(seen.output)}" if code else "")
