"""Starts the language server in a process forked from one that has imported it: a short test takes half as long."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from forked_command import end, modules_of_commands
from preloading import preload

CONTEXT = multiprocessing.get_context("forkserver")


class ForkedServer:
    """The process, as far as `subprocess.Popen` shows it."""

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        (given, ours), (out, written), (errors, complained) = (CONTEXT.Pipe(duplex=False) for _ in range(3))
        preload(*modules_of_commands(), "forklint.server.serving")
        streams = given, written, complained
        self._process = CONTEXT.Process(target=serve, args=(str(root), dict(variables), *streams), daemon=False)
        self._process.start()
        for stream in streams:
            stream.close()
        self.stdin: IO[bytes] = os.fdopen(os.dup(ours.fileno()), "wb")
        self.stdout: IO[bytes] = os.fdopen(os.dup(out.fileno()), "rb")
        self.stderr: IO[bytes] = os.fdopen(os.dup(errors.fileno()), "rb")
        for stream in (ours, out, errors):
            stream.close()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("forklint server", timeout or 0.0)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def serve(root: str, variables: Mapping[str, str], *streams: Connection) -> None:
    """In the new process: be ``forklint server``, in a folder, with these variables and standard streams."""
    from forklint.cli import main

    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.chdir(root)
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None
    sys.argv[:] = ["forklint", "server"]
    try:
        main(prog_name="forklint")
    except SystemExit as error:
        end(error.code)
