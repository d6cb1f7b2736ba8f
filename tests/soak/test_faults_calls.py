"""Killed at each call that writes, and each such call refused: no file is ever half-written, and none is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from faulty_calls import SCENARIOS, Scenario, can_trace, faults, files, left_over, ran

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not can_trace(), reason="NOT TESTED: strace is needed, and leave to trace"),
]
STEPS = {"store": 5}
"""The cache alone makes dozens of calls; tests/test_store_faults.py has all of them."""
ERRORS = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES"]
REASONS = ("No space left", "quota exceeded", "Input/output error", "Read-only file system", "Permission denied")


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    return SCENARIOS[request.param]


@pytest.fixture
def outcome(scenario: Scenario, tmp_path: Path) -> tuple[dict[str, bytes], dict[str, bytes], str]:
    """The files before and after the command, and what it prints."""
    project = tmp_path / "project"
    scenario.prepare(project)
    before = files(project)
    done = ran(scenario, project)
    assert done.returncode in {0, 1}, done.stderr
    after = files(project)
    assert before != after or scenario.name == "store"
    return before, after, done.stdout


def is_whole(project: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    for name, data in files(project).items():
        assert data in {before.get(name), after.get(name)}, f"{name} is half-written"
    assert files(project).keys() >= before.keys(), "nothing is lost"


def comes_to_the_same(
    scenario: Scenario, project: Path, outcome: tuple[dict[str, bytes], dict[str, bytes], str]
) -> None:
    """A further run, without a fault, has the same outcome."""
    again = ran(scenario, project)
    assert again.returncode in {0, 1}, again.stderr
    assert files(project) == outcome[1]
    if scenario.name == "store":
        assert json.loads(again.stdout) == json.loads(outcome[2])


def test_killed_at_each_call(
    scenario: Scenario, tmp_path: Path, outcome, record_property: Callable[[str, object], None]
) -> None:
    before, after, _ = outcome
    kills = 0
    for project, fault in faults(scenario, tmp_path, "signal=KILL", STEPS.get(scenario.name, 1)):
        done = ran(scenario, project, *fault)
        assert done.returncode in {-9, 137}, f"{fault}: it was not killed"
        is_whole(project, before, after)
        comes_to_the_same(scenario, project, outcome)
        kills += 1
    record_property("figures", f"{scenario.name}: killed at {kills} calls")
    assert kills >= 4


@pytest.mark.parametrize("error", ERRORS)
def test_each_call_refused(
    scenario: Scenario, error: str, tmp_path: Path, outcome, record_property: Callable[[str, object], None]
) -> None:
    """Each error at each call; of the store's calls each error has a share of its own."""
    before, after, _ = outcome
    refused = calls = 0
    step, first = 1, 0
    if scenario.name in STEPS:
        step, first = STEPS[scenario.name] * len(ERRORS), STEPS[scenario.name] * ERRORS.index(error)
    for project, fault in faults(scenario, tmp_path, f"error={error}", step, first):
        done = ran(scenario, project, *fault)
        assert "Traceback" not in done.stderr + done.stdout, f"{fault}: {done.stderr}"
        assert done.returncode in {0, 1, 2}, (fault, done.returncode, done.stderr)
        is_whole(project, before, after)
        if files(project) != after:
            assert done.returncode == 2, (fault, done.stdout, done.stderr)
            printed = re.sub(r"\s+", " ", done.stdout + done.stderr)
            assert any(reason in printed for reason in REASONS), (fault, printed)
            assert "internal error" not in printed, (fault, printed)
        assert left_over(project) == [], fault
        comes_to_the_same(scenario, project, outcome)
        refused += done.returncode == 2
        calls += 1
    record_property("figures", f"{scenario.name}: {error} at {calls} calls, {refused} of which ended in an error")
    assert refused or scenario.name == "store"
