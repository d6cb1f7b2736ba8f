"""Cells of FKL301's experiment judged from what a trial wrote down."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from proven import forced

from forklint.report import verdicts
from forklint.verify.doctor import Environment
from forklint.verify.handle_harm import cell_of
from forklint.verify.proving import Result
from forklint.verify.samples import Truth
from forklint.verify.stuck import is_hung
from forklint.verify.words import Ending, Factors, Judgement, Observation, Subject, Trial, Verdict

HELD = {"attribute": "dataset.file", "state": "open", "type": "_io.BufferedReader", "opener": 1, "opened_at": ""}


def observation(*records: dict[str, Any], method: str = "fork", seconds: float = 60, **ending: Any) -> Observation:
    """What a trial wrote down, each record with its kind and time."""
    trial = Trial("t", Subject("entry", ("train.py",), Path()), "samples", factors=Factors(method, 2), seconds=seconds)
    told = tuple({"pid": 1, "role": "main", "time": 0.0, **record} for record in records)
    return Observation(trial, Ending(**ending), told, wall_seconds=seconds)


def times(start: float, *later: float) -> list[dict[str, Any]]:
    """A program that reaches its loader after so many seconds, and reads batches at others."""
    begun = [{"kind": "process"}, {"kind": "target", "time": start}, {"kind": "handle-held", "time": start, **HELD}]
    return begun + [{"kind": "samples", "time": time, "indices": [1], "digests": ["a"]} for time in later]


@pytest.mark.parametrize(
    ("method", "control", "treatment", "hangs"),
    [
        ("fork", times(2, 2.1, 2.2), times(2, 2.1), True),
        ("fork", times(56, 56.1, 56.2), times(56, 56.1), False),  # it had no time to read
        ("fork", times(2, 14, 26), times(2, 40), False),  # a batch takes twelve seconds
        ("spawn", times(25, 25.1), times(25), False),  # its worker imports as long as the program did
        ("spawn", times(3, 3.1), times(3), True),
        ("fork", times(2, 2.1), [*times(2, 2.2), {"kind": "done", "time": 3.0}], False),  # it hangs in its end
    ],
)
def test_a_slow_program_is_no_hang(method: str, control: list, treatment: list, hangs: bool) -> None:
    seen = observation(*treatment, method=method, stopped_for="time")
    assert is_hung(seen, [observation(*control, exit_code=0)]) is hangs
    cell = cell_of(seen, [observation(*control, exit_code=0)], Truth())
    assert ("hangs" in cell.evidence) is hangs


def test_another_part_whose_name_begins_alike_is_not_the_handle() -> None:
    lock = {"kind": "unpicklable", "path": "dataset.file_lock", "type": "TypeError", "text": "cannot pickle"}
    seen = observation(*times(1), lock, {"kind": "done"}, method="spawn", exit_code=0)
    cell = cell_of(seen, [], Truth())
    assert cell.verdict is Verdict.INCONCLUSIVE
    assert "another part of the dataset cannot be pickled: dataset.file_lock" in cell.evidence
    inner = observation(*times(1), {**lock, "path": "dataset.file.raw"}, {"kind": "done"}, method="spawn", exit_code=0)
    assert cell_of(inner, [], Truth()).verdict is Verdict.CONFIRMED


def test_cuda_in_a_forked_worker_is_not_held_against_the_handle() -> None:
    text = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use 'spawn'"
    error = {"kind": "error", "phase": "worker", "type": "RuntimeError", "text": text, "frame": ""}
    cell = cell_of(observation(*times(1), error, {"kind": "done"}, exit_code=0), [], Truth())
    assert cell.verdict is Verdict.INCONCLUSIVE
    assert "workers use CUDA, which the program initialized before the fork" in cell.evidence


@pytest.mark.parametrize(
    ("signal", "code", "words"),
    [
        ("SIGBUS", None, "a worker was killed by SIGBUS"),
        ("SIGABRT", None, "a worker was killed by SIGABRT"),
        ("", 7, "a worker ended with exit code 7"),
    ],
)
def test_how_a_worker_died_is_named(signal: str, code: int | None, words: str) -> None:
    died = {"kind": "worker-died", "worker": 7, "signal": signal, "exit_code": code, "stack": "in __getitem__"}
    used = {"kind": "handle-used", "attribute": "dataset.file", "opener": 1, "user": 7}
    cell = cell_of(observation(*times(1), used, died, {"kind": "done"}, exit_code=0), [], Truth())
    assert cell.verdict is Verdict.CONFIRMED
    assert words in cell.evidence
    assert cell.stack == "in __getitem__"


def test_figures_are_in_the_grid_and_in_json(tmp_path: Path) -> None:
    slow = {"kind": "pass", "ended": True, "samples": 40, "seconds": 2.0, "first_seconds": 1.5}
    seen = replace(observation(slow, {**slow, "seconds": 0.5}, exit_code=0), peak_bytes=3 << 20)
    result = Result(forced(tmp_path, "A", "b"), "claim", Judgement(Verdict.REFUTED, "none"), (seen,))
    assert "exit code 0, 60.0 s, 3 MiB, first batch 1.50 s, 80 samples/s" in verdicts.text([result])
    (trial,) = json.loads(verdicts.to_json(Environment({}), [result]))["experiments"][0]["trials"]
    figures = (trial["first_batch_seconds"], trial["samples_per_second"], trial["peak_bytes"])
    assert figures == (1.5, 80.0, 3 << 20)


def test_what_a_program_wrote_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    judgement = Judgement(Verdict.INCONCLUSIVE, "ended with ValueError: \x1b[2Jred")
    text = verdicts.text([Result(forced(tmp_path, "A", "b"), "claim", judgement)])
    assert "\\x1b[2Jred" in text
    assert "\x1b[2J" not in text
