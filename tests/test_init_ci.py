"""``forklint init`` where a repository uses GitHub Actions or GitLab CI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from doc_snippets import snippet
from hook_repository import environment
from ruamel.yaml import YAML

from forklint.setup import ci

INIT = ("init", "--yes", "--no-config", "--no-hook")
BUILD = "build:\n  script:\n    - make  # all of it\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty git repository."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, env=environment(), check=True)
    return tmp_path


def load(text: str):
    return YAML(typ="safe", pure=True).load(text)


def workflow(project: Path, text: str, name: str = "tests.yml") -> Path:
    path = project / ".github" / "workflows" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_workflow_is_that_of_the_documentation(project: Path, forklint) -> None:
    (project / ".github").mkdir()
    shown = forklint("init", cwd=project)
    assert shown.returncode == 1
    assert "+++ .github/workflows/forklint.yml\n" in shown.stdout
    assert not (project / ".github" / "workflows").exists(), "it is only shown"
    done = forklint(*INIT, cwd=project)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "wrote .github/workflows/forklint.yml")
    written = (project / ".github" / "workflows" / "forklint.yml").read_text()
    assert written == snippet("ci.md", "github-annotations")


def test_the_workflow_uses_the_actions_of_the_others(project: Path, forklint) -> None:
    pinned = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0"
    workflow(project, f"on: push\njobs:\n  t:\n    steps:\n      - uses: {pinned}\n      - run: make\n")
    assert forklint(*INIT, cwd=project).returncode == 0
    written = (project / ".github" / "workflows" / "forklint.yml").read_text()
    assert f"      - uses: {pinned}\n" in written
    assert "      - uses: actions/setup-python@v6\n" in written
    assert load(written)["jobs"]["forklint"]["steps"][0] == {"uses": pinned.partition(" ")[0]}


def test_a_workflow_that_runs_forklint_is_left(project: Path, forklint) -> None:
    path = workflow(project, "on: push\njobs:\n  t:\n    steps:\n      - run: forklint src\n")
    before = path.read_text()
    done = forklint(*INIT, cwd=project)
    assert done.returncode == 0
    assert ".github/workflows/tests.yml: already runs forklint; not changed\n" in done.stdout
    assert [one.name for one in path.parent.iterdir()] == ["tests.yml"]
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (BUILD, None),
        ("# ours\nstages: [build, test]\n\n" + BUILD, None),
        ("stages:\n  - build\n  - static-checks\n" + BUILD, "static-checks"),
        ("stages:\n  - first\n  - last\n" + BUILD.rstrip("\n"), "first"),
        (BUILD.replace("\n", "\r\n"), None),
        (BUILD.replace("  ", "    "), None),
    ],
    ids=["plain", "default stage", "fitting stage", "first stage, no end of line", "windows", "four spaces"],
)
def test_a_job_is_added_and_the_rest_stays(project: Path, forklint, text: str, stage: str | None) -> None:
    path = project / ".gitlab-ci.yml"
    path.write_bytes(text.encode())
    assert forklint(*INIT, cwd=project).returncode == 0
    after = path.read_bytes().decode()
    assert after.startswith(text)
    job = load(ci.JOB)["forklint"]
    assert load(after) == {**load(text), "forklint": {**({"stage": stage} if stage else {}), **job}}
    assert ("\n    script:" in after.partition("forklint:")[2]) == (
        "    script:\n" in text and "  script" not in text[:9]
    )
    assert ("\r\n" in text) == ("when: always\r\n" in after)
    again = forklint(*INIT, cwd=project)
    assert (again.returncode, path.read_bytes().decode()) == (0, after)
    assert ".gitlab-ci.yml: already runs forklint; not changed\n" in again.stdout


def test_the_job_is_that_of_the_documentation() -> None:
    assert snippet("ci.md", "gitlab") == ci.JOB


@pytest.mark.parametrize("text", ["{build: {script: [make]}}\n", "spec: {}\n---\n" + BUILD, "- a\n"])
def test_a_file_that_takes_no_job_is_left(project: Path, forklint, text: str) -> None:
    path = project / ".gitlab-ci.yml"
    path.write_text(text)
    done = forklint(*INIT, cwd=project)
    assert done.returncode == 1
    assert "add this yourself:\nforklint:\n" in done.stdout
    assert path.read_text() == text


def test_broken_yaml_is_one_line_and_can_be_left_out(project: Path, forklint) -> None:
    path = project / ".gitlab-ci.yml"
    path.write_text("build: [\n")
    done = forklint(*INIT, cwd=project)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {path}: not valid YAML: line ")
    assert line.endswith("; fix it, or pass --no-ci")
    assert forklint(*INIT, "--no-ci", cwd=project).returncode == 0
