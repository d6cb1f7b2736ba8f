"""Findings after edits that only move code: no answer that is remembered depends on where it stood."""

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


LOADED = """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.env

def main():
    {}
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("options = {'num_workers': 2}; options['num_workers'] = 0; return DataLoader(Words('w'), **options)", ""),
        ("options = {'num_workers': 0}; options['num_workers'] = 2; return DataLoader(Words('w'), **options)", "error"),
        ("n = 0; loader = DataLoader(Words('w'), num_workers=n); n = 2; return loader", ""),
        ("n = 2; n = 0; loader = DataLoader(Words('w'), num_workers=n); return loader", ""),
        ("n = 0; n = 2; loader = DataLoader(Words('w'), num_workers=n); return loader", "error"),
    ],
)
def test_where_lines_are_broken_means_nothing(tmp_path: Path, body: str, severity: str) -> None:
    path = tmp_path / "run.py"
    joined = LOADED.format(body)
    path.write_text(joined, encoding="utf-8")
    linter, report = fresh(path, joined)
    expected = [severity] if severity else []  # nothing is told of a dataset that is loaded without workers
    assert [finding.severity.value for finding in report.findings] == expected
    linter.project.replace(path, joined.replace("; ", "\n    ").encode())
    assert [finding.severity.value for finding in linter.relint(path).findings] == expected
