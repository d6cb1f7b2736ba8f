"""The tests where they are rarely run, all conditions at once that go together; see scripts/anywhere.py."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_VERIFY = "--ignore=tests/verify tests"
TIMED = "tests/test_pace.py tests/test_watch.py tests/server tests/verify/test_runner.py tests/verify/test_bounds.py"
PLACES = {
    "another user": (["user", "background", "nohup", "shuffled", "tmpdir", "home-unset", "odd-path"], NO_VERIFY),
    "root": (["root", "nohup", "shuffled", "home-unwritable"], NO_VERIFY),
    "busy": (["busy", "shuffled"], TIMED),
}
"""Conditions, and the tests that run under them: beside busy loops, those that wait for something."""


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
def test_it_passes(place: str, soak_seed: int, record_property: Callable[[str, object], None], tmp_path: Path) -> None:
    conditions, tests = PLACES[place]
    if os.geteuid() != 0 and {"user", "root"} & set(conditions):
        pytest.skip("only root can run tests as root, and as another user")
    command = [sys.executable, str(ROOT / "scripts" / "anywhere.py"), *conditions, "--together"]
    command += ["--log", str(tmp_path), f"--test-options={tests}"]
    environment = {**os.environ, "SHUFFLE": str(soak_seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    line = done.stdout.splitlines()[-1]
    if done.returncode == 2:
        pytest.skip(line)
    record_property("figures", f"{' '.join(conditions)}: {line}")
    assert done.returncode == 0, done.stdout
