"""What docs/editors.md tells people to write does what it says."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from doc_snippets import snippet
from flake8_command import Flake8

DATA = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
LATE = "import os\nimport torch\n\nos.environ['OMP_NUM_THREADS'] = str(torch.get_num_threads())\n"
UNGUARDED = """\
from data import Words
from torch.utils.data import DataLoader

for batch in DataLoader(Words("words"), num_workers=2):
    print(batch)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("src", "scripts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "src" / "data.py").write_text(DATA)
    (tmp_path / "src" / "late.py").write_text(LATE)
    for folder in ("src", "scripts"):
        (tmp_path / folder / "train.py").write_text(UNGUARDED)
    return tmp_path


def found(output: str) -> set[tuple[str, str]]:
    return {(line.split(":")[0].removeprefix("./"), line.split()[1]) for line in output.splitlines()}


def test_the_command(flake8: Flake8, project: Path) -> None:
    program, *arguments = shlex.split(snippet("editors.md", "flake8-command"))
    assert program == "flake8"
    everything = {("src/data.py", "FKL301"), ("src/late.py", "FKL101"), ("src/train.py", "FKL201")}
    assert found(flake8(*arguments, cwd=project).stdout) == everything


@pytest.mark.parametrize("name", [".flake8", "setup.cfg", "tox.ini"])
def test_the_configuration(flake8: Flake8, project: Path, name: str) -> None:
    (project / name).write_text(snippet("editors.md", "flake8-config"))
    output = flake8(cwd=project).stdout
    assert found(output) == {("src/data.py", "FKL301"), ("src/train.py", "FKL201")}
    assert "forkserver" not in output


def test_the_settings_of_vs_code(flake8: Flake8, project: Path) -> None:
    """The extension passes the arguments, the place of the file and the text in the editor."""
    arguments = json.loads(snippet("editors.md", "vscode-settings"))["flake8.args"]
    name = project / "src" / "late.py"
    (project / ".flake8").write_text("[flake8]\nselect = E,W\nextend-ignore = E501\n")
    result = flake8(*arguments, "--stdin-display-name", name, "-", cwd=project, input=LATE)
    assert found(result.stdout) == {(str(name), "FKL101")}


def test_every_option_is_told(flake8: Flake8, project: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "editors.md").read_text(encoding="utf-8")
    help_ = flake8("--help", cwd=project).stdout
    options = {word.rstrip(",") for word in help_.split() if word.startswith("--forklint-")}
    assert len(options) == 8
    assert all(f"`{option}`" in page for option in options)
