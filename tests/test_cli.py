"""The command as a user runs it: options, output, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hazards import HAZARD

LINE = 7


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "data.py").write_text(HAZARD)
    (tmp_path / "src" / "model.py").write_text("import torch\n")
    return tmp_path


def findings(result) -> list[dict]:
    return json.loads(result.stdout)


def test_clean_is_zero_and_findings_are_one(forklint, project: Path) -> None:
    assert forklint("src/model.py", cwd=project, fresh=True).returncode == 0
    assert forklint("src", cwd=project, fresh=True).returncode == 1
    assert forklint(cwd=project).returncode == 1


def test_json_has_the_shape_of_ruffs(forklint, project: Path) -> None:
    (finding,) = findings(forklint("src", "--output-format", "json", cwd=project))
    assert finding["code"] == "FKL301"
    assert finding["name"] == "handle-in-init"
    assert finding["filename"] == str(project / "src" / "data.py")
    assert finding["location"] == {"row": LINE, "column": 9}
    assert finding["end_location"] == {"row": LINE, "column": 50}
    assert finding["severity"] == "error"
    assert {"platform": "linux", "start_method": "fork"} in finding["cells"]
    assert finding["chain"] == []
    assert re.fullmatch("[0-9a-f]{16}", finding["fingerprint"])
    assert finding["url"].startswith("https://")
    assert set(finding["fix"]) == {"message", "applicability", "edits"}


def test_fingerprint_survives_moves(forklint, project: Path) -> None:
    (before,) = findings(forklint("src", "--output-format", "json", cwd=project))
    (project / "src" / "data.py").write_text("# a line more\n\n" + HAZARD)
    (after,) = findings(forklint(".", "--output-format", "json", cwd=project / "src"))
    assert before["location"] != after["location"]
    assert before["fingerprint"] == after["fingerprint"]


def test_concise_is_one_line_a_finding(forklint, project: Path) -> None:
    result = forklint("src", "--output-format", "concise", "-q", cwd=project)
    assert re.fullmatch(rf"src/data\.py:{LINE}:9: FKL301 (\[\*\] )?`self\.env` holds .*\n", result.stdout)


def test_full_fits_80_columns_with_and_without_colour(forklint, project: Path) -> None:
    plain = forklint("src", cwd=project).stdout
    coloured = forklint("src", "--color", "always", cwd=project, env={"NO_COLOR": ""}).stdout
    assert "\x1b[" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert max(map(len, plain.splitlines())) <= 80
    for part in ("error[FKL301] handle-in-init", f"--> src/data.py:{LINE}:9", "^^^^", "affects: linux/fork"):
        assert part in plain


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--select", "FKL301"], True),
        (["--select", "FKL3"], True),
        (["--select", "handle-in-init"], True),
        (["--select", "ALL", "--ignore", "FKL301"], False),
        (["--select", "FKL2,FKL1"], False),
        (["--ignore", "FKL3"], False),
        (["--ignore", "FKL3", "--extend-select", "FKL301"], True),
        (["--extend-ignore", "handle-in-init"], False),
        (["--per-file-ignores", "src/*:FKL301"], False),
        (["--per-file-ignores", "tests/*:FKL301"], True),
    ],
)
def test_selection(forklint, project: Path, arguments: list[str], found: bool) -> None:
    assert forklint("src", *arguments, cwd=project).returncode == int(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "FKL999"], "unknown rule 'FKL999'"),
        (["--platform", "solaris"], "unknown platform 'solaris'"),
        (["--target-python", "new"], "'new' is not a Python version"),
        (["--per-file-ignores", "FKL301"], "expected PATTERN:CODES"),
        (["--exit-on", "never"], "unknown severity 'never'"),
        (["--output-format", "xml"], "'xml' is not one of"),
        (["--no-such-option"], "No such option"),
        (["--config", "missing.toml"], "missing.toml: No such file or directory"),
    ],
)
def test_wrong_arguments_are_one_clear_error(forklint, project: Path, arguments: list[str], message: str) -> None:
    result = forklint("src", *arguments, cwd=project)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_platform_and_python_decide_the_cells(forklint, project: Path) -> None:
    def cells(*arguments: str) -> list[str]:
        (finding,) = findings(forklint("src", "--output-format", "json", *arguments, cwd=project))
        return [f"{cell['platform']}/{cell['start_method']}" for cell in finding["cells"]]

    assert cells() == ["linux/fork", "linux/forkserver", "darwin/spawn", "windows/spawn"]
    assert cells("--platform", "linux", "--target-python", "3.12") == ["linux/fork"]
    assert cells("--platform", "linux", "--target-python", "3.14") == ["linux/forkserver"]
    assert cells("--platform", "darwin,windows") == ["darwin/spawn", "windows/spawn"]


def test_requires_python_decides_too(forklint, project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\nrequires-python = ">=3.10,<3.14"\n[tool.forklint]\nplatforms = ["linux"]\n'
    )
    (finding,) = findings(forklint("src", "--output-format", "json", cwd=project))
    assert finding["cells"] == [{"platform": "linux", "start_method": "fork"}]
    assert "spawn" not in finding["message"]


def test_exit_on_and_exit_zero(forklint, project: Path) -> None:
    assert forklint("src", "--exit-zero", cwd=project).returncode == 0
    assert forklint("src", "--exit-on", "error", cwd=project).returncode == 1
    assert forklint("src", "nowhere", "--exit-zero", cwd=project).returncode == 2


def test_statistics_count_by_rule(forklint, project: Path) -> None:
    assert forklint("src", "--statistics", "-q", cwd=project).stdout.split() == ["1", "FKL301", "handle-in-init"]


def test_show_files_respects_ignore_files(forklint, project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("generated/\n*_pb2.py\n!keep_pb2.py\n")
    for name in ("generated/a.py", "src/x_pb2.py", "src/keep_pb2.py", "src/deep/b.py", "src/deep/c.py"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (project / "src" / "deep" / ".gitignore").write_text("b.py\n")
    listed = forklint("--show-files", cwd=project).stdout.split()
    assert listed == ["pyproject.toml", "src/data.py", "src/keep_pb2.py", "src/model.py", "src/deep/c.py"]
    assert forklint("--show-files", "generated/a.py", cwd=project).stdout.split() == ["generated/a.py"]


def test_show_settings_prints_what_rules(forklint, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL301"]\nplatforms = ["macos"]\n')
    shown = forklint("--show-settings", cwd=project).stdout
    assert 'ignore = ["FKL301"]' in shown
    assert 'platforms = ["darwin"]' in shown
    assert "# platforms and start methods: darwin/spawn" in shown


def test_isolated_and_config(forklint, project: Path, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL301"]\n')
    assert forklint("src", cwd=project).returncode == 0
    assert forklint("src", "--isolated", cwd=project).returncode == 1
    other = project / "other.toml"
    other.write_text('select = ["FKL301"]\n')
    assert forklint("src", "--config", "other.toml", cwd=project).returncode == 1


def test_many_files_are_dealt_to_processes_with_the_same_outcome(forklint, project: Path) -> None:
    for number in range(60):
        (project / "src" / f"data{number}.py").write_text(HAZARD)
    one, two = (forklint("src", "--output-format", "json", "-j", jobs, cwd=project) for jobs in ("1", "2"))
    assert len(findings(one)) == 61
    assert one.stdout == two.stdout


def test_a_path_named_like_a_command(forklint, project: Path) -> None:
    (project / "rule").mkdir()
    (project / "rule" / "data.py").write_text(HAZARD)
    assert len(findings(forklint("./rule", "--output-format", "json", cwd=project))) == 1


def test_small_letters_select_too(forklint, project: Path) -> None:
    assert forklint("src", "--select", "fkl3", cwd=project).returncode == 1


def test_nothing_linted_is_not_called_clean(forklint, project: Path) -> None:
    (project / "latin.py").write_bytes(b"name = '\xe9'\n")
    (project / "cells.ipynb").write_text("{}")
    (project / "empty").mkdir()
    for name, code in (("latin.py", 0), ("cells.ipynb", 0), ("empty", 0), ("nowhere", 2)):
        result = forklint(name, cwd=project)
        assert (result.returncode, result.stdout) == (code, ""), name
        assert result.stderr.startswith("forklint: ")


def test_an_ignored_folder_that_is_named_is_linted(forklint, project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("src/\n")
    assert forklint(cwd=project).returncode == 0
    assert forklint("src", cwd=project).returncode == 1


def test_diff_and_exit_zero(forklint, project: Path) -> None:
    assert forklint("src", "--diff", cwd=project).returncode == 1
    assert forklint("src", "--diff", "--exit-zero", cwd=project).returncode == 0


def test_usage_names_no_command(forklint, project: Path) -> None:
    assert forklint("--help", cwd=project).stdout.splitlines()[0].endswith(" [OPTIONS] [PATHS]...")
    assert " lint " not in forklint("--help", cwd=project).stdout.splitlines()[0]


def test_version(forklint, tmp_path: Path) -> None:
    assert re.fullmatch(r"forklint \d+\.\d+\.\d+\n", forklint("--version", cwd=tmp_path).stdout)


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# noqa", True),
        ("# noqa: FKL301", True),
        ("# NOQA:FKL301,E501", True),
        ("# noqa: E501", False),
        ("# forklint: ignore[FKL301]", True),
        ("# forklint: ignore[handle-in-init]", True),
        ("# forklint: ignore", True),
        ("# forklint: ignore[FKL201]", False),
    ],
)
def test_comments_silence(forklint, project: Path, comment: str, silent: bool) -> None:
    (project / "src" / "data.py").write_text(HAZARD.replace("readonly=True)", f"readonly=True)  {comment}"))
    codes = [one["code"] for one in findings(forklint("src", "--output-format", "json", cwd=project))]
    assert ("FKL301" not in codes) == silent


def test_a_comment_counts_on_any_line_of_the_statement(forklint, project: Path) -> None:
    spread = textwrap.indent("self.env = lmdb.open(\n    root,  # noqa: FKL301\n    readonly=True,\n)", " " * 8)
    above = "        # forklint: ignore[FKL301]\n        self.env = lmdb.open(root, readonly=True)"
    for text in (spread, above):
        code = HAZARD.replace("        self.env = lmdb.open(root, readonly=True)", text)
        (project / "src" / "data.py").write_text(code)
        assert forklint("src", cwd=project).returncode == 0, text


def test_a_comment_deep_in_the_body_does_not_count(forklint, project: Path) -> None:
    (project / "src" / "data.py").write_text(HAZARD.replace("return 10", "return 10  # noqa"))
    assert forklint("src", cwd=project).returncode == 1


def test_idle_suppressions_are_reported(forklint, project: Path) -> None:
    lines = "x = 1  # noqa: FKL301, E501\ny = 2  # forklint: ignore[FKL201]\nz = 3  # noqa\nw = 4  # noqa: E501\n"
    (project / "src" / "model.py").write_text(lines)
    found = findings(forklint("src/model.py", "--output-format", "json", cwd=project))
    assert [(one["code"], one["location"]["row"]) for one in found] == [("FKL001", 1), ("FKL001", 2)]
    (project / "src" / "model.py").write_text("x = 1  # noqa: FKL999\ny = 2  # forklint: ignore[FKL3]\n")
    found = findings(forklint("src/model.py", "--output-format", "json", cwd=project))
    assert [one["location"]["row"] for one in found] == [1, 2]
    (project / "src" / "model.py").write_text(lines)
    assert findings(forklint("src/model.py", "--ignore", "FKL3,FKL2", "--output-format", "json", cwd=project)) == []


@pytest.mark.parametrize("option", ["--select", "--ignore", "--platform"])
def test_an_empty_list_is_one_clear_error(forklint, project: Path, option: str) -> None:
    result = forklint(option, " ", cwd=project)
    assert result.returncode == 2
    assert f"Invalid value for '{option}': expected at least one value" in result.stderr


def test_a_missing_path_is_one_line(forklint, project: Path) -> None:
    result = forklint("nowhere", cwd=project)
    assert (result.returncode, result.stdout, result.stderr) == (
        2,
        "",
        "forklint: nowhere: no such file or directory\n",
    )


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_ends_with_its_own_code_and_no_word(tmp_path: Path) -> None:
    slow = tmp_path / "forklint.toml"
    os.mkfifo(slow)
    command = [sys.executable, "-m", "forklint", "--config", slow.name, "."]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with slow.open("w"):  # waits for the reader
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)
    assert (process.returncode, *said) == (130, "", "")
