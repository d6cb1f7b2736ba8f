"""FKL301: an open handle crosses the start of workers.

The control reads the loader's samples with no workers: in order, shuffled and in order again. Each treatment differs
from it in the workers and how they start. Where samples differ, the control is run again in as many parts as there
were workers, each in a fresh process, before the difference is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify import samples, stand_ins
from forklint.verify.experiments.base import WORST_FIRST, Experimenter, inconclusive, one_after_another, worst_of
from forklint.verify.handle_harm import Cell, cell_of
from forklint.verify.subjects import WHEN_IMPORTED, subjects_for
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

LOADER = "a loader of its dataset"
PASSES_IN_TIME = 6
"""A pass may take this part of a trial's limit: a slow dataset is read for fewer samples."""
READS_A_SECOND = 1000
"""What a quiet machine reads in a second of the budget, and any machine is to read for it."""
LONGEST_IN_TIME = 3
"""A race may be sought for this part of the limit, where a busy machine reads slowly."""
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
        is_named = context.entry or context.factories
        if not is_named and context.methods("fork") and not WHEN_IMPORTED.search(project.data(Path(dataset))):
            attempts.append(self._stand_in(finding, None if attempts else unable))
        if not attempts:
            assert unable is not None  # noqa: S101 - there is a subject or the reason why not
            return unable
        return one_after_another(attempts)

    def _experiment(self, finding: Finding, subject: Subject) -> Experiment:
        spec = self._spec(finding)
        names = " and ".join(f"`{name}`" for name in spec["attributes"])
        claim = f"{names}: the {finding.proof['kind']} is shared by workers, or cannot be sent to them"
        control = self.trial(
            finding, subject, "samples", {**spec, "mode": "control"}, Factors(workers=0), is_control=True
        )
        treatments = [
            self.trial(finding, subject, "samples", {**spec, "mode": "workers"}, factors)
            for factors in self._cells(finding)
        ]
        treatments = [replace(one, side_by_side=one.factors.start_method != "fork") for one in treatments]
        trials = (control, *treatments)
        if subject.kind == "class":
            trials = tuple(replace(trial, name=f"{trial.name}-class") for trial in trials)
        return Experiment(finding, claim, trials)

    def _stand_in(self, finding: Finding, unable: Judgement | None) -> Experiment:
        """The class with stand-ins for its data, for the mechanism alone."""
        spec, context = self._spec(finding), self.context
        wanted = {name: spec[name] for name in ("keeper", "attributes", "openers")}
        wanted |= {**spec["classes"][1], "finding": spec["file"], **stand_ins.missing_data()}
        subject = Subject("stand-in", stand_ins.COMMAND, context.root, (context.root,), context.variables)
        trial = self.trial(finding, subject, "stand_in", wanted, Factors("fork", stand_ins.WORKERS))
        trial = replace(trial, name=f"{trial.name}-stand-in")
        names = " and ".join(f"`{name}`" for name in spec["attributes"])
        return Experiment(
            finding, f"{names}: the {finding.proof['kind']} is shared by workers", (trial,), instead_of=unable
        )

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
        return {
            "classes": places,
            "keeper": None if name and not owner else places[0],
            "attributes": [name] if name else list(proof["attributes"]),
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
        """A loader that is never reached, or that cannot be read without workers, shows nothing with them."""
        return next(
            (found for seen in controls if (found := why_unreached(seen, LOADER) or _shows_nothing(seen))), None
        )

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """A warm parent where nothing was harmed by forked workers; the control in parts where samples differ."""
        return self._warm(observations) or self._parts(observations)

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
        better = experiment.instead_of
        if experiment.trials[0].task == "stand_in":
            assert better is not None  # noqa: S101 - it is the last that is tried
            return stand_ins.judgement_of(observations[0], better)
        controls = [seen for seen in observations if seen.trial.is_control]
        problem = self.unprovable(controls)
        if problem and better:
            return replace(better, evidence=f"{better.evidence}; {problem.evidence}")
        if problem:
            return problem
        known = samples.truth(controls)
        cells: dict[str, list[Cell]] = {}
        for seen in observations:
            if not seen.trial.is_control:
                cells.setdefault(str(seen.trial.factors), []).append(cell_of(seen, controls, known))
        judged = {
            factors: min(found, key=lambda cell: WORST_FIRST.index(cell.verdict)) for factors, found in cells.items()
        }
        if not judged:
            return inconclusive("no start method to try", "leave out --start-method")
        judgement = _whole(judged, known)
        if self.context.environment.has_cuda:
            return judgement
        all_cells = {**judgement.details["cells"], NO_CUDA: Verdict.UNSUPPORTED.value}
        return replace(judgement, details={**judgement.details, "cells": all_cells})


def _worst(cells: Sequence[Cell]) -> Cell:
    return min(cells, key=lambda cell: WORST_FIRST.index(cell.verdict))


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
    where = "it bites where workers are spawned (macOS, Windows) or come from a fork server (Python 3.14 on Linux)"
    return f"under fork no harm was seen: {where}"


def _shows_nothing(control: Observation) -> Judgement | None:
    """A judgement if the loader cannot be read without workers, either, or if there is nothing in it.

    How a trial's batches collate says nothing.
    """
    errors = [record for record in control.of("error") if record["phase"] != "collating"]
    if not errors and any(record["digests"] for record in control.of("samples")):
        return None
    if not errors:
        return inconclusive("the loader gives no sample", "put data there, or name an entry or a factory that finds it")
    error = errors[0]
    where = f" ({error['frame']})" if error["frame"] else ""
    return Judgement(
        Verdict.INCONCLUSIVE,
        f"reading fails without workers, too: {error['type']}: {first_line(error['text'])}{where}",
        "make the dataset work with num_workers=0 first",
    )
