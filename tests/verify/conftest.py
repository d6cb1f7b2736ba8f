"""Each trial of a test has a workplace of its own, which must be empty in the end."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_process import Ran, run
from trial_making import alive, make, supervisors

from forklint.verify.limits import Limits
from forklint.verify.runner import Runner
from forklint.verify.words import Observation


@pytest.fixture
def command() -> Callable[..., Ran]:
    """As `forklint`, but within this process: an interpreter is asked about itself only once then."""
    return run


@pytest.fixture
def workplace() -> Iterator[Path]:
    """A short path; afterwards no process and no file of a trial may be left."""
    folder = Path(tempfile.mkdtemp(prefix="v"))
    try:
        yield folder
        assert alive(folder) == []
        assert list(folder.iterdir()) == []
        assert supervisors() == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def observe(workplace: Path, tmp_path: Path) -> Callable[..., Observation]:
    """Run code as a trial: ``observe(code, seconds=30, memory=..., processes=...)``."""

    def run(code: str, seconds: float = 30, folder: Path = tmp_path, **limits: int) -> Observation:
        with Runner(Path(sys.executable), Limits(**limits), workplace) as runner:
            return runner.run(make(code, folder, seconds=seconds))

    return run
