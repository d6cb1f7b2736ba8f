"""Each trial of a test has a workplace of its own, which must be empty in the end."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from asked_environment import asked_once
from trial_making import alive, make, supervisors

from forklint.cli import main
from forklint.verify import doctor
from forklint.verify.limits import Limits
from forklint.verify.runner import Runner
from forklint.verify.words import Observation

Ran = subprocess.CompletedProcess[str]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """As `forklint`, but within this process: an interpreter is asked about itself only once then."""
    monkeypatch.setattr(doctor, "probe", asked_once)

    def run(
        *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        told, noted = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        words = list(map(str, arguments))
        with monkeypatch.context() as here, redirect_stdout(told), redirect_stderr(noted):
            here.chdir(cwd)
            for name, value in {"NO_COLOR": "1", **(env or {})}.items():
                here.setenv(name, value)
            try:
                main.main(words, "forklint")
            except SystemExit as error:
                code = int(error.code or 0)
        texts = [stream.buffer.getvalue().decode() for stream in (told, noted)]
        return subprocess.CompletedProcess(words, code, *texts)

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
