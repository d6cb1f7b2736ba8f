"""FKL602 proved: who builds the class is counted, in the program or for a small one like it."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

HAS_DAFT = importlib.util.find_spec("daft") is not None
CLASS = """
import daft
import torch


@daft.cls
class Score:
    def __init__(self, path):
        self.model = torch.load(path) if path else None

    def __call__(self, x: int) -> float:
        return float(x)
"""
RUN = """

if __name__ == "__main__":
    {run}
"""
ELSEWHERE = """import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=Score, args=(None,))
    child.start()
    child.join()
"""
STUB = '''"""Stands for Daft where only the watch on its classes is tried."""


def cls(target=None, **options):
    return target if target is not None else (lambda target: target)
'''


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str, beside: str = "") -> dict:
        project = tmp_path / "project"
        project.mkdir()
        (project / "forklint.toml").touch()
        (project / "score.py").write_text(text)
        words = ("verify", "score.py", "--select", "FKL602", "--output-format", "json", *arguments)
        paths = os.pathsep.join(part for part in (beside, os.environ.get("PYTHONPATH", "")) if part)
        (found,) = json.loads(command(*words, cwd=project, env={"PYTHONPATH": paths}).stdout)["experiments"]
        return found

    return run


@pytest.mark.skipif(HAS_DAFT, reason="daft is installed")
def test_without_daft_nothing_can_be_said(verdict) -> None:
    found = verdict(CLASS)
    assert found["verdict"] == "inconclusive"
    assert found["evidence"] == "ModuleNotFoundError: No module named 'daft'"
    assert found["advice"].startswith("install daft")


@pytest.mark.skipif(not HAS_DAFT, reason="daft is not installed")
def test_a_small_class_shows_where_daft_builds_it(verdict) -> None:
    found = verdict(CLASS)
    assert found["verdict"] in {"confirmed", "not reproduced"}, found
    assert found["evidence"].startswith("a small class instead of it is created")


@pytest.mark.parametrize(
    ("run", "verdict_of", "evidence"),
    [
        ("Score(None), Score(None)", "confirmed", "the class is created 2 times, never in a separate process"),
        pytest.param(
            ELSEWHERE,
            "confirmed",
            "the class is created once, once in a separate process",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "Score(None)",
            "not reproduced",
            "the class is created once, never in a separate process; Daft chooses depending on how a query runs",
            marks=pytest.mark.soak,
        ),
        pytest.param("print(1)", "inconclusive", "the class was not created: 1", marks=pytest.mark.soak),
    ],
)
def test_the_program_itself(verdict, tmp_path: Path, run: str, verdict_of: str, evidence: str) -> None:
    (tmp_path / "daft.py").write_text(STUB)  # outside the project, or its names would be the project's own
    found = verdict(CLASS + RUN.format(run=run), "--", beside=str(tmp_path))
    assert (found["verdict"], found["evidence"]) == (verdict_of, evidence), found
