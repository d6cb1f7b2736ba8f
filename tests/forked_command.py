"""Runs forklint in a process forked from one that has imported it: what a new interpreter does, without its start.

As a program this is the server: it reads requests from the socket whose descriptor is its argument, each with the three
standard streams, and answers with the process id of the command, then with its exit status. A command begins with the
arguments, folder, variables, umask and limits of its request, and ends as a process of multiprocessing does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import IO, Any

LARGEST = 1 << 20
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")
"""Variables that only a new interpreter reads, by how they begin."""

NOT_IMPORTED = ("remote", "server", "flake8_plugin", "__main__", "verify.harness", "verify.supervision")
"""Parts that other programs run, or that need packages of their own: a command imports what it needs of them."""


class Server:
    """A process that has imported forklint, started on first use; it ends with this one at the latest."""

    _process: subprocess.Popen[bytes] | None = None

    def __init__(self) -> None:
        """Start nothing yet."""
        self._turn = threading.Lock()

    @cached_property
    def _socket(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._variables = _read_at_start(os.environ)
        command = [sys.executable, str(Path(__file__).absolute()), str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()
        return ours

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._socket.close()
            self._process.wait()

    def can_run(self, variables: Mapping[str, str]) -> bool:
        """Whether a command may be forked: not if a new interpreter would begin otherwise than the server has."""
        return hasattr(socket, "send_fds") and bool(self._socket) and self._variables == _read_at_start(variables)

    def run(
        self,
        arguments: list[str],
        cwd: Path,
        variables: Mapping[str, str],
        text: str | None,
        timeout: float,
        limits: Mapping[int, int] | None = None,
        first: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end, with ``text`` as its standard input; as ``subprocess.run`` does for texts.

        ``limits`` are those of ``resource.setrlimit``, by resource; ``first`` is a program that runs in the process of
        the command before it.
        """
        done = self.run_bytes(arguments, cwd, variables, (text or "").encode(), timeout, limits, first)
        return subprocess.CompletedProcess(arguments, done.returncode, _text(done.stdout), _text(done.stderr))

    def run_bytes(
        self,
        arguments: list[str],
        cwd: Path,
        variables: Mapping[str, str],
        data: bytes,
        timeout: float,
        limits: Mapping[int, int] | None = None,
        first: str = "",
    ) -> subprocess.CompletedProcess[bytes]:
        """The same with bytes for the three standard streams."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            given.write(data)
            given.seek(0)
            mask = os.umask(0)
            os.umask(mask)
            request = {
                "arguments": arguments,
                "cwd": str(cwd),
                "variables": dict(variables),
                "umask": mask,
                "limits": list((limits or {}).items()),
                "first": first,
            }
            descriptors = [stream.fileno() for stream in (given, out, errors)]
            with self._turn:  # threads of a test share the socket, and the server runs one command after another
                socket.send_fds(self._socket, [json.dumps(request).encode()], descriptors)
                pid, code = int(self._socket.recv(LARGEST)), self._status(timeout)
                if code is None:
                    os.kill(pid, signal.SIGKILL)
                    self._status(None)
            if code is None:
                raise subprocess.TimeoutExpired(arguments, timeout, _written(out), _written(errors))
            return subprocess.CompletedProcess(arguments, code, _written(out), _written(errors))

    def _status(self, timeout: float | None) -> int | None:
        self._socket.settimeout(timeout)
        try:
            return os.waitstatus_to_exitcode(int(self._socket.recv(LARGEST)))
        except TimeoutError:
            return None
        finally:
            self._socket.settimeout(None)


def _read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(READ_AT_START)}


def _written(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape").replace("\r\n", "\n").replace("\r", "\n")


SERVER = Server()
"""What commands are forked from, in all tests of one process."""


def wait_for_request(connection: socket.socket) -> dict[str, Any]:
    """In the server: serve all requests; returns in each command with its own."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(connection, LARGEST, 3)
        if not data:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            connection.close()
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
                os.close(descriptor)
            request: dict[str, Any] = json.loads(data)
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(str(pid).encode())
        connection.send(str(status_of(pid, connection)).encode())


def status_of(pid: int, connection: socket.socket) -> int:
    """Wait for a command to end; one whose tests have ended is killed, and the server ends with it."""
    if not hasattr(os, "pidfd_open"):  # neither Linux nor new enough
        return os.waitpid(pid, 0)[1]
    command = os.pidfd_open(pid)
    waiting = select.poll()
    waiting.register(command, select.POLLIN)
    waiting.register(connection, 0)  # hanging up is always noticed
    ready = [descriptor for descriptor, _ in waiting.poll()]
    os.close(command)
    if command not in ready:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os._exit(1)
    return os.waitpid(pid, 0)[1]


@cache
def modules_of_commands() -> tuple[str, ...]:
    """What commands import: all of forklint, since rules are imported as they are needed, and LibCST."""
    import forklint

    others = tuple(f"forklint.{name}" for name in NOT_IMPORTED)
    names = (module.name for module in pkgutil.walk_packages(forklint.__path__, "forklint."))
    return *(name for name in names if not name.startswith(others)), "libcst.native"


def import_all() -> None:
    """Import what commands import, and read the tables."""
    from forklint import knowledge

    for name in modules_of_commands():
        import_module(name)
    for path in Path(knowledge.__file__).parent.glob("*.toml"):
        knowledge.table(path.name)


def main() -> None:
    """Import what most commands need, then become one of them for each request."""
    sys.path.pop(0)
    from forklint.cli import main as command

    import_all()
    gc.collect()
    gc.freeze()
    request = wait_for_request(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    for limited, most in request["limits"]:
        import resource  # no such thing on Windows, where no command is forked

        resource.setrlimit(limited, (most, most))
    os.environ.clear()
    os.environ.update(request["variables"])
    tempfile.tempdir = None
    sys.argv[:] = ["forklint", *request["arguments"]]
    exec(request["first"], {})
    try:
        command(prog_name="forklint")
    except SystemExit as error:
        end(error.code)


def end(code: object) -> None:
    """End as a process of multiprocessing does: all but taking the modules apart, a quarter of a short command."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(int(code or 0))


if __name__ == "__main__":
    main()
