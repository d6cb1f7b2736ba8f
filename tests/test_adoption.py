"""What eases a project into forklint: fixing without reporting, exit codes, files left out though they are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hazards import SHORT_HAZARD as HAZARD

SAFE = "import torch\n\nx = 1  # noqa: FKL301\n"
"""A comment that silences nothing: its fix is safe."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.forklint]\nexclude = ["vendored"]\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "vendored").mkdir()
    (tmp_path / "src" / "safe.py").write_text(SAFE)
    (tmp_path / "src" / "data.py").write_text(HAZARD)
    (tmp_path / "vendored" / "data.py").write_text(HAZARD)
    return tmp_path


def test_fix_only_speaks_of_nothing_that_is_left(forklint, project: Path) -> None:
    result = forklint("src", "--fix-only", cwd=project)
    assert (result.returncode, result.stdout, result.stderr) == (0, "2 fixed\n", "")
    assert (project / "src" / "safe.py").read_text() == "import torch\n\nx = 1\n"
    (project / "src" / "broken.py").write_text("def broken(:\n")
    assert forklint("src", "--fix-only", cwd=project).returncode == 0
    assert forklint("src", "--fix", cwd=project).returncode == 1


def test_fix_only_gives_an_empty_report(forklint, project: Path) -> None:
    assert json.loads(forklint("src", "--fix-only", "--output-format", "json", cwd=project).stdout) == []
    assert forklint("src", "--fix-only", "--statistics", "-q", cwd=project).stdout == ""


def test_fix_only_still_fails_where_it_cannot_work(forklint, project: Path) -> None:
    assert forklint("src", "nowhere", "--fix-only", cwd=project).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    [
        (["--fix-only", "--exit-non-zero-on-fix"], 1, 0),
        (["--fix", "--exit-non-zero-on-fix", "--ignore", "FKL301"], 1, 0),
        (["--fix", "--ignore", "FKL3"], 0, 0),
        (["--fix-only", "--exit-non-zero-on-fix", "--exit-zero"], 0, 0),
        (["--exit-non-zero-on-fix", "--exit-on", "error", "--ignore", "FKL301"], 0, 0),
    ],
)
def test_exit_codes_of_fixing(forklint, project: Path, arguments: list[str], first: int, second: int) -> None:
    (project / "src" / "safe.py").write_text(SAFE.replace("FKL301", "FKL201"))
    assert forklint("src", *arguments, cwd=project).returncode == first
    assert forklint("src", *arguments, cwd=project).returncode == second


@pytest.mark.parametrize("other", ["--fix", "--fix-only", "--statistics", "--exit-non-zero-on-fix"])
def test_diff_goes_before_the_rest(forklint, project: Path, other: str) -> None:
    result = forklint("src", other, "--diff", cwd=project)
    assert result.returncode == 1
    assert "-x = 1  # noqa: FKL301\n+x = 1\n" in result.stdout
    assert "-        self.env = lmdb.open(root, readonly=True)\n" in result.stdout
    assert forklint("src/safe.py", other, "--diff", "--exit-zero", cwd=project).returncode == 0
    assert (project / "src" / "safe.py").read_text() == SAFE


def test_force_exclude_counts_for_what_is_named(forklint, project: Path) -> None:
    (project / ".venv").mkdir()
    (project / ".venv" / "data.py").write_text(HAZARD)
    for named in ("vendored/data.py", "vendored", ".venv/data.py"):  # the last lies in a folder that is never walked
        shown = forklint(named, "--show-files", cwd=project).stdout
        assert shown == f"{named.removesuffix('/data.py')}/data.py\n"
        assert forklint(named, "--show-files", "--force-exclude", cwd=project).stdout == ""
    assert forklint("vendored/data.py", cwd=project).returncode == 1
    (project / "pyproject.toml").write_text('[tool.forklint]\nexclude = ["vendored"]\nforce-exclude = true\n')
    assert forklint("vendored/data.py", "vendored", cwd=project).returncode == 0
    assert forklint("src/data.py", "vendored/data.py", "--show-files", cwd=project).stdout == "src/data.py\n"
