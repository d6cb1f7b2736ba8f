"""Text from standard input, as editors pass it: linted, fixed on its way through, never written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from forked_command import SERVER
from hazards import HAZARD

GUARDLESS = """\
from torch.utils.data import DataLoader

loader = DataLoader(list(range(10)), num_workers=2)
for batch in loader:
    print(batch)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.forklint]\nexclude = ["vendored"]\n')
    (tmp_path / "src").mkdir()
    return tmp_path


@pytest.fixture
def piped():
    """Run the command with bytes on its standard input; standard output and error come back as bytes.

    They come and go by files, or by pipes if that is wanted.
    """

    def run(*arguments: str, text: bytes, cwd: Path, by_pipes: bool = False) -> subprocess.CompletedProcess[bytes]:
        environment = {**os.environ, "NO_COLOR": "1"}
        if not by_pipes:
            return SERVER.run_bytes(list(arguments), cwd, environment, text, 60)
        command = [sys.executable, "-m", "forklint", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, input=text, capture_output=True, timeout=60, check=False
        )

    return run


@pytest.mark.parametrize("source", [HAZARD, GUARDLESS, "def broken(:\n"])
def test_the_findings_are_those_of_the_file(forklint, piped, project: Path, source: str) -> None:
    arguments = ("--stdin-filename", "src/data.py", "--output-format", "json")
    before = piped("-", *arguments, text=source.encode(), cwd=project)
    assert not (project / "src" / "data.py").exists()
    (project / "src" / "data.py").write_text(source)
    on_disk = forklint("src/data.py", "--output-format", "json", cwd=project)
    assert json.loads(before.stdout) == json.loads(on_disk.stdout)
    assert before.returncode == on_disk.returncode


def test_the_text_goes_before_the_file(piped, project: Path) -> None:
    (project / "src" / "data.py").write_text(HAZARD)
    assert piped("-", "--stdin-filename", "src/data.py", text=b"import torch\n", cwd=project).returncode == 0


def test_without_a_name_it_is_shown_as_a_dash(piped, project: Path) -> None:
    result = piped("-", "--output-format", "concise", text=HAZARD.encode(), cwd=project, by_pipes=True)
    assert result.stdout.startswith(b"-:7:9: FKL301 ")
    assert result.returncode == 1


def test_the_full_report_shows_the_text_that_came(piped, project: Path) -> None:
    (project / "src" / "data.py").write_text("# another text on the disk\n" * 20)
    result = piped("-", "--stdin-filename", "src/data.py", text=HAZARD.encode(), cwd=project)
    assert b"--> src/data.py:7:9" in result.stdout
    assert b"7 |         self.env = lmdb.open(root, readonly=True)" in result.stdout


def test_the_name_says_that_it_is_a_notebook(piped, project: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": HAZARD}
    data = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()
    arguments = ("-", "--stdin-filename", "explore.ipynb", "--output-format", "concise")
    assert b"FKL301" in piped(*arguments, text=data, cwd=project).stdout
    fixed = piped(*arguments, "--fix", "--unsafe-fixes", text=data, cwd=project)
    assert fixed.stdout != data
    assert "__getstate__" in json.dumps(json.loads(fixed.stdout))
    assert piped(*arguments, "--fix", "--select", "FKL1", text=data, cwd=project).stdout == data


def test_imports_are_followed_from_the_name(piped, project: Path) -> None:
    (project / "src" / "base.py").write_text(HAZARD)
    user = "from base import Words\n\n\nclass Mine(Words):\n    pass\n"
    arguments = ("-", "--output-format", "json", "--stdin-filename", "src/mine.py")
    assert json.loads(piped(*arguments, text=user.encode(), cwd=project).stdout) == []
    guardless = (
        "from base import Words\nfrom torch.utils.data import DataLoader\n"
        "for batch in DataLoader(Words('x'), num_workers=2):\n    print(batch)\n"
    )
    found = json.loads(piped(*arguments, text=guardless.encode(), cwd=project).stdout)
    assert [one["code"] for one in found] == ["FKL201"]


def test_settings_come_from_the_name(piped, project: Path) -> None:
    (project / "src" / "forklint.toml").write_text('ignore = ["FKL301"]\n')
    text = HAZARD.encode()
    assert piped("-", "--stdin-filename", "src/data.py", text=text, cwd=project).returncode == 0
    assert piped("-", "--stdin-filename", "data.py", text=text, cwd=project).returncode == 1
    assert piped("--stdin-filename", "data.py", text=text, cwd=project).returncode == 1


FORMS = [
    b"\xef\xbb\xbf" + HAZARD.encode(),
    HAZARD.replace("\n", "\r\n").encode(),
    ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + HAZARD).encode("latin-1"),
    HAZARD.encode() + b"    # the end, with no newline",
]


def test_fix_gives_what_it_would_write(forklint, piped, project: Path) -> None:
    passed = {}
    for number, data in enumerate(FORMS):
        path = project / "src" / f"data{number}.py"
        result = piped("-", "--fix", "--unsafe-fixes", "--stdin-filename", f"src/{path.name}", text=data, cwd=project)
        assert (result.returncode, b"1 fixed" in result.stderr, path.exists()) == (0, True, False)
        passed[path] = result.stdout
    for path, data in zip(passed, FORMS, strict=True):
        path.write_bytes(data)
    forklint("src", "--fix", "--unsafe-fixes", cwd=project)
    assert {path: path.read_bytes() for path in passed} == passed
    assert not set(FORMS) & set(passed.values())


@pytest.mark.parametrize("data", [b"", b"x = 1\r\ny = 2", b"\xff\xfe\x00binary\x00", HAZARD.encode()])
def test_fix_gives_back_what_it_does_not_change(piped, project: Path, data: bytes) -> None:
    result = piped("-", "--fix", "--select", "FKL1", text=data, cwd=project)
    assert result.stdout == data
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) >= 1


def test_diff_shows_the_change(piped, project: Path) -> None:
    result = piped("-", "--diff", "--unsafe-fixes", "--stdin-filename", "new.py", text=HAZARD.encode(), cwd=project)
    assert result.stdout.startswith(b"--- new.py\n+++ new.py\n")
    assert result.returncode == 1
    assert b"1 file would change" in result.stderr


def test_exclude_counts_when_it_is_forced(piped, project: Path) -> None:
    arguments = ("-", "--stdin-filename", "vendored/data.py")
    assert piped(*arguments, text=HAZARD.encode(), cwd=project).returncode == 1
    assert piped(*arguments, "--force-exclude", text=HAZARD.encode(), cwd=project).returncode == 0
    fixed = piped(*arguments, "--force-exclude", "--fix", "--unsafe-fixes", text=HAZARD.encode(), cwd=project)
    assert fixed.stdout == HAZARD.encode()


def test_empty_and_binary_text_are_one_line_each(piped, project: Path) -> None:
    empty = piped("-", text=b"", cwd=project)
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, b"All checks passed.\n", b"")
    binary = piped("-", text=b"\xff\xfe\x00", cwd=project)
    assert (binary.returncode, binary.stdout) == (0, b"")
    assert binary.stderr == b"forklint: -: skipped: not valid UTF-8\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "src"], b"`-` (standard input) cannot be combined with other paths"),
        (["--stdin-filename", "a.py", "src"], b"pass `-` instead of src"),
        (["-", "--stdin-filename", "src"], b"--stdin-filename src: this is a directory"),
    ],
)
def test_other_paths_are_one_clear_error(piped, project: Path, arguments: list[str], message: bytes) -> None:
    result = piped(*arguments, text=b"", cwd=project)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_closed_input_is_one_clear_error(project: Path) -> None:
    command = f'"{sys.executable}" -m forklint - <&-'
    result = subprocess.run(command, shell=True, cwd=project, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: standard input is closed")


def test_a_syntax_error_is_where_the_text_has_it_whatever_the_file_has_there(project: Path, piped) -> None:
    (project / "src" / "words.py").write_text("x\ny\n")
    for name in ("words.py", "new.py"):
        done = piped("-", "--stdin-filename", f"src/{name}", text=b"x = 3\n        y = 4\n", cwd=project)
        assert f"src/{name}:2:8".encode() in done.stdout, name
