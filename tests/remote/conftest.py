"""A scheduler and workers of forklint, as processes on ports that the system chooses; none is left in the end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import Processes, processes_below

pytest.importorskip("distributed")


def started() -> Iterator[Processes]:
    with tempfile.TemporaryDirectory(prefix="fkl") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        processes = Processes(folder)
        try:
            yield processes
        finally:
            processes.end()
        deadline = time.monotonic() + 15
        while processes_below(folder) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert processes_below(folder) == []
        left = [path for path in (folder / "tmp").iterdir() if path.name.startswith(("forklint", "dask"))]
        assert left == [], "temporary files are left"


@pytest.fixture
def processes() -> Iterator[Processes]:
    yield from started()


@pytest.fixture(scope="module")
def lasting() -> Iterator[Processes]:
    """The same, shared by the tests of a file."""
    yield from started()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run forklint as a process of its own."""

    def forklint(
        *arguments: str | Path, cwd: Path = tmp_path, seconds: float = 600
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "forklint", *map(str, arguments)],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=seconds,
            env={**os.environ, "NO_COLOR": "1", "FORKLINT_NO_CACHE": "1"},
            check=False,
        )

    return forklint
