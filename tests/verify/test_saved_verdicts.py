"""Verdicts that are kept: written on request, shown by lint with their date, and trusted only while nothing changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from needed import need_libraries, need_torch
from own_process import run

from forklint.saved_verdicts import NAME

need_torch()

TRAIN = """import os
import h5py
import settings

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
"""
QUICK = "import multiprocessing\n\nmultiprocessing.Process(target=print).start()\n"
"""Its one finding is confirmed without torch, which takes its trials most of their time."""
QUICKLY = ("--start-method", "fork", "--start-method", "spawn", "--isolated")
OPTIONS = ("--isolated", "--no-cache", "--select", "FKL101")


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose one finding was confirmed, and its verdict kept."""
    folder = tmp_path_factory.mktemp("proved")
    (folder / ".git").mkdir()
    (folder / "settings.py").write_text("seed = 1\n")
    (folder / "train.py").write_text(TRAIN)
    need_libraries(folder / "train.py")
    words = ["verify", "train.py", "--save-verdicts", "--isolated", "--select", "FKL101"]
    done = run(*words, cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{NAME}: 1 verdict saved" in done.stderr
    return folder


@pytest.fixture
def project(proved: Path, tmp_path: Path) -> Path:
    """A copy of it: neither the place nor the time of files matters."""
    return Path(shutil.copytree(proved, tmp_path / "project"))


def edit(project: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the one verdict that is kept."""
    told = json.loads((project / NAME).read_text())
    change(told["verdicts"][0])
    (project / NAME).write_text(json.dumps(told))


def test_nothing_is_written_unasked(command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(QUICK)
    assert command("verify", "train.py", *QUICKLY, cwd=tmp_path).returncode == 1
    assert not (tmp_path / NAME).exists()


def test_what_is_kept(project: Path) -> None:
    (row,) = json.loads((project / NAME).read_text())["verdicts"]
    assert (row["path"], row["code"], row["verdict"]) == ("train.py", "FKL101", "confirmed")
    assert set(row["content"]) == {"train.py", "settings.py"}
    assert {"torch", "numpy"} <= set(row["libraries"])
    assert "as without it, instead of" in row["evidence"]


def test_lint_shows_it_in_each_form(project: Path, command) -> None:
    (row,) = json.loads((project / NAME).read_text())["verdicts"]
    full = " ".join(command("train.py", *OPTIONS, cwd=project).stdout.split())
    assert f"verified: confirmed on {row['date']}: " in full
    concise = command("train.py", *OPTIONS, "--output-format", "concise", cwd=project).stdout
    assert f"(confirmed on {row['date']})" in concise
    (found,) = json.loads(command("train.py", *OPTIONS, "--output-format", "json", cwd=project).stdout)
    assert found["verdict"]["verdict"] == "confirmed"
    assert found["verdict"]["date"] == row["date"]
    assert found["verdict"]["holds"]
    sarif = json.loads(command("train.py", *OPTIONS, "--output-format", "sarif", cwd=project).stdout)
    assert sarif["runs"][0]["results"][0]["properties"]["savedVerdict"] == found["verdict"]


def test_only_confirmed_shows_it_and_fails(project: Path, command) -> None:
    done = command("train.py", *OPTIONS, "--only-confirmed", cwd=project)
    assert done.returncode == 1
    assert "FKL101" in done.stdout
    assert "Not shown" not in done.stdout


@pytest.mark.parametrize("edited", ["train.py", "settings.py"])
def test_after_an_edit_it_is_stale_and_counted(edited: str, project: Path, command) -> None:
    (project / edited).write_text((project / edited).read_text() + "x = 1\n")
    done = command("train.py", *OPTIONS, "--only-confirmed", cwd=project)
    assert done.returncode == 0
    assert "FKL101" not in done.stdout
    last = "Not shown: 1 finding with an outdated verdict. Run `forklint verify --save-verdicts` to get verdicts."
    assert done.stdout.splitlines()[-1] == last
    full = " ".join(command("train.py", *OPTIONS, cwd=project).stdout.split())
    assert f", outdated: {edited} has changed" in full


def test_another_version_of_a_library_makes_it_stale(project: Path, command) -> None:
    edit(project, lambda row: row["libraries"].update(torch="1.0"))
    done = command("train.py", *OPTIONS, "--output-format", "json", cwd=project)
    (found,) = json.loads(done.stdout)
    assert not found["verdict"]["holds"]
    assert found["verdict"]["stale"].startswith("torch changed from 1.0 to ")


def test_a_library_that_is_not_here_says_nothing(project: Path, command) -> None:
    edit(project, lambda row: row["libraries"].update(forklint_no_such="1.0"))
    (found,) = json.loads(command("train.py", *OPTIONS, "--output-format", "json", cwd=project).stdout)
    assert found["verdict"]["holds"]


def test_without_verdicts_all_are_counted_as_missing(project: Path, command) -> None:
    (project / NAME).unlink()
    done = command("train.py", *OPTIONS, "--only-confirmed", cwd=project)
    assert done.returncode == 0
    assert "1 finding without a verdict" in done.stdout.splitlines()[-1]


def test_refuted_hides_nothing(project: Path, command) -> None:
    edit(project, lambda row: row.update(verdict="refuted"))
    done = command("train.py", *OPTIONS, cwd=project)
    assert done.returncode == 1
    assert "refuted on" in done.stdout
    only = command("train.py", *OPTIONS, "--only-confirmed", cwd=project)
    assert "1 finding not confirmed" in only.stdout.splitlines()[-1]


def test_a_verdict_on_one_of_two_equal_findings_does_not_hold(project: Path, command) -> None:
    edit(project, lambda row: row.update(content={"settings.py": row["content"]["settings.py"]}))
    (project / "train.py").write_text(TRAIN + TRAIN.splitlines()[-1] + "\n")
    found = json.loads(command("train.py", *OPTIONS, "--output-format", "json", cwd=project).stdout)
    assert all(not one["verdict"]["holds"] for one in found if "verdict" in one)


HOSTILE = [
    {"verdict": "safe"},
    {"date": "today"},
    {"date": "2026-13-01"},
    {"content": {"../secret": "0" * 16}},
    {"content": {"/etc/passwd": "0" * 16}},
    {"content": {"C:/x": "0" * 16}},
    {"content": {"train.py": 3}},
    {"content": []},
    {"libraries": {"torch": None}},
    {"evidence": "x" * 10_000},
    {"path": "../train.py"},
    {"more": 1},
]


@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: json.dumps(change)[:40])
def test_what_forklint_would_not_write_is_refused(change: dict[str, Any], project: Path, command) -> None:
    edit(project, lambda row: row.update(change))
    done = command("train.py", *OPTIONS, cwd=project)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert NAME in line
    assert "entry 1 is not valid" in line


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 2, "verdicts": []}', "[" * 100_000, "\udcff"])
def test_a_broken_file_is_one_clear_line(text: str, project: Path, command) -> None:
    (project / NAME).write_bytes(text.encode(errors="surrogateescape"))
    done = command("train.py", *OPTIONS, cwd=project)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert NAME in done.stderr


def test_a_link_out_of_the_folder_and_a_pipe_are_not_read(project: Path, command) -> None:
    (project / "link.py").symlink_to("/dev/zero")
    os.mkfifo(project / "pipe.py")
    edit(project, lambda row: row["content"].update({"link.py": "0" * 16}))
    (found,) = json.loads(command("train.py", *OPTIONS, "--output-format", "json", cwd=project).stdout)
    assert found["verdict"]["stale"] == "link.py has changed"
    edit(project, lambda row: row.update(content={"pipe.py": "0" * 16}))
    (found,) = json.loads(command("train.py", *OPTIONS, "--output-format", "json", cwd=project).stdout)
    assert found["verdict"]["stale"] == "pipe.py has changed"


def test_control_characters_are_spelt_out(project: Path, command) -> None:
    edit(project, lambda row: row.update(evidence="\x1b[31mred\nline"))
    assert "\\x1b[31mred\\nline" in command("train.py", *OPTIONS, cwd=project).stdout


def test_a_second_run_replaces_its_own_and_keeps_the_others(project: Path, command) -> None:
    (project / "more.py").write_text(QUICK)
    done = command("verify", "more.py", "--save-verdicts", *QUICKLY, cwd=project)
    assert done.returncode == 1
    rows = json.loads((project / NAME).read_text())["verdicts"]
    assert [row["path"] for row in rows] == ["more.py", "train.py"]
    command("verify", "more.py", "--save-verdicts", *QUICKLY, cwd=project)
    assert len(json.loads((project / NAME).read_text())["verdicts"]) == 2


def test_they_lie_beside_the_baseline_of_a_folder_above(command, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "baseline.json").write_text('{"version": 1, "findings": []}')
    (tmp_path / "forklint.toml").write_text('baseline = "src/baseline.json"\n')
    for folder in (tmp_path, tmp_path / "src"):
        (folder / "train.py").write_text(QUICK)
    command("verify", ".", "--save-verdicts", *QUICKLY[:-1], cwd=tmp_path)
    for place in (tmp_path / "src" / NAME, tmp_path / NAME):
        (row,) = json.loads(place.read_text())["verdicts"]
        assert row["path"] == "train.py"
    assert command("--no-cache", cwd=tmp_path).stdout.count("verified: confirmed") == 2
