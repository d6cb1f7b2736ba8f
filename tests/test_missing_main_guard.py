"""FKL201 against real processes: what it flags fails under spawn, what its fix leaves runs there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fixture_cases import FIXTURES
from needed import need_libraries, need_torch

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project

FOLDER = FIXTURES / "FKL201_missing_main_guard"
RUNNER = """
import multiprocessing, os, runpy, sys
method, script = sys.argv[1:3]
if method:
    multiprocessing.set_start_method(method)
sys.argv = [script]
sys.path.insert(0, os.path.dirname(script))
runpy.run_path(script, run_name="__main__")
"""
"""Runs a script as ``python script`` would, under a start method."""
FAILING = [
    "bad_executor_map",
    "bad_loader_elsewhere/train",
    "bad_main_unguarded",
    "bad_segmentation_loop",
    "bad_gan_cycle",
    "bad_peek_batch",
    "bad_no_grad_block",
    "bad_loader_subclass",
    "bad_trainer_class",
    "bad_two_stages",
    "bad_constants_between",
    "bad_windows_tabs",
    "bad_engine_reached/train",
    "bad_loaders_by_split",
    "bad_async_training",
]
HANGS = ["bad_pool_features", "bad_process_start"]
"""Fixtures whose unguarded form waits without end: only the fixed form is run."""


def run(script: Path, method: str, timeout: float = 120) -> tuple[int, str]:
    """Run a script under a start method: exit code and stderr; all that it started ends with it."""
    environment = {**os.environ, "PYTHONPATH": str(script.parent / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", RUNNER, method, str(script)]
    need_torch(script)
    process = subprocess.Popen(
        command, cwd=script.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        _, stderr = process.communicate(timeout=timeout)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, stderr


def copy(name: str, folder: Path) -> Path:
    """Copy a fixture (the whole project of one in a folder) and give its script."""
    if "/" in name:
        shutil.copytree(FOLDER / name.partition("/")[0], folder, dirs_exist_ok=True)
        return folder / f"{name.partition('/')[2]}.py"
    return Path(shutil.copy(FOLDER / f"{name}.py", folder))


def fixed(name: str, folder: Path) -> Path:
    """Copy a fixture with the outcome of its fix in its place."""
    script = copy(name, folder)
    shutil.copy((FOLDER / name).with_suffix(".fixed.py"), script)
    return script


def check_before_and_after(name: str, method: str, folder: Path) -> None:
    code, stderr = run(copy(name, folder), method)
    assert code != 0
    assert "bootstrapping phase" in stderr or "context has already been set" in stderr
    code, stderr = run(fixed(name, folder), method)
    assert code == 0, stderr


@pytest.mark.soak
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("name", FAILING)
def test_fails_under_each_method_until_it_is_fixed(name: str, method: str, tmp_path: Path) -> None:
    check_before_and_after(name, method, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["bad_start_method_twice", "bad_explicit_spawn"])
def test_that_asks_for_spawn_itself_fails_unasked_until_it_is_fixed(name: str, tmp_path: Path) -> None:
    check_before_and_after(name, "", tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("name", HANGS)
def test_that_hung_ends_once_it_is_fixed(name: str, tmp_path: Path) -> None:
    code, stderr = run(fixed(name, tmp_path), "spawn")
    assert code == 0, stderr


@pytest.mark.soak
@pytest.mark.parametrize("name", FAILING)
def test_runs_under_fork_before_and_after(name: str, tmp_path: Path) -> None:
    assert run(copy(name, tmp_path), "fork")[0] == 0
    assert run(fixed(name, tmp_path), "fork")[0] == 0


NOT_RUN = (
    "ffcv",
    "torch_geometric",
    "set_start_method",
    "load_dataset",
    "lightning",
    "ultralytics",
    "sys.argv",
    "required=True",
)
"""Words of scripts that need data or arguments, or set their start method themselves, ..."""
ELSEWHERE = "sys.platform"
"""... and of those that have no workers where processes are spawned by default."""
GOOD = sorted(
    path
    for path in FOLDER.glob("good_*.py")
    if not any(word in path.read_text(encoding="utf-8") for word in (*NOT_RUN, ELSEWHERE))
    and "unknown_workers" not in path.name
    and not path.stem.endswith("_test")  # pytest runs it
)


@pytest.mark.soak
@pytest.mark.parametrize("script", GOOD, ids=lambda path: path.stem)
def test_good_runs_under_spawn(script: Path, tmp_path: Path) -> None:
    need_libraries(script)
    code, stderr = run(Path(shutil.copy(script, tmp_path)), "spawn")
    assert code == 0, stderr


DATASET = """
import multiprocessing as mp
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.arange(4.0)), num_workers=1)
spawning = DataLoader(loader.dataset, num_workers=1, multiprocessing_context="spawn")
"""
FACTS = {
    "building a loader starts nothing": ("print(len(spawning))", 0),
    "iterating it does": ("list(spawning)", 1),
    "set_start_method raises in the child": (
        "mp.set_start_method('spawn')\nif __name__ == '__main__': list(loader)",
        1,
    ),
    "with force it does not": (
        "mp.set_start_method('spawn', force=True)\nif __name__ == '__main__': list(loader)",
        0,
    ),
    "the process's name guards as well": (
        "if mp.current_process().name == 'MainProcess': list(spawning)",
        0,
    ),
    "parent_process() guards nothing": ("if mp.parent_process() is None: list(spawning)", 1),
}


@pytest.mark.soak
@pytest.mark.parametrize("fact", FACTS)
def test_what_starters_and_guards_do(fact: str, tmp_path: Path) -> None:
    text, wanted = FACTS[fact]
    script = tmp_path / "script.py"
    script.write_text(DATASET + text + "\n", encoding="utf-8")
    assert run(script, "")[0] == wanted


def test_main_of_a_package_is_not_imported_again(tmp_path: Path) -> None:
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "__main__.py").write_text(
        "import multiprocessing as mp\n"
        "child = mp.get_context('spawn').Process(target=print, args=('worked',))\n"
        "child.start(); child.join()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "trainer"]
    assert (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
        == "worked"
    )


@pytest.mark.parametrize(
    "imported",
    ["from typing import TYPE_CHECKING", "from compatible import TYPE_CHECKING", "TYPE_CHECKING = not __debug__", ""],
)
def test_what_type_checkers_read_does_not_run(forklint, imported: str, tmp_path: Path) -> None:
    """Wherever the name comes from: the screen knows it by its spelling, so a full analysis must agree."""
    (tmp_path / "forklint.toml").touch()
    start = "multiprocessing.Process(target=print).start()"
    text = f"import multiprocessing\n{imported}\n\nif {{test}}:\n    {start}\n"
    for test, found in (("TYPE_CHECKING", 0), ("multiprocessing.cpu_count() > 1", 1)):
        (tmp_path / "train.py").write_text(text.format(test=test))
        for screen in ((), ("--no-screen",)):
            done = forklint("train.py", "--no-cache", "--output-format", "concise", *screen, cwd=tmp_path)
            assert done.stdout.count("FKL201") == found, (test, screen)


@pytest.mark.parametrize("around", ["{}", "if len('rows'):\n\n    {}", "try:\n    {}\nfinally:\n    pass"])
def test_the_default_of_a_parameter_is_left_alone(forklint, around: str, tmp_path: Path) -> None:
    """With a screen it was found or not by the statement around it, and the fix had nothing to move."""
    defined = around.format("def work(pool=Pool(2)): return pool")
    (tmp_path / "script.py").write_text(f"from multiprocessing import Pool\n\n{defined}\n\nprint(work)\n")
    result = forklint("script.py", "--isolated", "--no-cache", "--select", "FKL201", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "All checks passed.\n"), result.stdout


def test_a_class_that_yields_is_no_program(tmp_path: Path) -> None:
    """Python parses it, and does not compile it: nothing is run, with and without screens."""
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nfrom torch.utils.data import DataLoader\n\n\nclass Rows:\n"
        "    yield from DataLoader(torch.arange(8), num_workers=2)\n"
    )
    for screen in (True, False):
        assert Linter(Project(tmp_path, Settings()), Options(screen=screen)).lint(script).findings == ()
