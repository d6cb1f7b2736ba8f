"""The command within the process of the tests, where an interpreter is asked about itself only once."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from asked_environment import asked_once

from forklint.cli import main
from forklint.verify import doctor

Ran = subprocess.CompletedProcess[str]


def run(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Ran:
    """As `forklint`."""
    told, noted = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    words = list(map(str, arguments))
    with pytest.MonkeyPatch.context() as here, redirect_stdout(told), redirect_stderr(noted):
        here.setattr(doctor, "probe", asked_once)
        here.chdir(cwd)
        for name, value in {"NO_COLOR": "1", **(env or {})}.items():
            here.setenv(name, value)
        try:
            main.main(words, "forklint")
        except SystemExit as error:
            code = int(error.code or 0)
    texts = [stream.buffer.getvalue().decode() for stream in (told, noted)]
    return subprocess.CompletedProcess(words, code, *texts)
