"""``--explain-cache``: why a file would be linted again."""

from __future__ import annotations

from pathlib import Path

import pytest

BASE = "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    def __len__(self):\n        return 3\n"
WORDS = (
    "import lmdb\n\nfrom base import Base\n\n\nclass Words(Base):\n    def __init__(self, root):\n"
    "        self.env = lmdb.open(root)\n\n    def __getitem__(self, index):\n        return self.env.stat()\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "other.py").write_text("import json\n")
    return tmp_path


def test_a_report_that_holds(forklint, project: Path) -> None:
    forklint(cwd=project)
    done = forklint("--explain-cache", "words.py", cwd=project)
    assert done.stdout == "words.py: the cached result is up to date\n"
    assert done.returncode == 0


def test_nothing_stored_yet(forklint, project: Path) -> None:
    assert "there is no cached result" in forklint("--explain-cache", "words.py", cwd=project).stdout


def test_outside_a_project_nothing_is_stored(forklint, project: Path) -> None:
    (project / "pyproject.toml").unlink()
    assert "there is no cache for this project" in forklint("--explain-cache", "words.py", cwd=project).stdout


def test_other_options_have_reports_of_their_own(forklint, project: Path) -> None:
    forklint(cwd=project)
    done = forklint("--explain-cache", "words.py", "--no-screen", cwd=project)
    assert "there is no cached result for these options and settings" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("words.py", WORDS + "# more\n", "- the file itself changed"),
        ("base.py", BASE.replace("(Dataset)", ""), "- the definition of `Base` in base.py changed"),
        ("lmdb.py", "def open(path): ...\n", "- lmdb.py was added or removed in "),
    ],
)
def test_what_changed_is_named(forklint, project: Path, file: str, text: str, reason: str) -> None:
    forklint(cwd=project)
    (project / file).write_text(text)
    said = forklint("--explain-cache", "words.py", cwd=project).stdout
    assert said.startswith("words.py would be linted again:\n")
    assert reason in said


def test_a_comment_elsewhere_is_no_reason(forklint, project: Path) -> None:
    forklint(cwd=project)
    (project / "base.py").write_text("# where it all begins\n" + BASE)
    (project / "other.py").write_text("import json  # for later\n")
    said = forklint("--explain-cache", "words.py", cwd=project).stdout
    assert said == "words.py: the cached result is up to date\n"


def test_asking_changes_nothing(forklint, project: Path) -> None:
    forklint(cwd=project)
    (project / "base.py").write_text(BASE.replace("(Dataset)", ""))
    first = forklint("--explain-cache", "words.py", cwd=project).stdout
    assert forklint("--explain-cache", "words.py", cwd=project).stdout == first
    assert "FKL" not in first


@pytest.mark.parametrize(
    "text",
    [
        "NAMES = " + " + ".join(['"name"'] * 1100) + ' + "{0}"\n',
        "def chosen(n):\n    if n:\n        pass\n" + "    elif n == 2:\n        pass\n" * 700 + "    return {0}\n",
    ],
)
def test_statements_that_nest_deeply_are_compared(forklint, project: Path, text: str) -> None:
    (project / "base.py").write_text(text.format(1) + BASE)
    forklint(cwd=project)
    (project / "base.py").write_text(text.format(2) + BASE)
    done = forklint(cwd=project)
    assert done.stderr == ""
    assert done.stdout == forklint("--no-cache", cwd=project).stdout
    assert done.returncode < 2
