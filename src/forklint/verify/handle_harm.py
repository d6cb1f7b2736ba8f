"""One cell of FKL301's experiment: what happened to the handle, and what came of it."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from forklint.verify import samples
from forklint.verify.samples import Truth
from forklint.verify.stuck import is_hung, stuck_workers
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Judgement, Observation, Verdict

BOOTSTRAPPING = "before the current process has finished its bootstrapping phase"
MOST_NAMED = 8
"""Wrong indices named in one line."""
OPEN = "open"
REINITIALIZED = "Cannot re-initialize CUDA in forked subprocess"
ELSEWHERE = (
    "the stack does not name the handle: also look for threads that the parent started before the fork, "
    "such as those of a parallel torch operation"
)

NAME_IT = "pass a script, or a factory, that finds real data"
UNSENT = "look for values that the script sets in a module or class at run time: a spawned worker does not have them"


@dataclass(frozen=True)
class Cell:
    """The verdict on one cell."""

    verdict: Verdict
    evidence: str
    advice: str = ""
    wrong: tuple[Any, ...] = ()
    """Indices of samples that differ from the control."""
    passes: int = 0
    stack: str = field(default="", repr=False)

    def as_json(self) -> Mapping[str, Any]:
        """The cell as the report's grid has it."""
        return {
            "verdict": self.verdict.value,
            "evidence": self.evidence,
            "advice": self.advice,
            "wrong": list(self.wrong),
            "passes": self.passes,
            "stack": self.stack,
        }


def cell_of(seen: Observation, controls: Sequence[Observation], known: Truth) -> Cell:
    """Judge one treatment."""
    hung = is_hung(seen, controls)
    died = seen.ending.signal if seen.of("handle-held") else ""
    unreached = None if hung or died else why_unreached(seen, "a loader of its dataset")
    if unreached:
        return Cell(unreached.verdict, unreached.evidence, unreached.advice)
    held = seen.of("handle-held")
    if not held:
        words = "the loader's dataset contains no object of the class that stores the handle"
        return Cell(Verdict.INCONCLUSIVE, words, "pass a script that creates it")
    decided = _unsendable(seen) or _another_cause(seen)
    if decided:
        return decided
    states = {record["state"] for record in held}
    harm = _harm(seen, controls, known, hung=hung)
    if OPEN not in states:
        return _nothing_open(held, harm)
    if (seen.trial.factors.start_method or "fork") == "fork":
        return _forked(seen, harm, known)
    return _pickled(seen, harm, known)


def paired(cell: Cell, mended: Observation | None, known: Truth) -> Cell:
    """The cell of made-up data, beside the same trial with the finding mended.

    That the handle is not open says nothing there: other arguments may open it.
    """
    if cell.verdict is Verdict.REFUTED:
        return replace(
            cell, verdict=Verdict.INCONCLUSIVE, evidence=f"with generated data, {cell.evidence}", advice=NAME_IT
        )
    if cell.verdict is not Verdict.CONFIRMED:
        return cell
    problem = _not_cured(mended, known if cell.wrong else Truth())
    if problem:
        return replace(cell, verdict=Verdict.INCONCLUSIVE, evidence=f"{cell.evidence}; {problem}", advice=NAME_IT)
    assert mended is not None  # noqa: S101 - there is no problem
    return replace(cell, evidence=f"{cell.evidence}; {mended.trial.factors.code} no harm")


def unread(seen: Observation, mended: Observation | None, why: Judgement | None) -> Cell:
    """The cell of a dataset from which no sample can be read, for the reason given: whether a worker can be sent it.

    Nothing else counts, and the mended trial must start its worker.
    """
    sending = _unsendable(seen) if seen.of("handle-held") else None
    reason = why.evidence if why else "no sample can be read"
    if sending is None:
        return Cell(Verdict.INCONCLUSIVE, reason, why.advice if why else NAME_IT)
    how = mended.trial.factors.code if mended else "with the fix"
    refused = mended.of("unpicklable") if mended else ()
    if mended is None or refused or not mended.of("worker"):
        other = f"too: {refused[0]['type']}: {first_line(refused[0]['text'])}" if refused else "no worker starts"
        return Cell(Verdict.INCONCLUSIVE, f"{sending.evidence}; {how}, {other}; {reason}", NAME_IT)
    return replace(sending, evidence=f"{sending.evidence}; {how} it is sent; {reason}")


def _not_cured(mended: Observation | None, known: Truth) -> str:
    """Why the mended trial does not show that the harm was the handle's; empty if it does."""
    if mended is None:
        return "it was not run with the fix"
    how = mended.trial.factors.code
    unreached = why_unreached(mended, "a loader of its dataset")
    if unreached:
        return f"{how}: {unreached.evidence}"
    errors = [one for one in mended.of("error") if one["phase"] != "collating"] or mended.of("unpicklable")
    if errors:
        return f"{how}, too: {errors[0]['type']}: {first_line(errors[0]['text'])}"
    if mended.of("worker-died") or not any(one["batches"] for one in mended.of("pass")):
        return f"{how} no batch is read"
    return f"{how} samples differ, too" if samples.wrong(mended, known) else ""


def _another_cause(seen: Observation) -> Cell | None:
    """The cell of a program whose workers come to harm for a reason that is known, and is not the handle."""
    if BOOTSTRAPPING in seen.output or seen.of("runs-while-importing"):
        words = "every worker that imports the script runs it again"
        return Cell(Verdict.INCONCLUSIVE, words, 'add a main guard (`if __name__ == "__main__":`) first')
    for record in seen.of("error"):
        if REINITIALIZED in record["text"]:
            words = (
                f"workers use CUDA, which the program initialized before the fork: {record['type']}: {REINITIALIZED}"
            )
            advice = "keep tensors on the CPU in __getitem__, or use spawn"
            return Cell(Verdict.INCONCLUSIVE, words, advice)
    return None


def _passes(seen: Observation) -> int:
    return len(seen.of("pass"))


def _counted(passes: int) -> str:
    return "1 pass" if passes == 1 else f"{passes} passes"


def _nothing_open(held: Sequence[Mapping[str, Any]], harm: Cell | None) -> Cell:
    state = held[0]["state"]
    words = {
        "closed": "it is closed",
        "none": "it is None",
        "absent": "nothing is stored",
        "array": f"it holds {held[0]['type']}, which shares neither an offset nor a lock",
        "plain": f"it holds {held[0]['type']}, not a handle",
    }[state]
    if harm is None:
        return Cell(Verdict.REFUTED, f"{words} when workers start")
    advice = "look for another handle or other shared state"
    return Cell(Verdict.INCONCLUSIVE, f"{words} when workers start, but: {harm.evidence}", advice, harm.wrong)


def _forked(seen: Observation, harm: Cell | None, known: Truth) -> Cell:
    users = {record["user"] for record in seen.of("handle-used") if record["opener"] != record["user"]}
    moved = seen.of("offset-moved")
    opened = _opening(seen)
    passes = _passes(seen)
    if not users and not moved:
        if harm is None:
            own = {record["user"] for record in seen.of("handle-used")}
            words = f"each of {len(own)} workers opened its own" if own else "no worker used it"
            return Cell(Verdict.REFUTED, f"open when workers start, but {words}", passes=passes)
        advice = "look for other shared state"
        evidence = f"no worker was observed to use the handle, but: {harm.evidence}"
        return Cell(Verdict.INCONCLUSIVE, evidence, advice, harm.wrong, passes)
    over = f"over {_counted(passes)} " if len(users) > (seen.trial.factors.workers or 0) else ""
    witness = f"{opened}, used {over}in {len(users)} workers that did not open it" if users else opened
    if moved:
        witness += ", whose reads moved the parent's file offset"
    rival = _rival(seen) if harm is not None else ""
    if harm is not None and rival:
        words = f"{harm.evidence} ({witness}), but `{rival}` is also open, and is the more likely cause"
        return Cell(Verdict.INCONCLUSIVE, words, f"fix `{rival}` first, then verify again", harm.wrong, passes)
    if harm is not None:
        return Cell(Verdict.CONFIRMED, f"{harm.evidence} ({witness})", harm.advice, harm.wrong, passes, harm.stack)
    count = samples.compared(seen, known)
    if count and not samples.agreeing(seen, known):
        return _depending(passes)
    if not count:
        words = "its samples depend on previous reads or on the worker, so they cannot be compared"
        if known.undigestable and not known.stateful:
            words = "its samples cannot be compared"
        advice = "make samples depend only on their index, or add a factory that does"
        return Cell(Verdict.INCONCLUSIVE, f"{witness}; no error in {_counted(passes)}, but {words}", advice, (), passes)
    words = f"{witness}; no harm in {_counted(passes)}, {count} samples compared"
    return Cell(Verdict.NOT_REPRODUCED, words, passes=passes)


def _rival(seen: Observation) -> str:
    """Another handle of the dataset that what went wrong points to; empty if nothing does.

    A worker's error names the handle in its line, or does not; else it is the one whose offset was moved.
    """
    own = [record["attribute"] for record in seen.of("handle-held")]
    others = [record["attribute"] for record in seen.of("rival-held")]
    if not others or seen.of("offset-moved"):
        return ""
    lines = [_line_of(record["frame"]) for record in seen.of("error") if record["phase"] == "worker"]
    for line in lines[:1]:
        if any(_names(line, path) for path in own):
            return ""
        named = [path for path in others if _names(line, path)]
        if named:
            return str(named[0])
    return next((str(record["attribute"]) for record in seen.of("rival-moved")), "")


def _names(line: str, path: str) -> bool:
    return re.search(rf"\b{re.escape(path.rpartition('.')[2])}\b", line) is not None


def _line_of(frame: str) -> str:
    """The source line of ``file:line, in name``."""
    file, _, row = frame.partition(", in ")[0].rpartition(":")
    return linecache.getline(file, int(row)) if row.isdigit() else ""


def _depending(passes: int) -> Cell:
    words = "every sample differs every time: samples depend on the worker that reads them"
    return Cell(Verdict.INCONCLUSIVE, words, "make samples depend only on their index", (), passes)


def _pickled(seen: Observation, harm: Cell | None, known: Truth) -> Cell:
    passes = _passes(seen)
    culprits = seen.of("unpicklable")
    if culprits:
        names = ", ".join(f"{one['path']} ({one['type']}: {first_line(one['text'])})" for one in culprits)
        words = f"another part of the dataset cannot be pickled: {names}"
        return Cell(Verdict.INCONCLUSIVE, words, f"make {culprits[0]['path']} picklable first")
    if harm is not None and _is_of_handle(seen):
        return Cell(Verdict.CONFIRMED, harm.evidence, harm.advice, harm.wrong, passes, harm.stack)
    if harm is not None:
        words = f"the handle is dropped or reopened when it is pickled, but: {harm.evidence}"
        return Cell(Verdict.INCONCLUSIVE, words, UNSENT, harm.wrong, passes, harm.stack)
    count = samples.compared(seen, known)
    if count and not samples.agreeing(seen, known):
        return _depending(passes)
    words = f"the handle is dropped or reopened when it is pickled, and {count} samples in {_counted(passes)} agree"
    return Cell(Verdict.REFUTED, words, passes=passes)


def _is_of_handle(seen: Observation) -> bool:
    """Whether what went wrong in a worker that got a pickle has to do with the handle: its line says so, or it died."""
    if seen.of("worker-died") or seen.ending.signal or seen.ending.stopped_for:
        return True
    own = [record["attribute"] for record in seen.of("handle-held")]
    lines = [_line_of(record["frame"]) for record in seen.of("error")]
    return any(_names(line, path) for line in lines for path in own)


def _unsendable(seen: Observation) -> Cell | None:
    """The cell of a dataset that does not pickle because of the attribute; a closed handle does not, either."""
    states = {record["attribute"]: record["state"] for record in seen.of("handle-held")}
    for culprit in seen.of("unpicklable"):
        for attribute, state in states.items():
            if culprit["path"] == attribute or culprit["path"].startswith((f"{attribute}.", f"{attribute}[")):
                text = first_line(culprit["text"])
                error = f"{culprit['type']}: {text} ({culprit['path']}{', closed' * (state == 'closed')})"
                return Cell(Verdict.CONFIRMED, f"the dataset cannot be pickled for a worker: {error}")
    return None


def _opening(seen: Observation) -> str:
    record = next(one for one in seen.of("handle-held") if one["state"] == OPEN)
    place = record["opened_at"]
    where = f" at {PurePath(place).name}" if place else ""
    return f"{record['type'].rpartition('.')[2]} opened in process {record['opener']}{where}"


def _harm(seen: Observation, controls: Sequence[Observation], known: Truth, *, hung: bool) -> Cell | None:
    """What went wrong in this cell and not in the control; the verdict in it means nothing."""
    told = list(_deaths(seen)) + list(_errors(seen, controls))
    wrong = tuple(samples.wrong(seen, known))
    if wrong and samples.agreeing(seen, known):
        told.append(_differing(seen, wrong, known, quietly=not told))
    if seen.ending.signal:
        told.append(f"the program was killed by {seen.ending.signal}")
    if hung:
        told.append(f"hangs: still running after {seen.trial.seconds:g} s{_where(seen)}")
    if not told:
        return None
    advice = ELSEWHERE if hung and len(told) == 1 and not _hangs_at_handle(seen) else ""
    stack = next((one["stack"] for one in seen.of("worker-died") if one["stack"]), "")
    return Cell(Verdict.CONFIRMED, "; ".join(told), advice, wrong, _passes(seen), stack or seen.stacks)


def _where(seen: Observation) -> str:
    stuck = stuck_workers(seen)
    if not stuck:
        return ""
    frames = list(dict.fromkeys(str(frame) for _, frame in stuck))
    return f", {'a worker' if len(stuck) == 1 else f'{len(stuck)} workers'} stuck at {' and '.join(frames)}"


def _hangs_at_handle(seen: Observation) -> bool:
    """Whether a line at which a worker is stuck names an attribute that holds the handle."""
    names = {record["attribute"].rpartition(".")[2] for record in seen.of("handle-held")}
    stuck = stuck_workers(seen)
    return not stuck or any(name in frame.text for _, frame in stuck for name in names)


def _deaths(seen: Observation) -> Iterator[str]:
    found: dict[str, int] = {}
    for record in seen.of("worker-died"):
        how = f"killed by {record['signal']}" if record["signal"] else f"ended with exit code {record['exit_code']}"
        found[how] = found.get(how, 0) + 1
    for how, count in found.items():
        who = "a worker" if count == 1 else f"{count} workers"
        was = ("was " if count == 1 else "were ") if how.startswith("killed") else ""
        yield f"{who} {was}{how}"


def _errors(seen: Observation, controls: Sequence[Observation]) -> Iterator[str]:
    usual = {record["type"] for control in controls for record in control.of("error")}  # that of a collate_fn, say
    errors = [record for record in seen.of("error") if record["type"] not in usual]
    inner = [record for record in errors if record["phase"] == "worker" or record["phase"] == "collating"]
    for record in (inner or errors)[:1]:
        if inner or not seen.of("worker-died"):  # what the loader says of a dead worker was told
            where = f" ({PurePath(record['frame']).name})" if record["frame"] else ""
            text = first_line(record["text"])
            yield f"{record['type']}{': ' if text else ''}{text}{where}"


def _differing(seen: Observation, wrong: Sequence[Any], known: Truth, *, quietly: bool) -> str:
    after = ", although every process exits with 0" if quietly else ""
    if known.stream is not None:
        return f"{len(wrong)} samples of the stream differ from the control{after}"
    named = ", ".join(map(str, wrong[:MOST_NAMED])) + (", ..." if len(wrong) > MOST_NAMED else "")
    return (
        f"{len(wrong)} of {len(known.digests)} samples differ from the control in {_counted(_passes(seen))}"
        f" (indices {named}){after}"
    )
