"""Who calls a function whose name many files have: those of a script that nobody imports are its own business."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.values.callers import MOST_MODULES
from forklint.values.evaluator import Evaluator
from forklint.values.model import UNKNOWN, Constant, Expression

SCRIPT = """\
import argparse


def main(args):
    return args.workers


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default={number})
    main(parser.parse_args())
"""


def workers_of(folder: Path, name: str) -> object:
    """What a script's ``main`` returns."""
    project = Project(folder, Settings())
    module = project.load(folder / name)
    returned = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Return))
    assert returned.value is not None
    return Evaluator(project).find(Expression(module, module.scope_at(returned.value), returned.value)).value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with more scripts than are asked for one name."""
    (tmp_path / "forklint.toml").touch()
    for number in range(MOST_MODULES + 2):
        (tmp_path / f"train_{number}.py").write_text(SCRIPT.format(number=number), encoding="utf-8")
    return tmp_path


def test_each_script_has_its_own_main(folder: Path) -> None:
    assert [workers_of(folder, f"train_{number}.py") for number in (0, 3)] == [Constant(0), Constant(3)]


def test_a_script_that_others_import_may_be_called_by_them(folder: Path) -> None:
    (folder / "all.py").write_text("import train_3\n\n\ntrain_3.main(None)\n", encoding="utf-8")
    assert workers_of(folder, "train_3.py") == UNKNOWN
