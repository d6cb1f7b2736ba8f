"""The process that watches over one command from outside; see ``supervision`` for what it does."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forklint.verify.isolation import SUPERVISOR
from forklint.verify.supervision.order import Order

STOP = b"stop\n"
"""What a supervisor is told after its order to ask all processes for their stacks and end them."""

LOOK = 1.0
"""Seconds: as much of the time in which forklint is itself stopped counts at most."""


class CannotRunError(ValueError):
    """A command that cannot be started at all; the message is one line for the user."""


class Supervisor:
    """A supervisor that waits for its order: in a session of its own, so that Ctrl-C does not reach it."""

    def __init__(self, descriptors: Sequence[int] = ()) -> None:
        """Start it; it inherits the descriptors."""
        self._process = subprocess.Popen(  # noqa: S603
            SUPERVISOR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,
            pass_fds=descriptors,
        )

    def ask(self, order: Order) -> Mapping[str, Any] | None:
        """The report on a command; None if the supervisor was killed. Raises CannotRunError."""
        assert self._process.stdout is not None  # noqa: S101 - pipes were asked for
        self._tell(json.dumps(order._asdict()).encode() + b"\n")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            return None
        report: dict[str, Any] = json.loads(line)
        if "error" in report:
            raise CannotRunError(str(report["error"]))
        return report

    def stop(self) -> None:
        """Let it take the stacks of all processes, end them, and report."""
        self._tell(STOP)

    def cut(self) -> None:
        """Let it end what runs, clean up and go."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    @contextlib.contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Kill it, and it alone, if the block takes longer: it is stuck.

        Time in which forklint is itself stopped (Ctrl-Z, SIGSTOP) does not count: the supervisor has its report by
        then, and only waits for forklint to read it.
        """
        over = threading.Event()

        def watch() -> None:
            left = seconds
            while left > 0:
                if over.wait(min(LOOK, left)):
                    return
                left -= LOOK
            self._process.kill()

        thread = threading.Thread(target=watch, name="limit", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def wait(self) -> str:
        """Wait until it has cleaned up, once it was cut; what it said of an error of its own."""
        assert self._process.stdout is not None  # noqa: S101 - pipes were asked for
        assert self._process.stderr is not None  # noqa: S101
        with self._process.stdout, self._process.stderr:
            complaint = self._process.stderr.read().decode(errors="replace")
            self._process.wait()
        return complaint

    def _tell(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - pipes were asked for
        with contextlib.suppress(OSError, ValueError):  # it was killed, or cut, before it heard
            self._process.stdin.write(line)
            self._process.stdin.flush()
