"""What FKL201 advises beside its fix, and to whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from forklint.cli import main

LOOP = """
from torch.utils.data import DataLoader
for batch in DataLoader([1, 2], num_workers=2):
    print(batch)
"""


def report(folder: Path) -> str:
    """What is said of a folder, in one line."""
    outcome = CliRunner().invoke(main, ["--select", "FKL201", str(folder)])
    return " ".join(outcome.output.split())


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("", False),
        ("import torch\n", False),
        ("import multiprocessing as mp\n", True),
        ("import torch.multiprocessing as mp\n", True),
        ("from torch import multiprocessing\n", True),
        ("import torch\ntorch.multiprocessing.set_start_method('spawn', force=True)\n", True),
    ],
)
def test_speaks_of_start_methods_to_those_who_do(head: str, told: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(head + LOOP, encoding="utf-8")
    said = report(tmp_path)
    assert "FKL201" in said
    assert ("on macOS" in said) is told


def test_a_package_starts_on_first_use(tmp_path: Path) -> None:
    package = tmp_path / "ocr"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "cache.py").write_text("from multiprocessing import Manager\nCACHE = Manager()\n", encoding="utf-8")
    said = report(tmp_path)
    assert "start it on first use, inside a function" in said
    assert "unsafe fix" not in said
    assert "on macOS" not in said


def test_a_script_in_a_package_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "train.py").write_text(LOOP, encoding="utf-8")
    assert "unsafe fix" in report(tmp_path)


def test_what_a_class_body_starts_is_left_to_its_author(tmp_path: Path) -> None:
    text = "print('statistics')\n" + LOOP.replace("for batch", "class Batches:\n  for batch")
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    said = report(tmp_path)
    assert "add the guard by hand: it is in the body of a class" in said
    assert "unsafe fix" not in said
