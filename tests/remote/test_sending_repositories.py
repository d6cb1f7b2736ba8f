"""How repositories are sent to workers, and what happens if one is lost."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forklint.remote import repositories
from forklint.remote.cluster import LostError, Machine
from forklint.remote.repositories import AHEAD, Linted, Linting
from forklint.remote.store import Store
from forklint.remote.task_runner import TaskRunner
from forklint.verify.doctor import Environment

ALPHA, BETA = (Machine(name, f"tcp://{name}", name, frozenset(), Environment({})) for name in ("alpha", "beta"))


class LostAlpha:
    """A cluster of which one worker is lost."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def ask(self, machine: Machine, *_: object) -> dict[str, Any]:
        self.asked[machine.name] += 1
        if machine is ALPHA:
            raise LostError("its worker is gone")
        return {"findings": []}

    def wait_for(self, found: Callable[[Machine], bool], patience: float) -> Machine | None:
        return BETA if found(BETA) else None


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    for number in range(20):
        (tmp_path / str(number)).mkdir()
    return [str(path) for path in tmp_path.iterdir()]


def test_a_lost_worker_is_waited_for_once(names: list[str]) -> None:
    cluster, done = LostAlpha(), []
    Linting(cluster, (), done.append).run(names, [ALPHA], {})
    assert sorted(one.name for one in done) == sorted(names)
    assert {one.machine for one in done} == {"beta"}
    assert 1 <= cluster.asked["alpha"] <= AHEAD


def test_without_another_worker_the_losses_are_named(names: list[str]) -> None:
    class Nobody(LostAlpha):
        def wait_for(self, found: Callable[[Machine], bool], patience: float) -> Machine | None:
            return ALPHA

    done: list[Linted] = []
    Linting(Nobody(), (), done.append).run(names[:1], [ALPHA], {})
    assert [one.error.partition(": lost ")[2] for one in done] == [
        "3 times: " + "; ".join(["alpha: its worker is gone"] * 3)
    ]


@pytest.mark.parametrize(("limit", "tasks"), [(2**10, ["lint"]), (0, ["lint", "put", "lint"])])
def test_a_small_repository_is_sent_in_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, tasks: list[str]
) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    task_runner = TaskRunner(Store(tmp_path / "store"), Path(sys.executable), tmp_path)
    monkeypatch.setattr(task_runner._lint, "lint", lambda *_: {"findings": []})
    monkeypatch.setattr(repositories, "SMALL", limit)
    asked, done = [], []

    class One(LostAlpha):
        def ask(self, machine: Machine, name: str, request: Any, seconds: float) -> dict[str, Any]:
            asked.append(name)
            return json.loads(task_runner.perform(name, json.dumps(request)))

    Linting(One(), (), done.append).run([str(tmp_path)], [BETA], {})
    assert [one.error for one in done] == [""]
    assert asked == tasks
