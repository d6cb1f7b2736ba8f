"""Files that change under a run, and clocks that go back: a clear line, nothing lost, no old answer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from faulty_calls import HAZARD, SCENARIOS, can_trace, faults, files, ran
from forked_command import SERVER

FIXING = ("--fix", "--unsafe-fixes", "--no-cache", "--output-format", "concise")
MEANWHILE = """
import os, pathlib, shutil
from forklint import fixing
write = fixing.write_atomically
def meanwhile(path, *rest):
    path = pathlib.Path(path)
    if path.name == "pages.py":
        {change}
    return write(path, *rest)
fixing.write_atomically = meanwhile
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    SCENARIOS["fix"].prepare(project)
    return project


def fixed_meanwhile(folder: Path, change: str) -> subprocess.CompletedProcess[str]:
    done = SERVER.run([*FIXING, "."], folder, os.environ, None, 60, first=MEANWHILE.format(change=change))
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("path.unlink()", None),
        ("path.unlink(); path.mkdir()", None),
        ("path.unlink(); path.symlink_to('/dev/null')", None),
        ("path.unlink(); path.symlink_to('nowhere')", None),
        ("path.unlink(); path.symlink_to('pages.py')", None),
        ("path.write_text('# edited\\n')", "# edited\n"),
        ("other = path.with_name('new'); other.write_text('# replaced\\n'); other.replace(path)", "# replaced\n"),
        ("path.write_text('')", ""),
        ("path.chmod(0o444)", HAZARD.format(name="Pages")),
    ],
)
def test_a_file_that_changes_between_reading_and_writing(folder: Path, change: str, left: str | None) -> None:
    done = fixed_meanwhile(folder, change)
    assert done.returncode == 2
    printed = (done.stdout + done.stderr).splitlines()
    assert len([line for line in printed if "pages.py" in line and "not fixed" in line]) == 1, printed
    path = folder / "pages.py"
    assert (path.read_text() if path.is_file() and not path.is_symlink() else None) == left
    assert (folder / "words.py").read_text() != HAZARD.format(name="Words"), "the other file is fixed"
    assert not list(folder.glob(".*.forklint")), "nothing is left behind"
    assert Path("/dev/null").is_char_device()


def test_a_folder_that_goes_away_between_reading_and_writing(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "pages.py").replace(folder / "inner" / "pages.py")
    done = fixed_meanwhile(folder, "shutil.rmtree(path.parent)")
    assert done.returncode == 2
    assert "No such file" in done.stdout + done.stderr
    assert not (folder / "inner").exists()


# ---------------------------------------------------------------- clocks

SHIFTED = """
import time
real, shift = time.time_ns, {shift}
time.time_ns = lambda: real() + shift * 10**9
time.time = lambda: time.time_ns() / 1e9
"""
DAY = 86_400


def codes(folder: Path, shift: int = 0) -> list[str]:
    """What a run finds whose clock is off by so many seconds."""
    words = ["--output-format", "json", "."]
    done = SERVER.run(words, folder, os.environ, None, 60, first=SHIFTED.format(shift=shift))
    assert done.returncode in {0, 1}, done.stderr
    return [Path(one["filename"]).name for one in json.loads(done.stdout)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(first, second, marks=[pytest.mark.soak] * (first == second or 0 not in (first, second)))
        for first in (0, 3 * DAY, -3 * DAY)
        for second in (0, 3 * DAY, -3 * DAY)
    ],
)
def test_no_old_answer_after_a_clock_was_set(folder: Path, first: int, second: int) -> None:
    """The file gets another content of the same size, and the times that it had, or others."""
    path = folder / "pages.py"
    assert codes(folder, first) == ["pages.py", "words.py"]
    before, text = path.stat(), path.read_text()
    path.write_text(text.replace('h5py.File(path, "r")', 'list([path, "r", 0])'))
    for times in ((before.st_atime_ns, before.st_mtime_ns), (0, 0), (2**61, 2**61)):
        os.utime(path, ns=times)
        assert codes(folder, second) == ["words.py"]
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert codes(folder, first) == ["pages.py", "words.py"]


# ---------------------------------------------------------------- a share of tests/soak/test_faults_calls.py


@pytest.mark.skipif(not can_trace(), reason="NOT TESTED: strace is needed, and leave to trace")
def test_killed_while_it_fixes(tmp_path: Path) -> None:
    scenario = SCENARIOS["fix"]
    scenario.prepare(tmp_path / "project")
    before = files(tmp_path / "project")
    assert ran(scenario, tmp_path / "project").returncode == 0
    after = files(tmp_path / "project")
    seen = set()
    for project, fault in faults(scenario, tmp_path, "signal=KILL", 3):
        assert ran(scenario, project, *fault).returncode in {-9, 137}
        for name, data in files(project).items():
            assert data in {before[name], after[name]}, name
            seen.add(data == before[name])
    assert seen == {True, False} or seen == {True}
