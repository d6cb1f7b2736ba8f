"""Lint in a process of its own that stays: a file that crashes a parser, or takes too long, ends that process alone."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SECONDS = 900.0
"""Limit for one repository."""
MOST = 200
"""A process is replaced after so many repositories, and what it remembers with it."""


class LintError(Exception):
    """A repository could not be linted; the message is one line."""


class LintProcess:
    """The process that lints for a worker, started when it is needed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._done = 0

    def lint(
        self, folder: Path, cache: Path, options: Sequence[str], is_cancelled: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        """The findings of a directory, and what could not be read; raises LintError.

        ``close`` ends it from another thread. A call that comes before there is a process is known by ``is_cancelled``.
        """
        process = self._started()
        if is_cancelled():
            self.close()
            raise LintError("lint was cancelled")
        timer = threading.Timer(self._seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None  # noqa: S101 - pipes were asked for
            assert process.stdout is not None  # noqa: S101
            order = {"folder": str(folder), "cache": str(cache), "options": list(options)}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            is_slow = timer.finished.is_set() and not timer.is_alive() and process.poll() == -9
            self.close()
            limit = f" (limit: {self._seconds:g} s)" if is_slow else ""
            raise LintError(f"lint ended before it had finished{limit}")
        self._done += 1
        told: dict[str, Any] = json.loads(line)
        return told

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()

    def _started(self) -> subprocess.Popen[str]:
        if self._done >= MOST:
            self.close()
            self._done = 0
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "forklint.remote.linting"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                cwd="/",  # Python imports from the directory that it is started in
            )
        return self._process
