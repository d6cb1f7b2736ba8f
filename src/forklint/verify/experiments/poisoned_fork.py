"""How FKL203 is proved: the program as it is under fork, and under spawn, up to the end of one task in a child."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive
from forklint.verify.stuck import stuck_in
from forklint.verify.subjects import NEEDS_ARGUMENTS, RUNS_SOMETHING
from forklint.verify.unreached import why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

ENTRY = "name an entry that gets there: forklint verify SCRIPT -- ARGUMENTS"


class PoisonedFork(Experimenter):
    """The treatment forks the children; the control spawns them, which leaves no thread behind."""

    code = "FKL203"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the end of the first task in a child."""
        context = self.context
        if not {"fork", "spawn"} <= set(context.methods("fork", "spawn")):
            return Judgement(Verdict.UNSUPPORTED, "it needs fork, and spawn for control", "leave out --start-method")
        if finding.proof["poison"] == "cuda" and not context.environment.torch.get("gpus"):
            return Judgement(Verdict.UNSUPPORTED, "needs CUDA", "run forklint verify on a machine with a card")
        path = from_root(Path(finding.path))
        text = path.read_bytes()
        if not context.entry and (not RUNS_SOMETHING.search(text) or NEEDS_ARGUMENTS.search(text)):
            return inconclusive(f"{finding.path} is not run by itself", ENTRY)
        command = context.entry or (str(path),)
        folder = context.folder if context.entry else path.parent
        subject = Subject("entry", command, folder, environment=context.variables)
        spec = {name: finding.proof[name] for name in ("file", "rows", "function")}
        trials = tuple(
            self.trial(finding, subject, "forked", spec, Factors(start_method=method), is_control=method == "spawn")
            for method in ("spawn", "fork")
        )
        claim = f"a forked child at `{finding.proof['function']}` misses {finding.proof['what']}"
        return Experiment(finding, claim, trials)

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A task that does not end in a spawned child shows nothing in a forked one."""
        control = controls[0]
        ends = control.of("task-ends")
        if ends and not ends[0]["error"]:
            return None
        if ends:
            return inconclusive(f"spawned, the task ends with {ends[0]['error']}", "make it run under spawn first")
        function = control.trial.spec["function"]
        return why_unreached(control, f"a spawned child had run `{function}`") or inconclusive("no task ended", ENTRY)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if the forked child hangs, dies or raises at the task that a spawned one ends."""
        control = next(seen for seen in observations if seen.trial.is_control)
        unreached = self.unprovable([control])
        if unreached is not None:
            return unreached
        seen = next(seen for seen in observations if not seen.trial.is_control)
        function = seen.trial.spec["function"]
        begun, ended = seen.of("task-begins"), seen.of("task-ends")
        if ended and ended[0]["error"]:
            return self._confirmed(f"`{function}` raises {ended[0]['error']}")
        if ended:
            return self._unharmed(seen, function)
        if not begun:
            return why_unreached(seen, f"a forked child had run `{function}`") or inconclusive("no task began", ENTRY)
        stuck = stuck_in(seen, {record["pid"] for record in begun})
        if stuck:
            frame = stuck[0][1]
            where = f"at {relative_to(frame.file, self.context.root)}:{frame.row}, in {frame.name}"
            return self._confirmed(f"`{function}` hangs {where}: no end after {seen.trial.seconds:g} s")
        return self._confirmed(f"the child dies in `{function}`{_last_words(seen)}")

    def _confirmed(self, words: str) -> Judgement:
        cells = {"spawn": "control", "fork": "confirmed"}
        return Judgement(Verdict.CONFIRMED, f"under fork {words}; spawned, it ends", details={"cells": cells})

    def _unharmed(self, seen: Observation, function: str) -> Judgement:
        """The forked child ended its task: nothing was left behind, or it was not missed this time."""
        threads = [record["threads"] for record in seen.of("starts")]
        if threads and all(count == 0 for count in threads):
            return Judgement(Verdict.REFUTED, "no library had started a thread when the child was forked")
        return Judgement(Verdict.NOT_REPRODUCED, f"the forked child came to the end of `{function}`")


def _last_words(seen: Observation) -> str:
    """What the output says of a fork or a signal."""
    lines = [line.strip() for line in seen.output.splitlines() if "fork" in line.lower() or "signal" in line.lower()]
    return f": {lines[0][:160]}" if lines else ""
