"""`make test` on each supported Python; see scripts/matrix.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.matrix import VERSIONS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_it_passes(version: str, record_property: Callable[[str, object], None]) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "matrix.py"), version]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    line = done.stdout.splitlines()[-1]
    if done.returncode == 2:
        pytest.skip(line)
    record_property("figures", line)
    assert done.returncode == 0, done.stdout
