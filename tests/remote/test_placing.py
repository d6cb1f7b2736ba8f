"""Which machine runs a finding, and what is said where none can."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pretended_environment import FACTS, with_torch

from forklint import __version__
from forklint.config import Settings
from forklint.model import Finding, Severity, Span
from forklint.remote.cluster import RUNNING, LostError, Machine, SignsOfLife
from forklint.remote.placing import Placement, labels_for, place, runs_here, unplaced
from forklint.verify import proving
from forklint.verify.doctor import Environment
from forklint.verify.experiments.base import Context
from forklint.verify.proving import Planned
from forklint.verify.words import Experiment, Judgement, Verdict

FINDING = Finding("FKL304", "x", Severity.ERROR, "a.py", Span(1, 1, 1, 1), "m", proof={"kind": "cuda"})


def machine(name: str, *labels: str) -> Machine:
    return Machine(name, f"tcp://{name}", name, frozenset(labels), Environment({}))


def planned(outcome: Experiment | Judgement) -> Planned:
    return Planned(FINDING, Context(Path(), Settings(), Environment({})), outcome)


def needing(*labels: str) -> Planned:
    return planned(Judgement(Verdict.UNSUPPORTED, "needs it", "go there", needs=labels))


def test_the_least_busy_machine_with_a_label_is_chosen() -> None:
    machines = [machine("a", "linux", "cuda"), machine("b", "linux", "cuda"), machine("mac", "darwin", "mps")]
    needs = [("cuda",), (), ("cuda",), ("darwin", "windows"), ("mps",), ("windows",), ("cuda",)]
    placed = place(needs, machines)
    assert [where.machine.name if where.machine else "" for where in placed] == ["a", "", "b", "mac", "mac", "", "a"]


def test_a_finding_needs_what_its_experiment_says() -> None:
    here = with_torch()
    (found,) = proving.plan([FINDING], lambda _: Context(Path.cwd(), Settings(), here))
    assert labels_for(found, ()) == ("cuda",)
    assert labels_for(needing("darwin"), ("python3.14",)) == ("python3.14",), "what the user asks for goes first"
    said = planned(Judgement(Verdict.INCONCLUSIVE, "no script", "pass one"))
    assert labels_for(said, ("cuda",)) == (), "nothing would run there"


def test_without_a_machine_what_can_be_shown_here_is_shown() -> None:
    shows = planned(Experiment(FINDING, "claim", (), needs=("darwin",)))
    assert runs_here(shows, Placement(("darwin",)))
    assert not runs_here(shows, Placement(("cuda",))), "the user asked for another machine"
    assert not runs_here(shows, Placement(("darwin",), machine("mac", "darwin")))
    assert not runs_here(needing("cuda"), Placement(("cuda",)))
    judgement = unplaced(("darwin", "windows"), needing("darwin", "windows"))
    assert judgement.verdict is Verdict.UNSUPPORTED
    assert judgement.evidence == "needs it"
    assert judgement.advice.startswith("no worker has the label 'darwin' or 'windows': start one")


def card(**changes: object) -> dict[str, str]:
    told = {
        "name": "mac",
        "labels": ["darwin"],
        "environment": FACTS,
        "version": __version__,
        "token": "t",
    }
    return {"forklint": json.dumps({**told, **changes})}


def test_only_workers_of_this_version_are_machines() -> None:
    found = Machine.of("tcp://x", card())
    assert found is not None
    assert (found.name, found.labels, found.token) == ("mac", {"darwin"}, "t")
    odd = [{"version": "0"}, {"labels": 1}, {"environment": {}}, {"environment": []}, {"name": "\x1b[2J"}]
    for other in ({}, {"forklint": "{"}, *(card(**changes) for changes in odd)):
        assert Machine.of("tcp://x", other) is None


def signs_at(*looks: tuple[float, int, str]) -> None:
    """Look at a worker at these seconds: its last sign of life, and the task that it runs."""
    signs = SignsOfLife("mine", seconds=60)
    began = time.monotonic()
    for second, beat, running in looks:
        signs.look({"last_seen": beat, "metrics": {RUNNING: running}}, began + second)


def test_a_worker_that_is_alive_is_waited_for() -> None:
    signs_at(
        *((second, second, "theirs") for second in range(0, 1000, 10)), *((1000 + n, n, "mine") for n in range(170))
    )


@pytest.mark.parametrize(
    ("looks", "why"),
    [
        ([(0, 1, "mine"), (10, 1, "mine"), (21, 1, "mine")], "silent for 20 s"),
        ([(second, second, "") for second in range(0, 130, 5)], "idle for 120 s"),
        ([(second, second, "mine") for second in range(0, 200, 5)], "not answered for 185 s"),
        ([(second, second, "theirs" if second < 100 else "") for second in range(0, 230, 5)], "idle for 120 s"),
    ],
    ids=["silent", "idle", "stuck", "idle later"],
)
def test_a_worker_that_is_not_is_lost(looks: list[tuple[float, int, str]], why: str) -> None:
    with pytest.raises(LostError, match=why):
        signs_at(*looks)
