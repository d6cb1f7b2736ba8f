"""How FKL201 is proved: the script is run where processes are spawned; a child that starts one itself is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended, one_after_another
from forklint.verify.subjects import command_of
from forklint.verify.tolerant import Shown, how_it_ended, judged, pair, tolerance, tolerant_subject
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

CLAIM = "child processes start processes while they import the program"
REFUSED = (
    "RuntimeError: an attempt has been made to start a new process before the current process has finished its "
    "bootstrapping phase"
)
ENTRY = "pass a script that reaches it: forklint verify SCRIPT -- ARGS"
DECIDES = ("num_workers", "multiprocessing_context")
"""Options of a loader that decide whether it starts processes, and how."""


class MissingMainGuard(Experimenter):
    """The control starts processes by fork, where no child imports the program; the treatments spawn them."""

    code = "FKL201"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the script as it is run in life, up to the first child."""
        context = self.context
        treatments = context.methods("spawn", "forkserver")
        if not treatments:
            return Judgement(Verdict.UNSUPPORTED, "it needs spawn or forkserver", "run it without --start-method")
        path = from_root(Path(finding.path))
        command, importable = (context.entry, context.importable) if context.entry else command_of(path)
        folder = context.folder if context.entry else path.parent
        subject = Subject("entry", command, folder, importable, context.variables)
        spec = {"file": str(path), "others": context.others}
        trials = tuple(
            self.trial(finding, subject, "guard", spec, Factors(start_method=method), is_control=method == "fork")
            for method in (*context.methods("fork"), *treatments)
        )
        ordinary = Experiment(finding, CLAIM, trials, side_by_side=True)
        return one_after_another([ordinary, self._tolerant(finding, trials[-len(treatments)], path)])

    def _tolerant(self, finding: Finding, trial: Trial, path: Path) -> Experiment:
        """The same program where the world is missing, as it is and with the fix, by one start method."""
        context = self.context
        tolerant = tolerance(finding, context.root, context.project())
        rows = tolerant["claimed"][str(path.resolve())][0]
        wanted = replace(trial, subject=tolerant_subject(trial.subject), spec={**trial.spec, "rows": rows})
        change = {"guarded": {str(path.resolve()): rows[0]}}
        trials = pair(wanted, tolerant, finding, change)
        return Experiment(finding, CLAIM, trials, side_by_side=True, is_tolerant=True)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed if a child was refused its start, refuted if each child came to its work."""
        if experiment.is_tolerant:
            as_it_is, control = (_shown(seen) for seen in observations)
            return judged(as_it_is, control, observations)
        cells = {str(seen.trial.factors): _cell(seen) for seen in observations}
        for seen in observations:
            for record in seen.of("starts-while-importing"):
                line = f", at {relative_to(Path(record['place']), self.context.root)}" if record["place"] else ""
                evidence = f"under {seen.trial.factors.start_method}{line}: {REFUSED}"
                return Judgement(Verdict.CONFIRMED, evidence, details={"cells": cells})
        treatments = [seen for seen in observations if not seen.trial.is_control]
        unrun = [seen for seen in treatments for one in seen.of("child-works") if not one["has_run"]]
        if unrun:
            command = unrun[0].trial.subject.command[0]
            why = f"the child processes of {command} do not import {experiment.finding.path}"
            return inconclusive(why, "pass a script that imports it: forklint verify SCRIPT -- ARGS")
        if all(seen.of("child-works") for seen in treatments):
            methods = " and ".join(str(seen.trial.factors.start_method) for seen in treatments)
            evidence = f"under {methods} the child did its work without starting a process"
            return Judgement(Verdict.REFUTED, evidence, details={"cells": cells})
        silent = next(seen for seen in treatments if not seen.of("child-works"))
        ended = not_ended(silent)
        if ended:
            return ended
        why = f"no process was started under {silent.trial.factors.start_method}: {_words(silent)}"
        return inconclusive(why, ENTRY)


def _shown(seen: Observation) -> Shown:
    """What one trial of a pair showed: where the program starts a process, and whether a child starts one there."""
    starts, works = seen.of("starts"), seen.of("child-works")
    if not starts:
        return Shown(why=not_ended(seen) or inconclusive(f"no process was started: {how_it_ended(seen)}", ENTRY))
    first = starts[0]
    refused = [one for one in seen.of("starts-while-importing") if _is_at(one, first, seen)]
    made_up = tuple(
        f"the loader's {name} is replaced by a stand-in ({what})"
        for name, what in first["made_up"].items()
        if name in DECIDES
    )
    harm = ""
    if refused:
        place = relative_to(Path(refused[0]["place"]), Path.cwd())
        harm = f"under {seen.trial.factors.start_method}, at {place}: {REFUSED}"
    elsewhere = seen.of("starts-while-importing")
    other = f"a child starts a process elsewhere, at {elsewhere[0]['place']}" if elsewhere and not refused else ""
    ended = not_ended(seen)
    other = other or (
        "" if works or refused else ended.evidence if ended else f"the child ended early: {how_it_ended(seen)}"
    )
    came = any(one["has_run"] for one in works)
    if works and not came:
        other = other or f"the child processes do not import {relative_to(Path(seen.trial.spec['file']), Path.cwd())}"
    return Shown((first["text"], first["workers"]), harm, other, made_up, works=came, spared=came)


def _is_at(refused: Mapping[str, Any], start: Mapping[str, Any], seen: Observation) -> bool:
    """Whether a child was refused where the program itself starts its first process, on the way of the finding."""
    if refused["text"] != start["text"]:
        return False
    if seen.trial.is_control:
        return True  # its rows are others
    file, (first, last) = seen.trial.spec["file"], seen.trial.spec["rows"]
    rows = [int(row) for name, _, row in (one.rpartition(":") for one in refused["stack"]) if Path(name) == Path(file)]
    return any(first <= row <= last for row in rows)


def _cell(seen: Observation) -> str:
    if seen.trial.is_control:
        return "control"
    if seen.of("starts-while-importing"):
        return "confirmed"
    return "refuted" if any(one["has_run"] for one in seen.of("child-works")) else "inconclusive"


def _words(seen: Observation) -> str:
    code = seen.ending.exit_code
    return f"it ended with exit code {code}" + (f", {last_line(seen.output)}" if code else "")
