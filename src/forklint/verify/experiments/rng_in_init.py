"""FKL302: workers draw the same random numbers, or draw them again in every epoch.

The control reads two epochs without workers and notes after each sample at which point of the stream it is. Each
treatment differs from it in the workers and how they start. A point that two workers come to, or that comes again in
the second epoch, stands for numbers that were drawn twice, unless the control comes to points twice as well.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from forklint.model import Finding
from forklint.project.index import Project
from forklint.verify import made_data, slices
from forklint.verify.asked_class import importing
from forklint.verify.experiments.base import Experimenter, inconclusive, one_after_another, worst_of
from forklint.verify.subjects import NO_WAY_OUT, subject_of, subjects_for
from forklint.verify.tolerant import line, stood_in_by, tolerance
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

PASSES_IN_TIME = 6
"""An epoch may take this part of a trial's limit."""
SPAWNED_WORKERS = 2
TOO_LARGE = "ValueError", "Seed must be between"
NOT_PLAIN = "TypeError", "supported seed types"
"""The errors of seeds that are refused, each by its type and words of its text."""
CANNOT_SEND = "torch.Generator"
"""A kind of generator that spawned workers cannot be sent at all."""


@dataclass(frozen=True)
class Draws:
    """What one trial drew."""

    count: int
    """Samples whose taking moved the stream."""
    watched: bool
    """Whether there was a generator to watch."""
    between_workers: int
    """Of the samples of the first epoch: so many whose point another worker came to, too."""
    again: int
    """Of the samples of the second epoch: so many whose point the first had come to."""
    first: int
    second: int
    """Samples of each epoch that moved the stream."""

    @property
    def repeat(self) -> bool:
        """Whether any number was drawn twice."""
        return bool(self.between_workers or self.again)


class RngInInit(Experimenter):
    """One control, and a treatment for each start method."""

    code = "FKL302"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find something to run, and make a trial for each cell."""
        proof, context = finding.proof, self.context
        project = context.project()
        if "function" in proof or proof["dataset"] is None:
            subject = subject_of(Path(proof["file"]), self.context.sources, project)
            ways = [self._experiment(finding, subject)] if subject is not None else []
            ways += self._alone(finding, project) if not (context.entry or context.factories) else []
            if not ways:
                what = proof.get("function") or proof["attribute"]
                return inconclusive(f"no loader that uses `{what}`", NO_WAY_OUT)
            return one_after_another(ways)
        dataset, qualname = proof["dataset"]
        found = subjects_for(Path(dataset), qualname, self.context.sources, project)
        attempts = [self._experiment(finding, one) for one in found if isinstance(one, Subject)]
        unable = next((one for one in found if isinstance(one, Judgement)), None)
        made = None if context.entry or context.factories else self._made(finding, project)
        attempts += [replace(made, instead_of=None if attempts else unable)] if made else []
        if not attempts:
            assert unable is not None  # noqa: S101 - there is a subject or the reason why not
            return unable
        return one_after_another(attempts)

    def _alone(self, finding: Finding, project: Project) -> list[Experiment]:
        """A function that seeds workers by itself, in a loader whose samples are drawn from the streams it seeds."""
        proof, context = finding.proof, self.context
        if not str(proof.get("function", "<")).isidentifier() or not proof.get("is_plain"):
            return []
        path, row = Path(proof["file"]), proof["row"]
        told = tolerance(finding, context.root, project)
        told |= {"skipped": slices.skipped(project, {path: {row}}, None), "wanted": {str(path.resolve()): [row]}}
        told["claimed"] = {str(path.resolve()): [(row, row)]}
        further = {"alone": importing((str(path), proof["function"]), context.root), "tolerance": told}
        subject = Subject("function", ("-m", "forklint_harness.seeding"), context.root, environment=context.variables)
        return [self._experiment(finding, subject, further)]

    def _made(self, finding: Finding, project: Project) -> Experiment | None:
        """The class alone, with made-up arguments and stores, for where there is no data."""
        dataset, qualname = finding.proof["dataset"]
        further = made_data.spec_for(finding, Path(dataset), qualname, self.context.root, project)
        if further is None:
            return None
        subject = made_data.subject(qualname, self.context.sources)
        return replace(self._experiment(finding, subject, further), is_tolerant=True)

    def _experiment(
        self, finding: Finding, subject: Subject, further: Mapping[str, Any] = MappingProxyType({})
    ) -> Experiment:
        spec, context = {**self._spec(finding), **further}, self.context
        wanted = ("fork",) if finding.proof.get("kind") == CANNOT_SEND else ("fork", "spawn", "forkserver")
        cells = [
            Factors(method, context.workers if method == "fork" else min(SPAWNED_WORKERS, context.workers))
            for method in context.methods(*wanted)
        ]
        if further and cells:
            cells = cells[:1]  # each has its mended twin, and they differ in how the same copy comes to a worker
        trials = [self.trial(finding, subject, "draws", spec, Factors(workers=0), is_control=True)]
        trials += [self.trial(finding, subject, "draws", spec, factors) for factors in cells]
        is_alone = subject.kind in ("class", "function", made_data.KIND)
        named = [replace(one, name=f"{one.name}-{subject.kind}") if is_alone else one for one in trials]
        what = finding.proof.get("attribute") or finding.proof["function"]
        claim = f"`{what}`: workers draw the same random numbers, or repeat them in the next epoch"
        return Experiment(finding, claim, tuple(replace(one, side_by_side=True) for one in named))

    def informed(self, trial: Trial, seen: Sequence[Observation]) -> Trial:
        """Made-up data is the same in all trials: what the control has learnt goes to the others."""
        return made_data.with_world(trial, seen)

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """Of made-up data what was drawn twice, with the finding mended."""
        controls = [seen for seen in observations if seen.trial.is_control]
        if not experiment.is_tolerant or self.unprovable(controls) or any(map(made_data.is_mended, observations)):
            return ()
        known = draws_of(controls[0])
        return tuple(
            made_data.mended(seen.trial, experiment.finding)
            for seen in observations
            if not seen.trial.is_control and _cell(seen, known, experiment.finding).verdict is Verdict.CONFIRMED
        )

    def _spec(self, finding: Finding) -> dict[str, Any]:
        proof, context = finding.proof, self.context
        spec: dict[str, Any] = {
            "samples": context.samples,
            "patience": context.seconds / PASSES_IN_TIME,
            "others": context.others,
        }
        if "function" in proof:
            function = {"file": proof["file"], "name": proof["function"], "row": proof["row"]}
            return {**spec, "classes": None, "function": function, "streams": list(proof["streams"])}
        places = [_place(proof[key]) for key in ("keeper", "dataset") if proof[key]]
        return {
            **spec,
            "classes": places,
            "keeper": _place(proof["keeper"]) if proof["keeper"] else None,
            "attribute": proof["attribute"],
            "file": proof["file"],
        }

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is never reached, or that cannot be read without workers."""
        made = made_data.not_made(controls) or made_data.stood_in(controls)
        if made is not None:
            return made
        for seen in controls:
            found = why_unreached(seen, "the loader in question")
            if found is not None:
                return found
            for error in seen.of("error")[:1]:
                words = f"reading fails without workers, too: {error['type']}: {first_line(error['text'])}"
                return inconclusive(words, "make the dataset work with num_workers=0 first")
        return None

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Judge each cell, then the finding: the worst of its cells."""
        controls = [seen for seen in observations if seen.trial.is_control]
        problem = self.unprovable(controls)
        if problem is not None:
            return problem
        known = draws_of(controls[0])
        mended = [seen for seen in observations if made_data.is_mended(seen)]
        treatments = [seen for seen in observations if not (seen.trial.is_control or seen in mended)]
        judged = {str(seen.trial.factors): _cell(seen, known, experiment.finding) for seen in treatments}
        if experiment.is_tolerant:
            told = made_data.told(controls)
            judged = {name: _paired(cell, mended, known, experiment.finding, told) for name, cell in judged.items()}
        if not judged and experiment.finding.proof.get("kind") == CANNOT_SEND:
            return Judgement(Verdict.UNSUPPORTED, "needs the start method fork", "run it on Linux")
        return _of_function(worst_of(judged), observations) if _is_alone(controls[0]) else worst_of(judged)


def _is_alone(seen: Observation) -> bool:
    return "alone" in seen.trial.spec


def _of_function(judgement: Judgement, observations: Sequence[Observation]) -> Judgement:
    """The judgement for a function by itself, with what was stood in: nothing was seen of the program's own samples."""
    stood_in = stood_in_by(observations)
    note = "; ".join(filter(None, ("in a loader of samples drawn from the streams that it seeds", line(stood_in))))
    return replace(
        judgement, evidence=f"{judgement.evidence}; {note}", details={**judgement.details, "stood_in": stood_in}
    )


def _paired(cell: Judgement, mended: Sequence[Observation], known: Draws, finding: Finding, told: str) -> Judgement:
    """The cell of made-up data, beside the same trial with the finding mended."""
    if cell.verdict is Verdict.REFUTED:
        return inconclusive(f"with generated data, {cell.evidence}", NO_WAY_OUT)
    if cell.verdict is not Verdict.CONFIRMED:
        return cell
    if not mended:
        return inconclusive(f"{cell.evidence}; it was not run with the fix", NO_WAY_OUT)
    how, drawn = mended[0].trial.factors.code, draws_of(mended[0])
    failed = why_unreached(mended[0], "the loader in question") or _failed(mended[0], None)
    if failed is not None:
        return inconclusive(f"{cell.evidence}; {how}: {failed.evidence}", NO_WAY_OUT)
    if not drawn.count or _cell(mended[0], known, finding).verdict is Verdict.CONFIRMED:
        words = (
            f"{drawn.between_workers + drawn.again} samples still got repeated numbers"
            if drawn.count
            else "no sample used random numbers"
        )
        return inconclusive(f"{cell.evidence}; {how} {words}", NO_WAY_OUT)
    return replace(cell, evidence=f"{cell.evidence}; {how} none did; {told}")


def _place(place: Sequence[str]) -> Mapping[str, str]:
    return dict(zip(("file", "qualname"), place, strict=True))


def draws_of(seen: Observation) -> Draws:
    """Count what a trial drew twice."""
    by_worker: dict[int, dict[int, set[str]]] = {0: defaultdict(set), 1: defaultdict(set)}
    found: dict[int, list[str]] = {0: [], 1: []}
    is_kept = any(one["keeps"] for one in seen.of("epoch"))
    for record in seen.of("drawn"):
        epoch = 0 if is_kept else min(record["epoch"], 1)
        found[epoch] += record["points"]
        by_worker[epoch][record["pid"]] |= set(record["points"])
    owners = Counter(point for points in by_worker[0].values() for point in points)
    first = set(found[0])
    return Draws(
        count=len(found[0]) + len(found[1]),
        watched=any(record["watched"] for record in seen.of("drawn")),
        between_workers=sum(owners[point] > 1 for point in found[0]),
        again=sum(point in first for point in found[1]),
        first=len(found[0]),
        second=len(found[1]),
    )


def _cell(seen: Observation, control: Draws, finding: Finding) -> Judgement:
    unreached = why_unreached(seen, "the loader in question")
    if unreached is not None:
        return unreached
    proof = finding.proof
    expected = TOO_LARGE if proof.get("too_large") else NOT_PLAIN if proof.get("refused") else None
    failed = _failed(seen, expected)
    if failed is not None:
        return failed
    if proof.get("refused") and sys.version_info < (3, 11):
        return Judgement(Verdict.UNSUPPORTED, "needs Python 3.11 or newer", "run it with a newer Python")
    if expected is not None:
        return Judgement(Verdict.REFUTED, "every worker took the seed")
    found = draws_of(seen)
    if not found.watched:
        return inconclusive("the loader's dataset contains no such generator", "pass a script that creates it")
    if not found.count:
        return _undrawn(seen)
    if not found.repeat:
        return Judgement(Verdict.REFUTED, f"{found.count} samples used random numbers, and all of them were different")
    if control.repeat:
        words = "the same numbers repeat without workers, too: the generator is seeded for each sample or each epoch"
        return Judgement(Verdict.REFUTED, words)
    told = []
    if found.between_workers:
        told.append(f"{found.between_workers} of {found.first} samples got the same numbers as in another worker")
    if found.again:
        told.append(f"{found.again} of {found.second} got the numbers of the previous epoch")
    rest = (
        f"of {control.count} samples without workers, none did"
        if control.count
        else "without workers, no sample used random numbers"
    )
    return Judgement(Verdict.CONFIRMED, f"{', and '.join(told)}; {rest}")


def _undrawn(seen: Observation) -> Judgement:
    """No sample drew: the streams may begin alike all the same."""
    begins = Counter(point for record in seen.of("begins") for point in record["points"])
    if begins and max(begins.values()) > 1:
        alike = max(begins.values())
        words = f"{alike} workers start with the same seed, but no sample uses it"
        return Judgement(Verdict.NOT_REPRODUCED, words)
    return Judgement(Verdict.REFUTED, "no sample uses it in a worker")


def _failed(seen: Observation, expected: tuple[str, str] | None) -> Judgement | None:
    """A judgement if workers could not be started or read from, be it by the error that is expected."""
    for error in seen.of("error")[:1]:
        lines = error["text"].strip().splitlines() or [""]
        last = next((line for line in reversed(lines) if "Error" in line), lines[0])
        if expected is not None and error["type"] == expected[0] and expected[1] in error["text"]:
            return Judgement(Verdict.CONFIRMED, f"no worker starts: {last}")
        words = f"reading fails with workers, for another reason: {error['type']}: {last}"
        return inconclusive(words, "fix that first")
    return None
