"""FKL204: what is sent to a process cannot be pickled, or is not found by it.

A loader is read with no workers and with forked ones, where nothing is pickled, and then with workers that are sent
their payload. What goes to other processes is pickled at the call as multiprocessing does it, and the program ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify import slices
from forklint.verify.experiments.base import Experimenter, inconclusive, one_after_another, worst_of
from forklint.verify.subjects import RUNS_SOMETHING, command_of, subject_of, subjects_for
from forklint.verify.tolerant import Shown, how_it_ended, judged, pair, tolerance, tolerant_subject
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

BACKTICKED = re.compile(r"`([^`]+)`")
LAMBDA_OR_FUNCTION = r"the (lambda|(local )?function)\b"
WITH_ARGUMENTS = "pass the arguments with which it is sent: forklint verify SCRIPT -- ARGS"
WORKERS = 2
BATCHES = 2
PROCESSES = {"Process", "SpawnProcess", "ForkServerProcess", "Pool", "ProcessPoolExecutor", "spawn", "start_processes"}


class UnpicklablePayload(Experimenter):
    """The controls pickle nothing; each treatment is a start method that does."""

    code = "FKL204"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find the program that makes the call, and make a trial for each start method."""
        proof = finding.proof
        to = "pipe" if proof["piped"] else "process" if proof["to"] in PROCESSES else "loader"
        subject = self._subject(finding, to)
        tolerant = self._tolerant(finding, to, subject)
        if isinstance(subject, Judgement):
            return one_after_another([replace(one, instead_of=subject) for one in tolerant]) if tolerant else subject
        methods = self.context.methods("fork", "spawn", "forkserver")
        spec = self._spec(finding, to)
        trials = [self._trial(finding, subject, spec, method) for method in methods]
        if to == "loader":
            trials.insert(0, self.trial(finding, subject, "payload", spec, Factors(workers=0), is_control=True))
        if all(trial.is_control for trial in trials):
            return Judgement(Verdict.UNSUPPORTED, "it needs spawn or forkserver", "run it without --start-method")
        claim = f"{proof['what']} cannot be sent to a process"
        ordinary = Experiment(finding, claim, tuple(trials), side_by_side=to != "loader")
        return one_after_another([ordinary, *tolerant])

    def _tolerant(self, finding: Finding, to: str, subject: Subject | Judgement) -> list[Experiment]:
        """Pairs by one start method that pickles: the user's entry, the script itself, or the call by itself."""
        methods = self.context.methods("spawn", "forkserver")
        if not methods or to == "pipe":
            return []
        context, proof = self.context, finding.proof
        if context.entry and isinstance(subject, Subject):
            return [self._pair(finding, to, methods[0], subject, {})]
        place = from_root(Path(proof["dataset"][0] if proof["dataset"] else proof["call"]["file"]))
        return [self._pair(finding, to, methods[0], *way) for way in self._ways(finding, place)]

    def _pair(self, finding: Finding, to: str, method: str, program: Subject, reach: Mapping[str, Any]) -> Experiment:
        """The trials of one program; ``reach`` says what of a file is called where no program does."""
        context, proof = self.context, finding.proof
        spec = {**self._spec(finding, to), "batches": 1}
        spec |= {"reach": reach} if reach else {}
        entered = (Path(reach["file"]),) if reach else ()
        facts = tolerance(finding, context.root, context.project(), further=entered)
        factors = Factors(method, 1 if to == "loader" else None)
        trial = self.trial(finding, tolerant_subject(program), "payload", spec, factors)
        if reach:
            trial = replace(trial, name=f"{trial.name}-alone")
        trials = pair(trial, facts, finding, {"by_value": self._claimed(finding)})
        claim = f"{proof['what']} cannot be sent to a process"
        return Experiment(finding, claim, trials, side_by_side=True, is_tolerant=True)

    def _ways(self, finding: Finding, place: Path) -> Iterator[tuple[Subject, dict[str, Any]]]:
        """The script as a program, where the call stands at its top level or it runs itself; then what is called.

        A method that a script leaves to a framework, which may be missing, it does not call by itself. A function that
        it never calls is left alone.
        """
        context, proof = self.context, finding.proof
        around = (
            proof["dataset"][1]
            if proof["dataset"]
            else slices.definition_around(context.project(), place, proof["call"]["first"])
        )
        runs_itself = RUNS_SOMETHING.search(place.read_bytes()) is not None
        is_program = proof["late"] or not around or (runs_itself and not proof["dataset"])
        if is_program:
            command, importable = command_of(place)
            yield Subject("entry", command, place.parent, importable, context.variables), {}
        if around and not proof["late"] and (not is_program or "." in around):
            reach = {"file": str(place), "qualname": around, "makes_loader": bool(proof["dataset"])}
            yield Subject("entry", ("--reach",), context.root, environment=context.variables), reach

    def _claimed(self, finding: Finding) -> dict[str, str]:
        """The name of the function or class that is sent, and its file."""
        named = BACKTICKED.search(finding.proof["what"])
        links = [link.path for link in finding.chain if link.message == "it is here"]
        file = links[0] if links else finding.path
        return {"name": named[1] if named else "<lambda>", "file": str(from_root(Path(file)))}

    def _sought(self, finding: Finding) -> dict[str, Any] | None:
        """The same, and its row, of a function that a loader gets; nothing where that is something else."""
        what = finding.proof["what"]
        if not re.match(LAMBDA_OR_FUNCTION, what):
            return None
        claimed = self._claimed(finding)
        rows = [link.row for link in finding.chain if link.message == "it is here"]
        lines = from_root(Path(claimed["file"])).read_text(encoding="utf-8", errors="replace").splitlines()
        row = rows[0] if rows else finding.span.row
        is_there = claimed["name"] == "<lambda>" and "lambda" in lines[row - 1]
        return {**claimed, "row": row if is_there else None}

    def _trial(self, finding: Finding, subject: Subject, spec: Mapping[str, Any], method: str) -> Trial:
        workers = WORKERS if spec["to"] == "loader" else None
        pickles_nothing = method == "fork" and spec["to"] != "pipe"
        return self.trial(finding, subject, "payload", spec, Factors(method, workers), is_control=pickles_nothing)

    def _subject(self, finding: Finding, to: str) -> Subject | Judgement:
        context, proof = self.context, finding.proof
        project = context.project()
        if proof["dataset"] is not None:
            path, qualname = proof["dataset"]
            found = subjects_for(Path(path), qualname, self.context.sources, project)
            return next((one for one in found if isinstance(one, Subject)), found[0])
        path = from_root(Path(proof["call"]["file"]))
        subject = subject_of(path, self.context.sources, project)
        if subject is None and to != "loader":
            subject = Subject("entry", (str(path),), path.parent, environment=context.variables)
        advice = "pass a script that makes it: forklint verify SCRIPT -- ARGS"
        return subject or inconclusive(f"no script is known that makes the call in {path.name}", advice)

    def _spec(self, finding: Finding, to: str) -> dict[str, Any]:
        proof = finding.proof
        place = proof["dataset"]
        return {
            "to": to,
            "call": proof["call"],
            "classes": [dict(zip(("file", "qualname"), place, strict=True))] if place is not None else [],
            "late": bool(proof["late"]),
            "part": proof["part"],
            "path": list(proof["path"]),
            "sought": self._sought(finding) if to == "loader" else None,
            "again": bool(proof.get("again")),
            "batches": BATCHES,
            "others": self.context.others,
        }

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is never reached, or that cannot be read where nothing is pickled, shows nothing."""
        return next((found for seen in controls if (found := _unready(seen))), None)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed where pickle refuses the part in question, or the new process does not find it."""
        if experiment.is_tolerant:
            as_it_is, control = (_shown(seen, experiment.finding.proof) for seen in observations)
            return judged(as_it_is, control, observations)
        problem = self.unprovable([seen for seen in observations if seen.trial.is_control])
        if problem:
            return problem
        proof = experiment.finding.proof
        cells = {str(seen.trial.factors): _cell(seen, proof) for seen in observations if not seen.trial.is_control}
        found = worst_of(cells)
        controls = {str(seen.trial.factors): "control" for seen in observations if seen.trial.is_control}
        return replace(found, details={"cells": controls | found.details["cells"]})


def _shown(seen: Observation, proof: Mapping[str, Any]) -> Shown:
    """What one trial of a pair showed: whether it came to the call, what cannot be sent, whether all else was sent.

    A worker that begins has been sent everything: what its samples then come to, with data made up, is another matter.
    """
    unreached = _unreached(seen) or (None if seen.trial.is_control else _replaced(seen))  # a fix puts another there
    raised = seen.of("program-raised")
    if unreached:
        why = replace(unreached, evidence=f"{unreached.evidence} ({how_it_ended(seen)})") if raised else unreached
        return Shown(why=why)
    made_up = tuple(words for record in seen.of("claimed") for words in record["made_up"])
    cell = _cell(seen, proof)
    reached = [record["dataset"] for record in seen.of("target")] or ["a process"]
    is_harmed = cell.verdict is Verdict.CONFIRMED
    is_sent = seen.of("first-batch") or seen.of("worker-began")
    works = bool(is_sent if seen.trial.spec["to"] == "loader" else seen.of("sent"))
    methods = f"under {seen.trial.factors.start_method}, "
    other = cell.evidence if cell.verdict is Verdict.INCONCLUSIVE else "" if works else "no batch was read"
    return Shown(
        reached[0].rpartition(".")[2],
        methods + cell.evidence if is_harmed else "",
        "" if is_harmed else other,
        made_up,
        works=works and not is_harmed,
        spared=works,
    )


def _unready(control: Observation) -> Judgement | None:
    """The judgement if a control did not come to the call, or failed at it."""
    unreached = _unreached(control)
    if unreached:
        return unreached
    errors = control.of("error")
    if not errors:
        return None
    text = first_line(errors[0]["text"])
    why = f"reading fails where nothing is pickled, too: {errors[0]['type']}: {text}"
    return inconclusive(why, "make it work with num_workers=0 first")


def _unreached(seen: Observation) -> Judgement | None:
    if seen.trial.spec["to"] == "loader":
        return why_unreached(seen, "the loader")
    if seen.of("sent") or seen.of("inherited"):
        return None
    return why_unreached(seen, "the call that sends it") or inconclusive(
        "the call that sends it was not reached", "pass a script that makes it: forklint verify SCRIPT -- ARGS"
    )


def _cell(seen: Observation, proof: Mapping[str, Any]) -> Judgement:
    unreached = _unreached(seen)
    if unreached:
        return unreached
    culprits = seen.of("unpicklable")
    own = [one for one in culprits if not proof["path"] or seen.trial.spec["to"] != "loader" or _is_of(one, proof)]
    if own and not proof["late"]:
        return Judgement(Verdict.CONFIRMED, f"{own[0]['type']}: {own[0]['text']} ({own[0]['path']})")
    if culprits:
        names = ", ".join(f"{one['path']} ({one['type']}: {one['text']})" for one in culprits)
        return inconclusive(f"another part cannot be pickled: {names}", "fix that first")
    line = next((line.strip() for line in seen.output.splitlines() if proof["late"] and proof["late"] in line), "")
    if line:
        return Judgement(Verdict.CONFIRMED, f"the new process ends with {line}")
    errors = seen.of("error")
    if errors:
        text = first_line(errors[0]["text"])
        return inconclusive(f"it fails for another reason: {errors[0]['type']}: {text}", "fix that first")
    return _replaced(seen) or Judgement(Verdict.REFUTED, "it can be pickled, and the process receives it")


def _replaced(seen: Observation) -> Judgement | None:
    """The judgement where the loader had something else in the place of what is claimed, by the program's arguments."""
    others = seen.of("another")
    why = f"the loader gets {others[0]['what']} instead" if others else ""
    return inconclusive(why, WITH_ARGUMENTS) if why else None


def _is_of(culprit: Mapping[str, Any], proof: Mapping[str, Any]) -> bool:
    """Whether a part that pickle refuses is the one in question, or lies in what holds it."""
    return str(culprit["path"]).startswith(str(proof["part"]))
