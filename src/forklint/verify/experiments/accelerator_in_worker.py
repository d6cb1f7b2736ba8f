"""FKL304: workers use an accelerator that their parent uses.

It needs one. The control reads the loader with no workers; each treatment differs from it in the workers, how they
start, and whether their batches are pinned. What spawned workers take of the accelerator's memory is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify.experiments.base import Experimenter, inconclusive, worst_of
from forklint.verify.subjects import NO_WAY_OUT, subject_of
from forklint.verify.unreached import why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Verdict

WORKERS = 2
BATCHES = 4
MIB = 2**20
NAMES = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "hpu": "HPU"}


class AcceleratorInWorker(Experimenter):
    """One control, and a treatment for each start method, forked ones with pinned memory and without."""

    code = "FKL304"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find a program that makes the loader, if the accelerator is here."""
        proof, context = finding.proof, self.context
        kind = str(proof["kind"])
        name = NAMES.get(kind, kind)
        if not self.has(kind):
            advice = f"run forklint verify on a machine with {name}"
            return Judgement(Verdict.UNSUPPORTED, f"needs {name}", advice, needs=(kind,))
        path = from_root(Path(proof["call"]["file"]))
        subject = subject_of(path, self.context.sources, context.project())
        if subject is None:
            return inconclusive(f"no script is known that creates the loader in {path.name}", NO_WAY_OUT)
        spec = {
            "call": proof["call"],
            "line": proof["line"],
            "kept": bool(proof["kept"]),
            "device": kind,
            "batches": BATCHES,
            "others": context.others,
        }
        trials = [
            self.trial(finding, subject, "accelerator", spec, cell, is_control=not cell.workers)
            for cell in self._cells(kind)
        ]
        if len(trials) == 1:
            return inconclusive("no start method to try", "run it without --start-method")
        return Experiment(finding, f"workers cannot share {name} with their parent", tuple(trials))

    def has(self, kind: str) -> bool:
        """Whether the accelerator is at hand."""
        torch = self.context.environment.torch
        return bool(torch.get("gpus")) if kind == "cuda" else bool(torch.get("mps")) and kind == "mps"

    def _cells(self, kind: str) -> Iterator[Factors]:
        yield Factors(workers=0, device=kind)
        for method in self.context.methods("fork", "spawn", "forkserver"):
            cell = Factors(method, WORKERS, device=kind)
            pinned = (False, True) if method == "fork" and kind == "cuda" else (None,)
            yield from (replace(cell, pin_memory=pin) for pin in pinned)

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is never reached, or that cannot be read without workers, shows nothing with them."""
        for seen in controls:
            unreached = why_unreached(seen, "the loader")
            errors = seen.of("error")
            if unreached or errors:
                why = f"reading fails without workers, too: {_words(errors[0])}" if errors else ""
                return unreached or inconclusive(why, "make it work with num_workers=0 first")
        return None

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by an error of a worker that the control does not have; the worst cell counts."""
        problem = self.unprovable([seen for seen in observations if seen.trial.is_control])
        if problem:
            return problem
        cells = {str(seen.trial.factors): _cell(seen) for seen in observations if not seen.trial.is_control}
        return worst_of(cells)


def _cell(seen: Observation) -> Judgement:
    """What became of the workers of one treatment."""
    errors, reached = seen.of("error"), seen.of("line-reached")
    is_kept = bool(seen.trial.spec["kept"])
    culprits = seen.of("unpicklable")
    if culprits:
        names = ", ".join(f"{one['path']} ({one['type']}: {one['text']})" for one in culprits)
        return inconclusive(f"an object for the workers cannot be pickled: {names}", "fix that first")
    if errors and (reached or is_kept):
        return Judgement(Verdict.CONFIRMED, _words(errors[0]))
    if seen.ending.signal and (reached or is_kept):
        return Judgement(Verdict.CONFIRMED, f"the program was killed by {seen.ending.signal}")
    unreached = why_unreached(seen, "the loader")
    if unreached:
        return unreached
    if errors:
        return inconclusive(f"it fails before that line: {_words(errors[0])}", "fix that first")
    if not reached and not is_kept:
        return Judgement(Verdict.REFUTED, "workers read their batches without reaching that line")
    taken = next((record["taken"] for record in seen.of("read") if record["taken"]), 0)
    cost = f"; the workers took {taken / MIB:.0f} MiB of the accelerator's memory" if taken else ""
    return Judgement(Verdict.NOT_REPRODUCED, f"workers used it without an error{cost}")


def _words(error: object) -> str:
    """The error in one line: what torch says of a worker's error names the cause in a line of its own."""
    record = error if isinstance(error, dict) else {}
    lines = [line.strip() for line in str(record.get("text", "")).splitlines() if line.strip()]
    cause = next((line for line in reversed(lines) if line.startswith(("RuntimeError", "NotImplementedError"))), "")
    return cause or f"{record.get('type', '')}: {lines[0] if lines else ''}"
