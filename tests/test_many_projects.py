"""Many projects in one run: those that are done are forgotten, and nothing that is said of them depends on it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hazards import SHORT_HAZARD

from forklint import linters as run_linters
from forklint.parallel import Job, lint
from forklint.project.index import Project


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files of four projects, one within another, each with a base class in a file of its own."""
    found = []
    for name in ("outer", "outer/inner", "second", "third"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "pyproject.toml").touch()
        (folder / "a_data.py").write_text(SHORT_HAZARD)
        (folder / "z_more.py").write_text("from a_data import *\n\n" + SHORT_HAZARD)
        found += [folder / "a_data.py", folder / "z_more.py"]
    return sorted(found)


@pytest.mark.parametrize("keeps", [False, True])
def test_forgetting_changes_nothing_that_is_said(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, keeps: bool
) -> None:
    whole = lint(Job(), files, 1)
    assert all(report.findings for report in whole)
    monkeypatch.setattr(run_linters, "MOST_KEPT", 0)
    assert lint(Job(keeps=keeps), files, 1) == whole
    assert lint(Job(keeps=keeps), files, 1) == whole  # from what is kept, if it is


@pytest.mark.soak
def test_projects_that_are_done_take_no_memory(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_linters, "MOST_KEPT", 0)
    gc.collect()
    before = projects()
    linters = Job().linters()
    most = 0
    for path in files:
        linter = linters.of(path)
        linters.leave(linter)
        linter.lint(path)
        gc.collect()
        most = max(most, projects() - before)
    assert most == 1
    assert linter.project.weight > 40 * len(SHORT_HAZARD)


def test_a_few_small_projects_are_kept(files: list[Path]) -> None:
    linters = Job().linters()
    for path in files:
        assert not linters.leave(linters.of(path))


def projects() -> int:
    return sum(issubclass(type(one), Project) for one in gc.get_objects())
