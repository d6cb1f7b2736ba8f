"""A scheduler and workers of forklint, as processes on ports that the system chooses; none is left in the end."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from forked_command import SERVER
from processes import Processes, processes_below

collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]
"""Without the extra `dask` there is nothing to test."""


@pytest.fixture(scope="session")
def trial_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs trials: an interpreter without torch, which takes seconds to import."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def started(python: Path) -> Iterator[Processes]:
    with tempfile.TemporaryDirectory(prefix="fkl") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        processes = Processes(folder, python)
        try:
            yield processes
        finally:
            processes.end()
        deadline = time.monotonic() + 30
        while (processes_below(folder) or left_in(folder)) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert processes_below(folder) == []
        assert left_in(folder) == [], "temporary files are left"


def left_in(folder: Path) -> list[str]:
    """Temporary files of workers and trials: supervisors remove those of trials that were cut short."""
    return [path.name for path in (folder / "tmp").iterdir() if path.name.startswith(("forklint", "dask"))]


@pytest.fixture
def processes(trial_python: Path) -> Iterator[Processes]:
    yield from started(trial_python)


@pytest.fixture(scope="module")
def lasting(trial_python: Path) -> Iterator[Processes]:
    """The same, shared by the tests of a file."""
    yield from started(trial_python)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run forklint as a process of its own."""

    def forklint(
        *arguments: str | Path, cwd: Path = tmp_path, seconds: float = 600
    ) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "NO_COLOR": "1", "FORKLINT_NO_CACHE": "1"}
        return SERVER.run(list(map(str, arguments)), cwd, variables, None, seconds)

    return forklint


@pytest.fixture
def verify(run: Callable[..., subprocess.CompletedProcess[str]], trial_python: Path) -> Callable[..., Any]:
    """Run ``forklint verify`` as a process of its own."""

    def ran(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        return run("verify", "--python", trial_python, *arguments, cwd=cwd)

    return ran
