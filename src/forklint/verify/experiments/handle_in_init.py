"""FKL301: an open handle crosses the start of workers.

The control reads the loader's samples with no workers: in order, shuffled and in order again. Each treatment differs
from it in the workers and how they start. Where samples differ, the control is run again in as many parts as there
were workers, each in a fresh process, before the difference is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forklint.knowledge.handles import Handle, openers
from forklint.model import Finding
from forklint.verify import samples
from forklint.verify.context import Context
from forklint.verify.handle_harm import Cell, cell_of
from forklint.verify.unreached import why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

code = "FKL301"
LOADER = "a loader of its dataset"
WORST = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.NOT_REPRODUCED, Verdict.REFUTED, Verdict.UNSUPPORTED)
SPAWNED_WORKERS = 2
"""Workers that get a pickle: whether that works does not depend on how many there are."""


@dataclass(frozen=True)
class Kept:
    """What a finding says: which attribute of which class, or which name of a module, keeps which kind of handle."""

    attribute: str
    keeper: str
    """Qualified name of the class that keeps it; empty for a module's global."""
    keeper_file: str
    classes: tuple[tuple[str, str], ...]
    """File and name of classes of which a loader's workers get an object."""
    row: Handle | None


def kept_by(finding: Finding, context: Context) -> Kept:
    """Read a finding: its message names the attribute and the kind of handle, its chain the dataset."""
    file = str(Path(finding.path).absolute())
    name, kind = _named(finding.message)
    row = next((row for row in openers(context.handles).values() if row.kind == kind), None)
    carriers = [
        (str(Path(link.path).absolute()), match[1])
        for link in finding.chain
        if (match := re.match(r"`(\w+)` (?:carries|reads) it", link.message))
    ]
    owner, _, attribute = name.rpartition(".")
    keeper = finding.qualname.rpartition(".")[0] if owner == "self" else owner
    if owner not in {"", "self"} and carriers and not _inside(finding.qualname, owner):
        file = carriers[0][0]  # handed over by a caller: the class stands where the dataset does
    classes = tuple(dict.fromkeys([*([(file, keeper)] if keeper else []), *carriers]))
    return Kept(attribute, keeper, file, classes, row)


def _named(message: str) -> tuple[str, str]:
    match = re.match(r"`([\w.]+)` keeps an? (.+?) open across", message)
    return (match[1], match[2]) if match else ("", "")


def _inside(qualname: str, owner: str) -> bool:
    return owner in qualname.split(".")


def plan(finding: Finding, context: Context) -> Experiment | Judgement:
    """A control, and a treatment for each start method that the platform has."""
    kept = kept_by(finding, context)
    dataset = kept.classes[-1][1] if kept.classes else ""
    subject = context.subject(finding, dataset)
    if isinstance(subject, Judgement):
        return subject
    spec: dict[str, Any] = {
        "classes": [{"file": file, "qualname": qualname} for file, qualname in kept.classes],
        "keeper": {"file": kept.keeper_file, "qualname": kept.keeper} if kept.keeper else None,
        "attribute": kept.attribute,
        "file": str(Path(finding.path).absolute()),
        "openers": [name for name, row in openers(context.handles).items() if kept.row is None or row == kept.row],
        "samples": context.samples,
        "seconds": context.provoking,
        "others": context.others,
    }
    what = f"{kept.row.kind}" if kept.row else "handle"
    claim = f"`{kept.attribute}` keeps a {what} that workers share or cannot be sent"
    return Experiment(finding, claim, tuple(_trials(finding, subject, spec, context)))


def _trials(finding: Finding, subject: Subject, spec: Mapping[str, Any], context: Context) -> Iterator[Trial]:
    name = f"{finding.code}-{finding.fingerprint[:6]}-{spec['attribute']}"
    control = Trial(
        f"{name}-control",
        subject,
        "samples",
        {**spec, "mode": "control"},
        Factors(workers=0),
        is_control=True,
        seconds=context.seconds,
    )
    yield control
    for method in context.start_methods:
        workers = context.workers if method == "fork" else min(SPAWNED_WORKERS, context.workers)
        yield replace(
            control,
            name=f"{name}-{method}-{workers}",
            spec={**spec, "mode": "workers"},
            factors=Factors(start_method=method, workers=workers),
            is_control=False,
        )


def follow_up(_experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
    """Further trials that the judgement needs, if any: the control in parts, where samples were seen to differ.

    Each part is what one worker read, in a fresh process: a dataset that keeps a generator, a counter or a cache gives
    other samples there, too, and is told by that from one whose handle is shared.
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
        )
        for part in range(parts)
    )


def judge(_experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
    """Judge each cell, then the finding: the worst of its cells."""
    controls = [seen for seen in observations if seen.trial.is_control]
    for control in controls:
        problem = why_unreached(control, LOADER) or _failed(control)
        if problem:
            return problem
    known = samples.truth(controls)
    cells: dict[str, list[Cell]] = {}
    for seen in observations:
        if not seen.trial.is_control:
            cells.setdefault(str(seen.trial.factors), []).append(cell_of(seen, controls, known))
    judged = {factors: min(found, key=lambda cell: WORST.index(cell.verdict)) for factors, found in cells.items()}
    verdict = min((cell.verdict for cell in judged.values()), key=WORST.index)
    told = [(factors, cell) for factors, cell in judged.items() if cell.verdict is verdict]
    return Judgement(
        verdict,
        "; ".join(f"{factors}: {cell.evidence}" for factors, cell in told),
        told[0][1].advice,
        {
            "cells": {factors: cell.as_json() for factors, cell in judged.items()},
            "samples": len(known.digests),
            "stateful": len(known.stateful),
            "undigestable": len(known.undigestable),
        },
    )


def _failed(control: Observation) -> Judgement | None:
    """A judgement if the loader cannot be read without workers, either."""
    errors = control.of("error")
    if not errors:
        return None
    error = errors[0]
    where = f" ({error['frame']})" if error["frame"] else ""
    return Judgement(
        Verdict.INCONCLUSIVE,
        f"reading fails without workers, too: {error['type']}: {_first_line(error['text'])}{where}",
        "make the dataset work with num_workers=0 first",
    )


def _first_line(text: str) -> str:
    return (text.splitlines() or [""])[0]
