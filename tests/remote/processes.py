"""Processes of forklint on ports that the system chooses, for tests."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PLACES = {"TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "DASK_TEMPORARY_DIRECTORY": "cache"}
"""Where processes write."""
PRETENDED = Path(__file__).parent / "pretended_worker.py"


class Processes:
    """Starts processes of forklint, and ends them."""

    def __init__(self, folder: Path, python: Path) -> None:
        """Use this directory; ``python`` runs the trials of workers."""
        self.folder = folder
        self.python = python
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """Start a process whose standard error goes to a file; in a session of its own."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.folder,
                env={**os.environ, **{name: str(self.folder / place) for name, place in PLACES.items()}},
            )
        self.started[name] = process
        return process

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait_for(self, name: str, words: str, seconds: float = 90, times: int = 1) -> str:
        """Wait until a process has said something; returns all that it has said."""
        deadline = time.monotonic() + seconds
        while len(re.findall(words, self.log(name))) < times:
            assert self.started[name].poll() is None, f"{name} has ended: {self.log(name)}"
            assert time.monotonic() < deadline, f"{name} did not say '{words}': {self.log(name)}"
            time.sleep(0.1)
        return self.log(name)

    def scheduler(self, *options: str, port: int = 0, name: str = "scheduler") -> str:
        """Start a scheduler; returns its address."""
        self.start(name, "-m", "forklint", "scheduler", "--port", str(port), *options)
        found = re.findall(r"listens on (\S+)", self.wait_for(name, "listens on"))
        return found[-1]

    def worker(self, address: str, name: str, *options: str, wait: bool = True) -> subprocess.Popen[bytes]:
        """Start `forklint worker`."""
        places = ("--store", str(self.folder / f"store-{name}"), "--python", str(self.python))
        process = self.start(name, "-m", "forklint", "worker", address, "--name", name, *places, *options)
        if wait:
            self.wait_for(name, "is connected to")
        return process

    def pretended(self, address: str, name: str, **facts: str) -> subprocess.Popen[bytes]:
        """Start a worker that pretends facts about its machine, which no option of the product can."""
        told = [f"{key}={value}" for key, value in facts.items()]
        store = str(self.folder / f"store-{name}")
        process = self.start(name, str(PRETENDED), address, name, store, str(self.python), *told)
        self.wait_for(name, "is connected to")
        return process

    def end(self) -> None:
        """End all, and check that nothing of theirs is left."""
        running = [process for process in self.started.values() if process.poll() is None]
        for process in running:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError(f"{process.args} did not end by SIGTERM") from None


def workers_of(address: str, tls: Any = None) -> list[str]:
    """The addresses of the workers of a scheduler; ``tls`` is Dask's ``Security``."""
    from distributed.core import rpc

    async def identity() -> Any:
        async with rpc(address, connection_args=tls.get_connection_args("client") if tls else {}) as scheduler:
            return await scheduler.identity(n_workers=-1)

    return list(asyncio.run(identity())["workers"])


def processes_below(folder: Path) -> list[str]:
    """Command lines that name a directory, but for those of this test."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line and int(entry.parent.name) != os.getpid():
            found.append(line)
    return found
