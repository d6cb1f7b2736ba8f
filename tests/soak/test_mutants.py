"""Of 150 small faults in values/ and runs/, the tests notice at least 85 in 100."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.soak
@pytest.mark.skipif(find_spec("coverage") is None, reason="coverage is not installed")
def test_faults_are_noticed(soak_seed: int, record_property: Callable[[str, object], None]) -> None:
    command = [sys.executable, "-m", "scripts.mutation", "--seed", str(soak_seed)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    record_property("figures", f"{lines[-1]}, seed {soak_seed}" if lines else "no mutant was tried")
    assert done.returncode == 0, "\n".join(lines[-60:])
