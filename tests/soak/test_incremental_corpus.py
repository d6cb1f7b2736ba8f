"""What is kept from run to run, on a package that nobody here wrote, while somebody works on it. Needs the network."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from incremental_projects import reports

from scripts import corpus

pytestmark = pytest.mark.soak
PACKAGE = "mmengine"
LINES = (
    b"import torch\n",
    b"from torch.utils.data import DataLoader\n\nfor batch in DataLoader([1], num_workers=2):\n    print(batch)\n",
    b"import os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n",
    b"import multiprocessing\n\nmultiprocessing.set_start_method('fork')\n",
    b"# noqa: FKL301\n",
    b"def broken(:\n",
)


@pytest.fixture(scope="module")
def package() -> Path:
    try:
        _, folders = corpus.ready()
    except corpus.FetchError as error:
        warnings.warn(f"SKIPPED: the corpus is not at hand: {error}", stacklevel=1)
        pytest.skip(f"the corpus is not at hand: {error}")
    return next(folder for folder in folders if folder.name.startswith(PACKAGE))


def copy(package: Path, folder: Path) -> Path:
    project = folder / "project"
    shutil.copytree(package, project)
    (project / "forklint.toml").write_text("preview = true\n")
    return project


def edit(project: Path, dice: random.Random) -> str:
    files = sorted(project.rglob("*.py"))
    one, other = dice.sample(files, 2)
    kind = dice.choice(["append", "append", "prepend", "delete", "move", "shadow", "swap", "package"])
    if kind in {"append", "prepend"}:
        line = dice.choice(LINES)
        one.write_bytes(one.read_bytes() + b"\n" + line if kind == "append" else line + one.read_bytes())
    elif kind == "delete":
        one.unlink()
    elif kind == "move":
        one.replace(other.with_name(one.name))
    elif kind == "shadow":
        shutil.copy(one, project / one.name)
    elif kind == "swap":
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
    else:
        init = one.with_name("__init__.py")
        init.unlink() if init.exists() else init.touch()
    return f"{kind} {one.relative_to(project)} {other.relative_to(project)}"


@pytest.mark.parametrize("seed", range(2))
def test_somebody_works_on_a_package(package: Path, tmp_path: Path, seed: int) -> None:
    project, dice = copy(package, tmp_path), random.Random(seed)
    done: list[str] = []
    for _ in range(12):
        expected = reports(project, keeps=False)
        assert reports(project, keeps=True) == expected, done
        assert reports(project, keeps=True) == expected, f"the second time, after {done}"
        done.append(edit(project, dice))


def test_processes_and_stores_say_the_same(package: Path, tmp_path: Path) -> None:
    project = copy(package, tmp_path)

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "forklint", "--output-format", "json", *options]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False).stdout

    expected = run("--no-cache", "-j1")
    assert expected.count('"code"') > 1
    for options in (["-j2"], ["-j1"], ["-j2"], ["-j2", "--no-screen"], ["-j1", "--no-screen"]):
        assert run(*options) == expected
