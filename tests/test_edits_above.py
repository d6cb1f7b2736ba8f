"""Findings after edits that only move code: what is remembered of it says nothing of where it stood."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import FileReport
from forklint.project.index import Project

RUN = """\
import os
import torch

def measured():
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.ones(3)
    del os.environ["OMP_NUM_THREADS"]

measured()
"""
KEPT = RUN.replace('    del os.environ["OMP_NUM_THREADS"]\n', "")


def fresh(path: Path, text: str) -> tuple[Linter, FileReport]:
    linter = Linter(Project(path.parent, Settings()), Options(with_fixes=False))
    linter.project.replace(path, text.encode())
    return linter, linter.relint(path)


@pytest.mark.parametrize("above", ["FIRST = 1\nSECOND = 2\n", "# one\n# two\n# three\n"])
@pytest.mark.parametrize("text", [RUN, RUN.replace("\n    del", "; del"), KEPT])
def test_a_variable_that_is_removed_again(tmp_path: Path, text: str, above: str) -> None:
    path = tmp_path / "run.py"
    path.write_text(text, encoding="utf-8")
    linter, report = fresh(path, text)
    assert [finding.code for finding in report.findings] == (["FKL101"] if text is KEPT else [])
    for edited in (text.replace("\ndef", f"\n{above}\ndef"), text, text.replace("; del", "\n    del")):
        linter.project.replace(path, edited.encode())
        assert linter.relint(path) == fresh(path, edited)[1]
