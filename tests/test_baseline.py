"""--baseline: what is known is not reported, whatever its line, from wherever forklint runs; nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import notebook_cases
import pytest
from hazards import SHORT_HAZARD as HAZARD

GUARDLESS = """\
from torch.utils.data import DataLoader

for batch in DataLoader(list(range(10)), num_workers=2):
    print(batch)
"""
KNOWN = ("--baseline", "known.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.forklint]\n")
    (folder / "src" / "data.py").write_text(HAZARD)
    (folder / "src" / "train.py").write_text(GUARDLESS)
    return folder


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """The baseline of the project, once it has been written."""
    return {}


@pytest.fixture
def known(forklint, project: Path, written: dict[str, str]) -> Path:
    path = project / "known.json"
    if not written:
        done = forklint(*KNOWN, "--update-baseline", cwd=project)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "forklint: known.json: 2 findings added, 0 removed, 2 in total\n"
        written["text"] = path.read_text()
    path.write_text(written["text"])
    return path


def rows(path: Path) -> list[dict]:
    return json.loads(path.read_text())["findings"]


def test_what_is_known_is_not_reported(forklint, project: Path, known: Path) -> None:
    result = forklint(*KNOWN, cwd=project)
    assert (result.returncode, result.stdout) == (0, "All checks passed.\n")
    assert result.stderr == "forklint: 2 findings hidden by the baseline known.json\n"
    (project / "src" / "new.py").write_text(HAZARD)
    found = forklint(*KNOWN, "--output-format", "concise", cwd=project)
    assert found.returncode == 1
    assert found.stdout.startswith("src/new.py:7:9: FKL301 ")
    assert forklint(cwd=project).returncode == 1


def test_the_file_is_for_people_and_for_diffs(forklint, project: Path, known: Path) -> None:
    text = known.read_text()
    assert json.loads(text)["version"] == 1
    assert [(row["path"], row["code"], row["count"]) for row in rows(known)] == [
        ("src/data.py", "FKL301", 1),
        ("src/train.py", "FKL201", 1),
    ]
    assert rows(known)[0]["text"] == "self.env = lmdb.open(root, readonly=True)"
    before = known.stat()
    assert forklint(*KNOWN, "--update-baseline", "src/train.py", cwd=project).returncode == 0
    assert (known.read_text(), known.stat().st_mtime_ns) == (text, before.st_mtime_ns)


def test_it_holds_when_lines_move_and_folders_change(forklint, project: Path, known: Path, tmp_path: Path) -> None:
    (project / "src" / "data.py").write_text("# more\n\n\n" + HAZARD.replace("root, readonly", "root,   readonly"))
    for arguments, folder in (
        ((*KNOWN, "."), project),
        (("--baseline", "../known.json"), project / "src"),
        (("--baseline", known, project), tmp_path),
        ((*KNOWN, "src/data.py"), project),
    ):
        result = forklint(*arguments, cwd=folder)
        assert result.returncode == 0, result.stdout
        assert "no longer" not in result.stderr
    elsewhere = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(project, elsewhere)
    shutil.rmtree(project)
    assert forklint(*KNOWN, cwd=elsewhere).returncode == 0


def test_what_comments_say_makes_nothing_new(forklint, project: Path) -> None:
    (project / "src" / "data.py").write_text(HAZARD.replace("root, readonly", "root + '#', readonly"))
    notebook_cases.write(project / "words.ipynb", HAZARD, "%env OMP_NUM_THREADS=1")
    (project / "a.yaml").write_text("mac:\n  device: mps\n  num_workers: 4\n")
    (project / "b.toml").write_text("[mac]\nname = ' # '\ndevice = 'mps'\nnum_workers = 4\n")
    forklint(*KNOWN, "--update-baseline", cwd=project)
    paths = {row["path"] for row in rows(project / "known.json")}
    assert paths == {"a.yaml", "b.toml", "src/data.py", "src/train.py", "words.ipynb"}
    opens, opens_alike = "readonly=True)", "readonly=True)  # seen by Ada, 'tis known"
    notebook_cases.write(project / "words.ipynb", HAZARD.replace(opens, opens_alike), "%env OMP_NUM_THREADS=1")
    for name in ("src/data.py", "src/train.py", "a.yaml", "b.toml"):
        text = (project / name).read_text().replace(opens, opens_alike)
        text = text.replace("workers=2):", "workers=2):# x").replace("workers: 4", "workers: 4\t# a # b")
        (project / name).write_text(text.replace("workers = 4", "workers = 4# why"))
    result = forklint(*KNOWN, cwd=project)
    assert (result.returncode, result.stdout) == (0, "All checks passed.\n")
    (project / "src" / "data.py").write_text(HAZARD.replace("root, readonly", "root + '#2', readonly"))
    assert forklint(*KNOWN, cwd=project).returncode == 1


def test_equal_findings_of_one_file_are_counted(forklint, project: Path) -> None:
    line = "        self.env = lmdb.open(root, readonly=True)\n"
    (project / "src" / "data.py").write_text(
        HAZARD.replace(line, f"        if root:\n    {line}        else:\n    {line}")
    )
    forklint(*KNOWN, "--update-baseline", "src/data.py", cwd=project)
    assert [row["count"] for row in rows(project / "known.json")] == [2]
    assert forklint(*KNOWN, "src/data.py", cwd=project).returncode == 0
    more = f"        if root:\n    {line}        elif len(root):\n    {line}        else:\n    {line}"
    (project / "src" / "data.py").write_text(HAZARD.replace(line, more))
    result = forklint(*KNOWN, "src/data.py", "--output-format", "json", cwd=project)
    assert [one["location"]["row"] for one in json.loads(result.stdout)] == [12]


def test_what_no_longer_occurs_is_told_and_dropped(forklint, project: Path, known: Path) -> None:
    (project / "src" / "data.py").write_text("import torch\n")
    result = forklint(*KNOWN, cwd=project)
    assert result.returncode == 0
    assert "1 finding in known.json no longer occurs; run with --update-baseline to remove it\n" in result.stderr
    assert len(rows(known)) == 2
    done = forklint(*KNOWN, "--update-baseline", cwd=project)
    assert done.stderr == "forklint: known.json: 0 findings added, 1 removed, 1 in total\n"
    (project / "src" / "train.py").unlink()
    assert "1 finding in known.json no longer occurs" in forklint(*KNOWN, cwd=project).stderr


@pytest.mark.parametrize(
    "arguments", [["src/train.py"], ["--select", "FKL2"], ["--per-file-ignores", "src/data.py:FKL301"]]
)
def test_what_was_not_looked_at_stays(forklint, project: Path, known: Path, arguments: list[str]) -> None:
    text = known.read_text()
    (project / "src" / "data.py").write_text("import torch\n")
    assert "no longer" not in forklint(*KNOWN, *arguments, cwd=project).stderr
    assert forklint(*KNOWN, "--update-baseline", *arguments, cwd=project).returncode == 0
    assert known.read_text() == text


def test_a_file_that_cannot_be_judged_keeps_its_entries(forklint, project: Path, known: Path) -> None:
    for data in (b"def broken(:\n", b"name = '\xe9'\n"):
        (project / "src" / "data.py").write_bytes(data)
        assert "no longer" not in forklint(*KNOWN, cwd=project).stderr
        forklint(*KNOWN, "--update-baseline", cwd=project)
        assert "FKL301" in [row["code"] for row in rows(known)]


def test_the_key_is_relative_to_its_file(forklint, project: Path, known: Path, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.forklint]\nbaseline = "known.json"\n')
    assert forklint(cwd=project).returncode == 0
    assert forklint(".", cwd=project / "src").returncode == 0
    assert forklint("project", cwd=tmp_path).returncode == 0
    assert forklint("--isolated", cwd=project).returncode == 1
    (project / "src" / "data.py").write_text("import torch\n")
    assert "1 removed" in forklint("--update-baseline", cwd=project).stderr
    assert [row["path"] for row in rows(known)] == ["src/train.py"]


def test_two_projects_of_one_repository_do_not_mix(forklint, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text("[tool.forklint]\n")
        (tmp_path / name / "data.py").write_text(HAZARD)
    forklint(*KNOWN, "--update-baseline", cwd=tmp_path)
    assert [row["path"] for row in rows(tmp_path / "known.json")] == ["one/data.py", "two/data.py"]
    forklint(*KNOWN, "--update-baseline", "one", cwd=tmp_path)
    assert forklint(*KNOWN, cwd=tmp_path).returncode == 0


def test_without_a_file_to_lint_nothing_is_written_and_that_is_said(forklint, project: Path) -> None:
    (project / "empty").mkdir()
    done = forklint(*KNOWN, "--update-baseline", "empty", cwd=project)
    assert (done.returncode, done.stderr) == (0, "forklint: warning: no Python files found under the given paths\n")
    assert not (project / "known.json").exists()


def test_a_link_to_a_baseline_is_the_baseline(forklint, project: Path, known: Path, tmp_path: Path) -> None:
    text = known.read_text()
    (tmp_path / "link.json").symlink_to(known)
    done = forklint("--baseline", "link.json", "--update-baseline", "project", cwd=tmp_path)
    assert done.stderr == "forklint: link.json: 0 findings added, 0 removed, 2 in total\n"
    assert ((tmp_path / "link.json").is_symlink(), known.read_text()) == (True, text)


def test_it_goes_with_fixes_formats_and_comments(forklint, project: Path, known: Path) -> None:
    (project / "src" / "new.py").write_text(HAZARD.replace("lmdb.open(root", "lmdb.open(root + 'x'"))
    counted = forklint(*KNOWN, "--statistics", "-q", cwd=project)
    assert counted.stdout.split() == ["1", "FKL301", "handle-in-init"]
    assert counted.stderr == ""
    noqa = forklint(*KNOWN, "--add-noqa", cwd=project)
    assert noqa.stdout == "Added comments for 1 finding.\n"
    assert (project / "src" / "data.py").read_text() == HAZARD
    assert forklint(*KNOWN, "--fix", "--unsafe-fixes", cwd=project).returncode == 0
    assert "2 removed" in forklint(*KNOWN, "--update-baseline", cwd=project).stderr


def test_updates_at_once_lose_nothing(project: Path) -> None:
    files = [project / "src" / f"data{number}.py" for number in range(3)]
    for file in files:
        file.write_text(HAZARD)
    command = [sys.executable, "-m", "forklint", *KNOWN, "--update-baseline"]
    runs = [
        subprocess.Popen([*command, file], cwd=project, stderr=subprocess.PIPE, text=True)
        for file in (*files, project / "src", files[0])
    ]
    for run in runs:
        error = run.communicate(timeout=60)[1]
        assert (run.returncode, error.count("\n")) == (0, 1), error
    assert {row["path"] for row in rows(project / "known.json")} >= {f"src/{file.name}" for file in files}
    assert len(rows(project / "known.json")) == 5
    assert sorted(path.name for path in project.iterdir()) == [".forklint_cache", "known.json", "pyproject.toml", "src"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "known.json: no such file; run with --update-baseline to create it"),
        ("{", "known.json: not valid JSON (line 1)"),
        ("\0\udcff", "known.json: not valid JSON"),
        ("[]", "known.json: not a baseline of forklint"),
        ('{"version": 2, "findings": []}', "known.json: version 2 is not supported (this forklint reads version 1)"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "known.json: entry 1 needs the strings path, code, text"),
        ("[" * 100_000, "known.json: not valid JSON"),
    ],
)
def test_a_broken_baseline_is_one_clear_error(forklint, project: Path, text: str | None, message: str) -> None:
    path = project / "known.json"
    if text is not None:
        path.write_text(text, errors="surrogateescape")
    updates = ["--update-baseline"] if text and "version" in text else []
    result = forklint(*KNOWN, *updates, cwd=project)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert text is None or path.read_text(errors="surrogateescape") == text


def test_a_baseline_that_cannot_be_written_is_one_clear_error(forklint, project: Path, known: Path) -> None:
    (project / "src" / "data.py").write_text("import torch\n")
    text = known.read_text()
    known.chmod(0o444)
    result = forklint(*KNOWN, "--update-baseline", cwd=project)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "known.json: cannot write: the file is read-only" in result.stderr
    assert known.read_text() == text
    result = forklint("--baseline", "nowhere/known.json", "--update-baseline", cwd=project)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "nowhere/known.json: cannot write: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--update-baseline"], "--update-baseline needs a file"),
        ([*KNOWN, "--update-baseline", "--diff"], "--update-baseline cannot be used with --diff"),
        (["--baseline", "src"], "File 'src' is a directory"),
    ],
)
def test_wrong_arguments_are_one_clear_error(forklint, project: Path, arguments: list[str], message: str) -> None:
    result = forklint(*arguments, cwd=project)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
