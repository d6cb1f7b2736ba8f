"""How FKL205 is proved: the program as it is, and with the variable held at false, up to one task in a forked child."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.verify.experiments import poisoned_fork
from forklint.verify.experiments.base import Experimenter, inconclusive
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Trial, Verdict

FALSE = "with the variable at false"


class UnsafeWorkerEnv(Experimenter):
    """Both fork; they differ in the value of the variable alone."""

    code = "FKL205"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the end of the first task in a child."""
        if not self.context.methods("fork"):
            return Judgement(Verdict.UNSUPPORTED, "it needs fork", "run it without --start-method")
        function = finding.proof["function"]
        if not function:
            return inconclusive(
                "no code is known that tokenizes in a child process", "pass a script whose workers tokenize"
            )
        subject = poisoned_fork.subject_of(Path(finding.path), self.context)
        if isinstance(subject, Judgement):
            return subject
        variable = finding.proof["variable"]
        spec = {name: finding.proof[name] for name in ("file", "rows", "function")}
        trials = (
            self.trial(
                finding,
                subject,
                "forked",
                {**spec, "held": {variable: "false"}},
                Factors(start_method="fork", environment=f"{variable}=false"),
                is_control=True,
            ),
            self.trial(finding, subject, "forked", spec, Factors(start_method="fork")),
        )
        return Experiment(finding, f"{variable}=true makes a forked child hang in `{function}`", trials)

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A task that does not end with the variable at false shows nothing with it at true."""
        return poisoned_fork.unended(controls[0], FALSE)

    def informed(self, trial: Trial, seen: Sequence[Observation]) -> Trial:
        """A hang is certain long before the limit."""
        return poisoned_fork.with_limit_of(trial, seen)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if the child hangs at the task that it ends with the variable at false."""
        return poisoned_fork.judged(observations, self.context.root, "with it at true", FALSE)
