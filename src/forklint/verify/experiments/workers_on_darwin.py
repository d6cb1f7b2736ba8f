"""FKL401: workers where the machine is a Mac.

On macOS, or where MPS is available, the loader is read without workers and with those of the preset. Elsewhere that
cannot be proved; what spawn alone costs is shown where there is something to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive
from forklint.verify.subjects import NO_WAY_OUT, subject_of
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Trial, Verdict

LOADER = "a loader"
BATCHES = 8
ROUNDS = 3
"""How often the preset is tried on a Mac, at most: a crash with MPS does not come each time."""
MIB = 2**20
NEEDS_DARWIN = Judgement(Verdict.UNSUPPORTED, "needs darwin", "run forklint verify on a Mac", needs=("darwin", "mps"))


class WorkersOnDarwin(Experimenter):
    """The control has no workers, the treatment has those of the preset, started by spawn."""

    code = "FKL401"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """The same two trials on every platform: only what they can prove differs."""
        context = self.context
        subject = subject_of(from_root(Path(finding.path)), context.sources, context.project())
        if subject is None or not context.methods("spawn"):
            what = "read a loader for this count" if subject is None else "start workers with spawn"
            return inconclusive(f"cannot {what}", NO_WAY_OUT) if self._is_real else NEEDS_DARWIN
        spec = {
            "batches": BATCHES,
            "device": "mps" if self._has_mps else "",
            "others": context.others,
        }
        count = int(finding.proof.get("workers") or context.workers)
        cells = [Factors("spawn", workers) if workers else Factors(workers=0) for workers in (0, count)]
        if self._has_mps:
            cells = [replace(cell, device="mps") for cell in cells]
        trials = [
            self.trial(finding, subject, "first_batch", spec, cell, is_control=not cell.workers) for cell in cells
        ]
        claim = f"{count} spawned workers cost more than they save here, and may crash"
        return Experiment(finding, claim, tuple(trials), needs=() if self._is_real else NEEDS_DARWIN.needs)

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """The preset once more on a Mac, for as long as nothing has crashed."""
        treatments = [seen for seen in observations if not seen.trial.is_control]
        is_decided = not treatments or any(list(self._harm(seen)) for seen in treatments)
        if is_decided or not self._is_real or len(treatments) >= ROUNDS:
            return ()
        again = treatments[0].trial
        return (replace(again, name=f"{again.name}-{len(treatments) + 1}"),)

    @property
    def _has_mps(self) -> bool:
        return bool(self.context.environment.torch.get("mps"))

    @property
    def _is_real(self) -> bool:
        return self.context.environment.system == "darwin" or self._has_mps

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that gives no batch without workers shows nothing with them."""
        return next((found for seen in controls if (found := why_unreached(seen, LOADER) or self._failed(seen))), None)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by a crash that the control does not have; slowness alone is told and not called harm."""
        control = next(seen for seen in observations if seen.trial.is_control)
        treatments = [seen for seen in observations if not seen.trial.is_control]
        unreached = self.unprovable([control])
        if unreached:
            return unreached if self._is_real else NEEDS_DARWIN
        told = {id(seen): "; ".join(self._harm(seen)) for seen in treatments}
        worst = next((seen for seen in treatments if told[id(seen)]), treatments[0])
        words = "; ".join(part for part in (told[id(worst)], _costs(worst, control)) if part)
        details = {"cells": {str(worst.trial.factors): "shown"}, "figures": _figures(worst, control)}
        if not self._is_real:
            shown = f"needs darwin; with {worst.trial.factors} here: {words}"
            return replace(NEEDS_DARWIN, evidence=shown, details=details)
        verdict = Verdict.CONFIRMED if told[id(worst)] else Verdict.NOT_REPRODUCED
        tried = "" if told[id(worst)] else f"; no crash in {_runs(len(treatments))} of {BATCHES} batches"
        details["cells"] = {str(worst.trial.factors): verdict.value}
        return Judgement(verdict, f"{words}{tried}", details=details)

    def _failed(self, control: Observation) -> Judgement | None:
        errors = control.of("error")
        if not errors:
            return None
        why = f"reading fails without workers, too: {errors[0]['type']}: {first_line(errors[0]['text'])}"
        return inconclusive(why, "make it work with num_workers=0 first")

    def _harm(self, seen: Observation) -> Iterator[str]:
        """What went wrong with workers; the control was read to its end."""
        for one in seen.of("unpicklable"):
            yield f"the dataset cannot be pickled for a worker: {one['type']}: {one['text']} ({one['path']})"
        for record in seen.of("worker-died"):
            died = (
                f"was killed by {record['signal']}"
                if record["signal"]
                else f"ended with exit code {record['exit_code']}"
            )
            yield f"a worker {died}"
        errors = seen.of("error")
        if errors and not seen.of("unpicklable") and not seen.of("worker-died"):
            where = f" ({_place(errors[0]['frame'], self.context.root)})" if errors[0]["frame"] else ""
            yield f"{errors[0]['type']}: {first_line(errors[0]['text'])}{where}"
        if seen.ending.signal:
            yield f"the program was killed by {seen.ending.signal}"
        elif seen.ending.stopped_for:
            yield f"stopped for {seen.ending.stopped_for} after {seen.wall_seconds:.0f} s"


def _costs(seen: Observation, control: Observation) -> str:
    """How long the first batch took, and what each worker held then."""
    figures = _figures(seen, control)
    parts = []
    if figures["first_batch_seconds"] is not None:
        with_workers, without = figures["first_batch_seconds"], figures["first_batch_seconds_without_workers"]
        parts.append(f"first batch after {with_workers:.1f} s, without workers after {without:.1f} s")
    if any(figures["worker_bytes"]):
        parts.append(f"each worker uses {max(figures['worker_bytes']) / MIB:.0f} MiB")
    return ", ".join(parts)


def _figures(seen: Observation, control: Observation) -> Mapping[str, Any]:
    first, plain = seen.of("first-batch"), control.of("first-batch")
    return {
        "first_batch_seconds": first[0]["seconds"] if first else None,
        "first_batch_seconds_without_workers": plain[0]["seconds"] if plain else 0.0,
        "worker_bytes": first[0]["worker_bytes"] if first else [],
    }


def _runs(number: int) -> str:
    return f"{number} run{'' if number == 1 else 's'}"


def _place(frame: str, root: Path) -> str:
    return relative_to(Path(frame), root)
