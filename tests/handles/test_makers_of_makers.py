"""Objects whose constructors make more of their like: handles are followed through them in proportion to the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project

MODEL = """
import h5py
from torch.utils.data import Dataset

class Volumes(Dataset):
    def __init__(self, path, parts):
        self.file = h5py.File(path, "r")
{makes}

    def __getitem__(self, index):
        return self.file["x"][index]
"""
PAIR = """
import h5py
from torch.utils.data import Dataset

class Left:
    def __init__(self, path):
        self.file = h5py.File(path, "r")
{rights}

class Right:
    def __init__(self, path):
        self.file = h5py.File(path, "r")
{lefts}

class Volumes(Dataset):
    def __init__(self, path):
        self.left = Left(path)

    def __getitem__(self, index):
        return self.left.file["x"][index]
"""


def spent(folder: Path, text: str) -> int:
    """How many steps it takes to find the handle that is kept."""
    path = folder / "reading.py"
    path.write_text(text, encoding="utf-8")
    linter = Linter(Project(folder, Settings()), Options(with_fixes=False))
    assert "FKL301" in [one.code for one in linter.lint(path).findings]
    return linter.project.budgets.spent["following handles"]


def calls(name: str, attribute: str, times: int) -> str:
    return "\n".join(f"        self.{attribute}{one} = {name}(path + '{one}')" for one in range(times))


def test_a_class_that_makes_its_like_is_followed_once_for_each_depth(tmp_path: Path) -> None:
    def steps(times: int) -> int:
        makes = "\n".join(f"        self.part{one} = Volumes(path, parts - {one})" for one in range(times))
        return spent(tmp_path, MODEL.format(makes=makes))

    assert steps(20) < 3 * steps(10)


@pytest.mark.soak
def test_classes_that_make_each_other_are_followed_in_proportion_as_well(tmp_path: Path) -> None:
    def steps(times: int) -> int:
        text = PAIR.format(rights=calls("Right", "right", times), lefts=calls("Left", "left", times))
        return spent(tmp_path, text)

    assert steps(18) < 4 * steps(9)
