"""``forklint init`` on a terminal: it shows, asks, and does what it is told."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest
from hook_repository import environment

pty = pytest.importorskip("pty")


def told(process: int, terminal: int, answer: bytes) -> int:
    """Answer until the process ends (a key may be lost while the terminal changes its mode); gives its status."""
    try:
        for _ in range(60):
            with contextlib.suppress(OSError):  # it has ended
                os.write(terminal, answer)
            for _ in range(20):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    return status
                time.sleep(0.05)
        os.kill(process, signal.SIGKILL)
        pytest.fail("no answer is taken")
    finally:
        os.close(terminal)


@pytest.mark.parametrize(
    ("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x03", 1), (b"\x04", 1)], ids=repr
)
def test_on_a_terminal_it_asks(tmp_path: Path, answer: bytes, code: int) -> None:
    (tmp_path / ".git").mkdir()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        command = [sys.executable, "-m", "forklint", "init"]
        os.execve(sys.executable, command, environment(TERM="dumb"))
    shown = b""
    while b"[y/N]: " not in shown and select.select([terminal], [], [], 60)[0]:
        shown += os.read(terminal, 4096)
    assert b"+++ .pre-commit-config.yaml" in shown, "what would be written is shown before"
    assert [path.name for path in tmp_path.iterdir()] == [".git"]
    status = told(process, terminal, answer)
    assert os.waitstatus_to_exitcode(status) == code
    written = {path.name for path in tmp_path.iterdir()} - {".git"}
    assert written == ({".pre-commit-config.yaml", "forklint.toml"} if code == 0 else set())
