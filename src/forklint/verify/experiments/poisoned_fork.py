"""How FKL203 is proved: the program as it is under fork, and under spawn, up to the end of one task in a child."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Context, Experimenter, inconclusive
from forklint.verify.stuck import stuck_in
from forklint.verify.subjects import NEEDS_ARGUMENTS, RUNS_SOMETHING
from forklint.verify.unreached import why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

ENTRY = "pass a script that reaches it: forklint verify SCRIPT -- ARGS"
TIMES_CONTROL = 4
"""A child hangs if its trial takes so many times as long as the control, which did the same on the same machine."""
SHORTEST = 10.0
"""Seconds, and no fewer."""


class PoisonedFork(Experimenter):
    """The treatment forks the children; the control spawns them, which leaves no thread behind."""

    code = "FKL203"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the end of the first task in a child."""
        context = self.context
        if not {"fork", "spawn"} <= set(context.methods("fork", "spawn")):
            return Judgement(
                Verdict.UNSUPPORTED, "it needs fork, and spawn for control", "run it without --start-method"
            )
        if finding.proof["poison"] == "cuda" and not context.environment.torch.get("gpus"):
            advice = "run forklint verify on a machine with a GPU"
            return Judgement(Verdict.UNSUPPORTED, "needs CUDA", advice, needs=("cuda",))
        subject = subject_of(Path(finding.proof["program"]), context)
        if isinstance(subject, Judgement):
            return subject
        spec = {name: finding.proof[name] for name in ("file", "rows", "function")}
        trials = tuple(
            self.trial(finding, subject, "forked", spec, Factors(start_method=method), is_control=method == "spawn")
            for method in ("spawn", "fork")
        )
        claim = f"a forked child needs {finding.proof['what']} in `{finding.proof['function']}`"
        return Experiment(finding, claim, trials)

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A task that does not end in a spawned child shows nothing in a forked one."""
        return unended(controls[0], "spawned")

    def informed(self, trial: Trial, seen: Sequence[Observation]) -> Trial:
        """A hang is certain long before the limit."""
        return with_limit_of(trial, seen)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if the forked child hangs, dies or raises at the task that a spawned one ends."""
        return judged(observations, self.context.root, "under fork", "spawned")


def subject_of(script: Path, context: Context) -> Subject | Judgement:
    """The entry, or the script that leads to the finding if it runs by itself; else why nothing can be run."""
    path = from_root(script)
    text = path.read_bytes()
    if not context.entry and (not RUNS_SOMETHING.search(text) or NEEDS_ARGUMENTS.search(text)):
        return inconclusive(f"{relative_to(path, context.root)} cannot be run on its own", ENTRY)
    folder = context.folder if context.entry else path.parent
    return Subject("entry", context.entry or (str(path),), folder, environment=context.variables)


def with_limit_of(trial: Trial, controls: Sequence[Observation]) -> Trial:
    """The treatment with a limit that rests on how long the control took, if that is shorter than its own."""
    longest = max(seen.wall_seconds for seen in controls)
    return replace(trial, seconds=min(trial.seconds, math.ceil(max(SHORTEST, TIMES_CONTROL * longest))))


def unended(control: Observation, when: str) -> Judgement | None:
    """The judgement for a control in which no task came to its end without an error; None if one did."""
    ends = control.of("task-ends")
    if ends and not ends[0]["error"]:
        return None
    if ends:
        return inconclusive(f"{when}, the task ends with {ends[0]['error']}", "make this work first")
    function = control.trial.spec["function"]
    return why_unreached(control, f"a child had run `{function}`") or inconclusive("no task ended", ENTRY)


def judged(observations: Sequence[Observation], root: Path, when: str, otherwise: str) -> Judgement:
    """What the two trials say of the task: confirmed if it hangs, dies or raises in the treatment alone."""
    control = next(seen for seen in observations if seen.trial.is_control)
    unreached = unended(control, otherwise)
    if unreached is not None:
        return unreached  # then no treatment has been run
    treatment = next(seen for seen in observations if not seen.trial.is_control)
    function = treatment.trial.spec["function"]
    begun, ended = treatment.of("task-begins"), treatment.of("task-ends")
    if ended and not ended[0]["error"]:
        return _unharmed(treatment, function)
    if not begun:
        return why_unreached(treatment, f"a child had run `{function}`") or inconclusive("no task was started", ENTRY)
    stuck = stuck_in(treatment, {record["pid"] for record in begun})
    if ended:
        harm = f"`{function}` raises {ended[0]['error']}"
    elif stuck:
        frame = stuck[0][1]
        place = f"{relative_to(frame.file, root)}:{frame.row}, in {frame.name}"
        harm = f"`{function}` hangs at {place}: still running after {treatment.trial.seconds:g} s"
    else:
        harm = f"the child crashes in `{function}`{_last_words(treatment)}"
    cells = {str(control.trial.factors): "control", str(treatment.trial.factors): "confirmed"}
    return Judgement(Verdict.CONFIRMED, f"{when} {harm}; {otherwise}, it ends normally", details={"cells": cells})


def _unharmed(seen: Observation, function: str) -> Judgement:
    """The child ended its task: nothing was left behind, or it was not missed this time."""
    threads = [record["threads"] for record in seen.of("starts")]
    if threads and all(count == 0 for count in threads):
        return Judgement(Verdict.REFUTED, "no library had started a thread when the child was forked")
    return Judgement(Verdict.NOT_REPRODUCED, f"the forked child finished `{function}`")


def _last_words(seen: Observation) -> str:
    """What the output says of a fork or a signal."""
    lines = [line.strip() for line in seen.output.splitlines() if "fork" in line.lower() or "signal" in line.lower()]
    return f": {lines[0][:160]}" if lines else ""
