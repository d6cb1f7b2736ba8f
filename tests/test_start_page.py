"""The first page does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_snippets import snippet


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "samples.py").write_text(snippet("start.md", "program"))
    return tmp_path


@pytest.mark.parametrize("mark", ["finds", "fixes"])
def test_it_prints_what_is_shown(forklint, project: Path, mark: str) -> None:
    blocks = {"finds": snippet("start.md", "finds"), "fixes": snippet("start.md", "fixes")}
    prompt, _, printed = blocks[mark].partition("\n")
    assert forklint(*prompt.split()[2:], cwd=project).stdout == printed


def test_the_page_is_written(forklint, project: Path) -> None:
    prompt = snippet("start.md", "page").strip()
    done = forklint(*prompt.split()[2:], cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "1 finding in 1 file" in (project / "report.html").read_text(encoding="utf-8")
