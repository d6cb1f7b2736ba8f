"""What a budget cuts off is the same whatever was asked before: an answer that is known costs what it first cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import FileReport
from forklint.project.index import Project
from forklint.values import cost

STEPS = 9
"""So few that a long sum is given up."""
LOADER = """
from torch.utils.data import DataLoader

def make(data, size):
    return DataLoader(data, batch_size=size, num_workers=2)

first = make([1], ONE)
second = make([2], 9)
""".replace("ONE", " + ".join("1" * STEPS))
SCRIPT = "from loading import make\n\nthird = make([3], 9)\n"


def linter(folder: Path) -> Linter:
    return Linter(Project(folder, Settings()), Options(with_fixes=False))


def linted(with_what: Linter, path: Path) -> FileReport:
    """A report made anew from the answers that are known."""
    return with_what.lint_bytes(path, path.read_bytes())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(cost, "MAX_STEPS", STEPS)
    for name, text in {"loading.py": LOADER, "script.py": SCRIPT}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return sorted(tmp_path.glob("*.py"))


def test_a_second_look_finds_what_the_first_found(files: list[Path]) -> None:
    one = linter(files[0].parent)
    first = linted(one, files[0])
    assert "FKL402" in {note.stopped for note in first.notes}, "a budget has run out"
    assert linted(one, files[0]) == first


def test_files_before_it_change_nothing(files: list[Path]) -> None:
    forwards, backwards = linter(files[0].parent), linter(files[0].parent)
    found = {path: linted(forwards, path) for path in files}
    assert {path: linted(backwards, path) for path in reversed(files)} == found
