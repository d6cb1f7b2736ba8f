"""FKL301: an open handle crosses the start of workers.

The control reads the loader's samples with no workers: in order, shuffled and in order again. Each treatment differs
from it in the workers and how they start. Where samples differ, the control is run again in as many parts as there
were workers, each in a fresh process, before the difference is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from forklint.model import Finding
from forklint.project.index import Project
from forklint.source.paths import from_root
from forklint.verify import made_data, samples
from forklint.verify.experiments.base import WORST_FIRST, Experimenter, inconclusive, one_after_another, worst_of
from forklint.verify.handle_harm import Cell, cell_of, paired, unread
from forklint.verify.subjects import subjects_for
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

LOADER = "a loader of its dataset"
PASSES_IN_TIME = 6
"""A pass may take this part of a trial's limit: a slow dataset is read for fewer samples."""
READS_A_SECOND = 1000
"""What a quiet machine reads in a second of the budget, and any machine is to read for it."""
LONGEST_IN_TIME = 3
"""A race may be sought for this part of the limit, where a busy machine reads slowly."""
SHORTER = 4
"""The part of its time and reads for which a race is sought where another start method has decided already."""
ON_CUDA = {"fork": (False, True), "spawn": (True,)}
"""Whether memory is pinned in the cells in which the main process uses a GPU before workers start."""
NO_CUDA = "cuda"
"""Stands for those cells where there is no GPU."""
SPAWNED_WORKERS = 2
"""Workers that get a pickle: whether that works does not depend on how many there are."""


class HandleInInit(Experimenter):
    """One control, a treatment for each start method, and the control in parts where samples were seen to differ."""

    code = "FKL301"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find something to run, and make a trial for each cell."""
        proof, context = finding.proof, self.context
        dataset, qualname = proof["dataset"]
        project = context.project()
        found = subjects_for(Path(dataset), qualname, self.context.sources, project)
        attempts = [self._experiment(finding, one) for one in found if isinstance(one, Subject)]
        unable = next((one for one in found if isinstance(one, Judgement)), None)
        if not (context.entry or context.factories):
            made = self._made(finding, project)
            attempts += [replace(made, instead_of=None if attempts else unable)] if made else []
        if not attempts:
            assert unable is not None  # noqa: S101 - there is a subject or the reason why not
            return unable
        return one_after_another(attempts)

    def _made(self, finding: Finding, project: Project) -> Experiment | None:
        """The class alone, with made-up arguments and stores, for where there is no data."""
        dataset, qualname = finding.proof["dataset"]
        further = made_data.spec_for(finding, Path(dataset), qualname, self.context.root, project)
        if further is None:
            return None
        found = self._experiment(finding, made_data.subject(qualname, self.context.sources), further)
        trials = [
            replace(one, factors=_with_one_worker(one.factors), side_by_side=one.side_by_side or one.is_control)
            for one in found.trials
        ]
        trials.sort(key=lambda one: one.factors.start_method == "fork")  # a race is sought last: see ``informed``
        return replace(found, trials=tuple(trials), is_tolerant=True)

    def _experiment(
        self, finding: Finding, subject: Subject, further: Mapping[str, Any] = MappingProxyType({})
    ) -> Experiment:
        spec = {**self._spec(finding), **further}
        names = " and ".join(f"`{name}`" for name in spec["attributes"])
        claim = f"{names}: the {finding.proof['kind']} is shared by workers, or cannot be pickled for them"
        control = self.trial(
            finding, subject, "samples", {**spec, "mode": "control"}, Factors(workers=0), is_control=True
        )
        treatments = [
            self.trial(finding, subject, "samples", {**spec, "mode": "workers"}, factors)
            for factors in self._cells(finding)
        ]
        treatments = [replace(one, side_by_side=one.factors.start_method != "fork") for one in treatments]
        trials = (control, *treatments)
        if subject.kind in ("class", made_data.KIND):
            trials = tuple(replace(trial, name=f"{trial.name}-{subject.kind}") for trial in trials)
        return Experiment(finding, claim, trials)

    def _cells(self, finding: Finding) -> Iterator[Factors]:
        """The start methods that the finding speaks of, unless the user chose some: no other runs in this project."""
        methods = self.context.methods("fork", "spawn", "forkserver")
        bites = {cell.start_method for cell in finding.cells}
        spoken_of = () if self.context.start_methods else tuple(method for method in methods if method in bites)
        for method in spoken_of or methods:
            workers = self.context.workers
            cell = Factors(method, workers if method == "fork" else min(SPAWNED_WORKERS, workers))
            yield cell
            if self.context.environment.has_cuda and method in ON_CUDA:
                yield from (replace(cell, pin_memory=pins, device="cuda") for pins in ON_CUDA[method])

    def _spec(self, finding: Finding) -> dict[str, Any]:
        proof, context = finding.proof, self.context
        places = [dict(zip(("file", "qualname"), proof[key], strict=True)) for key in ("keeper", "dataset")]
        owner, _, name = proof["name"].rpartition(".")
        is_in_module = bool(proof.get("lasting") or (name and not owner))
        named = [proof["name"] if is_in_module else name] if name else list(proof["attributes"])
        return {
            "classes": places,
            "keeper": None if is_in_module else places[0],
            "lasting": bool(proof.get("lasting")),
            "attributes": named,
            "file": str(from_root(Path(finding.path))),
            "openers": list(proof["openers"]),
            "samples": context.samples,
            "seconds": context.provoking,
            "reads": round(context.provoking * READS_A_SECOND),
            "longest": context.seconds / LONGEST_IN_TIME,
            "patience": context.seconds / PASSES_IN_TIME,
            "others": context.others,
        }

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is never reached, or that cannot be read without workers, shows nothing with them.

        But for one thing: whether its dataset can be sent to a worker, which comes before any sample.
        """
        if made_data.is_unread(controls):
            return made_data.stood_in(controls)
        return (
            made_data.not_made(controls)
            or made_data.stood_in(controls)
            or next(
                (found for seen in controls if (found := why_unreached(seen, LOADER) or _shows_nothing(seen))), None
            )
        )

    def informed(self, trial: Trial, seen: Sequence[Observation]) -> Trial:
        """Made-up data is the same in all trials: what the control has learnt goes to the others.

        Where such a dataset cannot be sent to spawned workers, that decides; a race is sought for a shorter time,
        beside other trials.
        """
        known = made_data.with_world(trial, seen)
        if trial.subject.kind != made_data.KIND or not any(one.of("unpicklable") for one in seen):
            return known
        shorter = {name: known.spec[name] / SHORTER for name in ("seconds", "reads", "longest")}
        return replace(known, spec={**known.spec, **shorter}, side_by_side=True)

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """A warm parent where nothing was harmed by forked workers; the control in parts where samples differ.

        Of made-up data also what harmed, with the finding mended: what is then still wrong is not the handle's doing.
        """
        if not experiment.is_tolerant:
            return self._warm(observations) or self._parts(observations)
        mended = self._mended(experiment.finding, observations)
        if mended or any(map(made_data.is_mended, observations)):
            return mended or _with_others_apart(experiment.finding, observations)
        found = self._warm(observations) or self._parts(observations)
        return tuple(made_data.with_world(trial, observations) for trial in found)

    def _mended(self, finding: Finding, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        done = {seen.trial.name for seen in observations}
        controls = [seen for seen in observations if seen.trial.is_control]
        known = samples.truth(controls)
        mended = [
            made_data.mended(seen.trial, finding)
            for seen in observations
            if not (seen.trial.is_control or made_data.is_mended(seen))
            and cell_of(seen, controls, known).verdict is Verdict.CONFIRMED
        ]
        return tuple(one for one in mended if one.name not in done)

    def _warm(self, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """The forked treatment with a parent that has read a sample, if it showed the mechanism and no harm.

        A read in the parent is what an inherited handle may keep: LMDB's slot in its table of readers.
        """
        controls = [seen for seen in observations if seen.trial.is_control]
        known = samples.truth(controls)
        if not controls:
            return ()
        tried = {seen.trial.factors for seen in observations}
        found = []
        for seen in observations:
            factors = seen.trial.factors
            warm = replace(factors, parent="warm")
            is_cold_fork = factors.start_method == "fork" and not factors.device and warm != factors
            if is_cold_fork and warm not in tried and cell_of(seen, controls, known).verdict is Verdict.NOT_REPRODUCED:
                found.append(replace(seen.trial, name=f"{seen.trial.name}-warm", factors=warm))
        return tuple(found)

    def _parts(self, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """The control in as many parts as a treatment had workers, if that treatment's samples differ from it.

        Each part is what one worker read, in a fresh process that has no workers and looks like that one: a dataset
        that keeps a generator, a counter or a cache, or that asks for the worker's number, gives other samples there,
        too, and is told by that from one whose handle is shared.
        """
        controls = [seen for seen in observations if seen.trial.is_control]
        if len(controls) != 1 or why_unreached(controls[0], LOADER):
            return ()
        known = samples.truth(controls)
        suspects = [seen for seen in observations if not seen.trial.is_control and samples.wrong(seen, known)]
        parts = max((seen.trial.factors.workers or 0 for seen in suspects), default=0)
        control = controls[0].trial
        return tuple(
            replace(
                control,
                name=f"{control.name}-part-{part}",
                spec={**control.spec, "mode": "part", "part": part, "parts": parts},
                side_by_side=True,
            )
            for part in range(parts)
        )

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Judge each cell, then the finding: the worst of its cells."""
        controls = [seen for seen in observations if seen.trial.is_control]
        problem = self.unprovable(controls)
        if problem:
            return problem
        known = samples.truth(controls)
        cells: dict[str, list[Cell]] = {}
        for seen in observations:
            if not (seen.trial.is_control or made_data.is_mended(seen)):
                cell = cell_of(seen, controls, known)
                mended = next((one for one in observations if made_data.is_mended_of(one, seen)), None)
                if made_data.is_unread(controls):
                    cell = unread(seen, mended, made_data.not_made(controls))
                elif experiment.is_tolerant:
                    cell = paired(cell, mended, known)
                cells.setdefault(str(seen.trial.factors), []).append(cell)
        judged = {
            factors: min(found, key=lambda cell: WORST_FIRST.index(cell.verdict)) for factors, found in cells.items()
        }
        if not judged:
            return inconclusive("no start method to try", "run it without --start-method")
        judgement = _whole(judged, known)
        if experiment.is_tolerant:
            words = "; ".join([judgement.evidence, *filter(None, [made_data.told(controls)])])
            judgement = replace(judgement, evidence=words)
        if self.context.environment.has_cuda:
            return judgement
        all_cells = {**judgement.details["cells"], NO_CUDA: Verdict.UNSUPPORTED.value}
        return replace(judgement, details={**judgement.details, "cells": all_cells})


def _with_one_worker(factors: Factors) -> Factors:
    """Whether a pickle can be sent does not depend on how many get it, and each takes long to begin."""
    return factors if factors.start_method in (None, "fork") else replace(factors, workers=1)


def _with_others_apart(finding: Finding, observations: Sequence[Observation]) -> tuple[Trial, ...]:
    """A pair of trials for each that, once mended, still cannot send another handle of the same dataset."""
    done = {seen.trial.name for seen in observations}
    found: list[Trial] = []
    for seen in observations:
        mended = next((one for one in observations if made_data.is_mended_of(one, seen)), None)
        rivals = made_data.in_the_way(mended) if mended else []
        if rivals and seen.trial.factors.code is None:
            again = made_data.apart(seen.trial, rivals)
            found += [replace(one, side_by_side=True) for one in (again, made_data.mended(again, finding))]
    return tuple(one for one in found if one.name not in done)


def _whole(judged: Mapping[str, Cell], known: samples.Truth) -> Judgement:
    whole = worst_of({factors: Judgement(cell.verdict, cell.evidence, cell.advice) for factors, cell in judged.items()})
    note = _spared(judged, whole.verdict)
    details = {
        **whole.details,
        "shown": {factors: cell.as_json() for factors, cell in judged.items()},
        "samples": len(known.digests),
        "stateful": len(known.stateful),
        "undigestable": len(known.undigestable),
        "note": note,
    }
    return replace(whole, evidence="; ".join([whole.evidence, note] if note else [whole.evidence]), details=details)


def _spared(judged: Mapping[str, Cell], verdict: Verdict) -> str:
    """What those should hear who fork alone, where harm was seen under other start methods and none under fork."""
    harmless = (Verdict.NOT_REPRODUCED, Verdict.REFUTED)
    forked = [cell for factors, cell in judged.items() if factors.startswith("fork,") and cell.verdict in harmless]
    if verdict is not Verdict.CONFIRMED or not forked:
        return ""
    where = (
        "it fails where workers are spawned (macOS, Windows) or started by a fork server (Linux from Python 3.14 on)"
    )
    return f"under fork no harm was observed: {where}"


def _shows_nothing(control: Observation) -> Judgement | None:
    """A judgement if the loader cannot be read without workers, either, or if there is nothing in it.

    How a trial's batches collate says nothing.
    """
    errors = [record for record in control.of("error") if record["phase"] != "collating"]
    if not errors and any(record["digests"] for record in control.of("samples")):
        return None
    if not errors:
        return inconclusive("the loader returns no sample", "provide data, or pass a script or a factory that finds it")
    error = errors[0]
    where = f" ({error['frame']})" if error["frame"] else ""
    return Judgement(
        Verdict.INCONCLUSIVE,
        f"reading fails without workers, too: {error['type']}: {first_line(error['text'])}{where}",
        "make the dataset work with num_workers=0 first",
    )
