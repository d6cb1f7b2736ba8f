"""The process that commands are forked from: it and the command end with the tests, however those end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PROGRAM = """
import os, sys
from pathlib import Path
from forked_command import SERVER

SERVER.can_run(os.environ)
print(SERVER._process.pid, flush=True)
SERVER.run(["doctor", "--", "sleep", "600"], Path(sys.argv[1]), os.environ, None, 600)
"""


def session(leader: int) -> list[int]:
    """The processes of a session that still run, as Linux lists them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, leads = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(leads) == leader and state != "Z":
            found.append(int(folder.name))
    return found


def waited_for(there: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not there() and time.monotonic() < until:
        time.sleep(0.05)
    return there()


@pytest.mark.skipif(not hasattr(os, "pidfd_open") or sys.platform != "linux", reason="needs descriptors of processes")
def test_a_command_ends_with_tests_that_are_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])},
        stdout=subprocess.PIPE,
    ) as tests:
        assert tests.stdout is not None
        server = int(tests.stdout.readline())
        assert waited_for(lambda: len(session(server)) > 1), "the server and the command"
        tests.send_signal(signal.SIGKILL)
    assert waited_for(lambda: not session(server))
