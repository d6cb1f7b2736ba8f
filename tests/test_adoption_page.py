"""docs/adoption.md: what it shows is what forklint does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import snippet
from hazards import SHORT_HAZARD as HAZARD


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(snippet("adoption.md", "baseline-key"))
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "data.py").write_text(HAZARD)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "forklint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m forklint "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{cwd / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_the_baseline_of_the_page_is_what_is_written(forklint, project: Path) -> None:
    assert forklint("--update-baseline", cwd=project).returncode == 0
    written = (project / "forklint-baseline.json").read_text()
    assert json.loads(written) == json.loads(snippet("adoption.md", "baseline-file"))
    assert forklint(cwd=project).returncode == 0


def test_the_comments_of_the_page_are_what_is_written(forklint, project: Path) -> None:
    line = snippet("adoption.md", "noqa").strip()
    reason = line.partition("FKL301 ")[2]
    assert forklint("src", "--isolated", f"--add-noqa={reason}", cwd=project).returncode == 0
    assert line in (project / "src" / "data.py").read_text()
    with (project / "pyproject.toml").open("a") as file:
        file.write(snippet("adoption.md", "ruff"))
    ruff = [sys.executable, "-m", "ruff", "check", "--select", "RUF100", "src"]
    assert subprocess.run(ruff, cwd=project, capture_output=True, check=False).returncode == 0


def test_the_comment_for_a_file_silences(forklint, project: Path) -> None:
    comment = snippet("adoption.md", "file").replace("FKL201, ", "")
    (project / "src" / "data.py").write_text(comment + HAZARD)
    assert forklint("src", "--isolated", cwd=project).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")
def test_standard_input(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    (project / "src" / "data.py").rename(project / "buffer.txt")
    first, second = snippet("adoption.md", "stdin").splitlines()
    found = shell(first, project)
    assert (found.returncode, "--> src/data.py:7:9" in found.stdout) == (1, True)
    assert shell(second, project).returncode == 0
    assert "__getstate__" in (project / "fixed.txt").read_text()


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")
def test_completion(project: Path) -> None:
    assert shell(f"{snippet('adoption.md', 'bash')}complete -p forklint", project).stdout.startswith("complete ")
    for name in ("zsh", "fish"):
        source = snippet("adoption.md", name)
        script = source.replace('eval "$(', "").replace(')"', "").replace("| source", "")
        assert "compdef" in (out := shell(script, project).stdout) or "complete " in out, out
