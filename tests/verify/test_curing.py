"""``forklint verify --fix`` and ``--apply``: fixes are tried on a copy, and only those that help are written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from asked_environment import asked_once
from needed import need_torch
from records_project import RECORDS, write

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Finding
from forklint.verify.curing import Moved, cure
from forklint.verify.experiments.base import Context
from forklint.verify.proving import plan, prove
from forklint.verify.runner import Runner
from forklint.verify.subjects import Factory
from forklint.verify.tolerant import mended

SPAWNED = ("--start-method", "spawn", "--workers", "1")
"""Each worker imports torch."""
COLLATE = """
from torch.utils.data import DataLoader


def make_loader():
    return DataLoader(range(40), batch_size=4, num_workers=2, collate_fn=lambda rows: rows)
"""


def project_in(folder: Path) -> Path:
    folder = folder / "project"
    folder.mkdir()
    write(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.soak
def test_the_fix_is_tried_and_the_project_stays_as_it_is(command, tmp_path: Path) -> None:
    project = project_in(tmp_path)
    before = contents(project)
    arguments = ("records.py", "--fix", "--start-method", "spawn", "--output-format", "json")
    done = command("verify", *arguments, cwd=project)
    assert done.returncode == 1, done.stdout + done.stderr
    (experiment,) = json.loads(done.stdout)["experiments"]
    assert experiment["verdict"] == "confirmed"
    assert experiment["fix"]["outcome"] == "fixed"
    ways = {one["way"]: one for one in experiment["fix"]["ways"]}
    assert ways["the fix: spawn, 2 workers"]["samples_per_second"] > 0
    assert ways["num_workers=0"]["first_batch_seconds"] > 0
    assert contents(project) == before


def test_proved_fixes_are_written_and_no_others(command, tmp_path: Path) -> None:
    """The programs do not import torch, which takes trials most of their time."""
    need_torch()
    start = "import multiprocessing\nimport sys\n\n{}multiprocessing.Process(target=print).start()\n"
    (tmp_path / "start.py").write_text(start.format(""), encoding="utf-8")
    (tmp_path / "other.py").write_text(start.format(""), encoding="utf-8")  # it is not asked about
    (tmp_path / "never.py").write_text(start.format("if sys.argv[5:]: "), encoding="utf-8")  # it is not decided
    before = contents(tmp_path)
    words = ("--apply", "--start-method", "fork", "--start-method", "spawn", "--select", "FKL201")
    done = command("verify", "start.py", "never.py", *words, "--allow-inconclusive", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 confirmed finding fixed, 1 written" in done.stdout
    after = contents(tmp_path)
    assert {name for name in after if after[name] != before.get(name)} == {"start.py"}
    assert command("start.py", "--select", "FKL201", cwd=tmp_path).returncode == 0


def found_in(path: Path) -> tuple[Finding, Context]:
    """The one finding of a file, and what proves it by spawn alone."""
    finder = SettingsFinder({}, isolated=True)
    (finding,) = Linters(finder, Options()).of(path).lint(path).findings
    settings, environment = finder.for_file(path), asked_once(Path(sys.executable))
    factories = (Factory("records:make_loader"),)
    context = Context(path.parent, settings, environment, factories=factories, start_methods=("spawn",), workers=1)
    return finding, context


@pytest.mark.soak
def test_a_fix_that_does_not_help_is_told_as_such(tmp_path: Path) -> None:
    need_torch()
    project = project_in(tmp_path)
    finding, context = found_in(project / "records.py")
    assert finding.fix is not None
    row = RECORDS.splitlines().index('        self.file = open(path, "rb")') + 1
    hiding = replace(finding.fix.edits[0], span=replace(finding.span, row=row, column=1, end_row=row + 1, end_column=1))
    edit = replace(hiding, content='        self.file, self.name = open(path, "rb"), path\n')
    useless = replace(finding, fixes=(replace(finding.fix, edits=(edit,)),))
    with Runner(Path(sys.executable)) as runner:
        (planned,) = plan([useless], lambda _: context)
        result = prove(planned, runner, lambda *_: None)
        found = cure(planned, result, runner, lambda *_: None, mended(useless))
    assert found.outcome == "not fixed", found.evidence
    assert "cannot pickle" in found.evidence


def test_rows_are_found_again_in_the_mended_text() -> None:
    moved = Moved("a\nb\nset\nc\n", "import x\nset\na\nb\nc2\n")
    assert [moved.row(row) for row in (1, 2, 3)] == [3, 4, 2]
    assert moved.row(4) == 5, "a line that was changed stands where it stood"
    spec = {"file": "/p/m.py", "rows": [1, 2], "call": {"file": "/p/m.py", "first": 2, "last": 2}, "row": 1}
    assert moved.within(spec, "/p/m.py")["rows"] == [3, 4]
    assert moved.within(spec["call"], "/p/m.py") == {"file": "/p/m.py", "first": 4, "last": 4}
    assert moved.within(spec, "/p/other.py") == spec
