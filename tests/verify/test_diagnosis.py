"""What is said of the run of a command, from what was seen of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.crashes.reading import LogReader
from forklint.verify.diagnosis import diagnose
from forklint.verify.watched_command import Seen

MIB = 2**20
HERE = Path("/project")
STACK = """\
process 42
Fatal Python error: Bus error

Current thread 0x00007f (most recent call first):
  File "/usr/lib/python3.11/site-packages/torch/storage.py", line 3 in share
  File "/project/data.py", line 8 in collate
"""


def printed(text: str):
    reader = LogReader()
    reader.feed(text.encode())
    return reader.end()


def test_a_worker_is_told_before_its_parent_and_only_once() -> None:
    seen = Seen(
        1,
        printed=printed("RuntimeError: DataLoader worker (pid 42) is killed by signal: Bus error."),
        stacks=STACK,
        records=(
            {"kind": "process", "pid": 40},
            {"kind": "worker", "pid": 42, "number": 3},
            {"kind": "child-died", "pid": 40, "child": 42, "signal": 7},
            {"kind": "child-died", "pid": 40, "child": 43, "signal": 15},
            {"kind": "child-died", "pid": 40, "child": 41, "signal": 11},
        ),
    )
    done = diagnose(seen, HERE, [])
    assert done.headline == (
        "DataLoader worker 3 (process 42) was killed by SIGBUS (bus error) at data.py:8, in collate."
    )
    assert list(done.notes()) == [
        "Process 41 was killed by SIGSEGV (segmentation fault).",
        "The command ended with exit code 1.",
    ]
    assert done.status == 1


def test_a_worker_s_death_explains_an_error_that_does_not_name_it() -> None:
    """The main process may hear of the reset pipe before it hears of the worker."""
    error = "ConnectionResetError: [Errno 104] Connection reset by peer"
    workers = ({"kind": "worker", "pid": 42, "number": 0}, {"kind": "child-died", "pid": 40, "child": 42, "signal": 9})
    for records, known in (workers, True), (workers[1:], False):
        done = diagnose(Seen(1, printed=printed(error), records=records), HERE, [])
        assert ("worker-killed" in {sign.crash.name for sign in done.explained.signs}) is known
        assert ("FKL401" in {one.code for one in done.explained.hypotheses}) is known


def test_full_shared_memory_is_named() -> None:
    full = Seen(None, "SIGBUS", shm=(MIB, 64 * MIB))
    assert (
        "/dev/shm was full: down to 1 of 64 MiB. Give the container --shm-size=8g or --ipc=host."
        in diagnose(full, HERE, []).notes()
    )
    free = Seen(None, "SIGBUS", shm=(60 * MIB, 64 * MIB))
    assert not list(diagnose(free, HERE, []).notes())


@pytest.mark.parametrize(
    ("seen", "status", "headline"),
    [
        (Seen(0), 0, "The command ended with exit code 0: nothing crashed."),
        (Seen(3), 3, "The command ended with exit code 3."),
        (Seen(139), 139, "The command was killed by SIGSEGV (segmentation fault)."),
        (Seen(None, "SIGKILL"), 137, "The command was killed by SIGKILL (killed)."),
        (Seen(None, "signal 40"), 168, "The command was killed by signal 40."),
        (Seen(None, stopped_for="stop", seconds=9.6, quiet_seconds=3.2), 130, "The command was interrupted after 10"),
        (
            Seen(None, stopped_for="time", seconds=60, quiet_seconds=59),
            124,
            "The command did not end within 60",
        ),
        (Seen(None, stopped_for="supervisor"), 125, "The process that watched the command was killed"),
    ],
)
def test_the_first_line_and_the_status(seen: Seen, status: int, headline: str) -> None:
    done = diagnose(seen, HERE, [])
    assert done.headline.startswith(headline)
    assert done.status == status
