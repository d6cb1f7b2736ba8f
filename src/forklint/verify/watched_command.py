"""Runs a user's command under a supervisor, passes its output on, and notes what goes wrong in its processes."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from forklint.crashes.reading import LogReader, Reading
from forklint.verify.debug_flags import with_flags
from forklint.verify.doctor import HARNESS
from forklint.verify.runner import records_in
from forklint.verify.supervision.afterwards import VARIABLE, clear_away
from forklint.verify.supervision.order import Order
from forklint.verify.supervision.shared import SharedMemory
from forklint.verify.supervisor import Supervisor

GRACE = 10.0
"""Seconds that the command's other processes have to end once it has ended itself: trackers send what they noted."""
CHUNK = 64 * 1024
PATIENCE = 5.0
"""Seconds to wait for the end of the output once the command's processes have been ended."""
PROBE = import_module("forklint.verify.harness.forklint_harness.environment")
"""What doctor asks an interpreter of itself; by its name, since trials import it under another one."""
PAUSE = 0.5
"""Seconds between two looks at shared memory and at the libraries of processes."""


@dataclass(frozen=True)
class Seen:
    """What the run of a command showed."""

    exit_code: int | None
    """None if a signal ended it, or it had to be ended."""
    signal: str = ""
    """``SIGSEGV`` and the like, if that ended the command."""
    stopped_for: str = ""
    """``time`` or ``stop`` (Ctrl-C), if it had to be ended; ``supervisor`` if its supervisor was killed."""
    printed: Reading = field(default_factory=Reading)
    stacks: str = ""
    """Stacks of all processes if it was stopped, of those that crashed otherwise."""
    records: tuple[Mapping[str, Any], ...] = ()
    leaked: tuple[str, ...] = ()
    """Processes, semaphores and shared memory that it left, which were cleared away."""
    shm: tuple[int, int] | None = None
    """Least free bytes of /dev/shm while it ran, and its size."""
    runtimes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """OpenMP runtimes by process, where there were two or more."""
    seconds: float = 0.0
    quiet_seconds: float = 0.0
    """How long it had printed nothing in the end."""
    peak_bytes: int = 0


def run(command: Sequence[str], folder: Path, seconds: float | None, *, errors_only: bool = False) -> Seen:
    """Run a command in a folder, for so many seconds at most; raises CannotRunError if it cannot be started.

    With ``errors_only`` all that it prints goes to standard error. Ctrl-C stops it and shows where it stands; the
    second one ends it at once.
    """
    own = Path(tempfile.gettempdir()).absolute() / f"forklint-{secrets.token_hex(3)}"
    shared = SharedMemory(_prefix(own))
    with _Output(errors_only=errors_only) as output, _Onlooker(own) as onlooker:
        supervisor = Supervisor(output.given)
        output.hand_over()
        began = time.monotonic()
        with _interrupts(supervisor):
            try:
                report = supervisor.ask(_order(command, folder, own, seconds, output.given))
                onlooker.stop()
                records = tuple(records_in(own / "journal"))
            finally:
                supervisor.cut()
                supervisor.wait()
        quiet = time.monotonic() - max(output.last, began)
        leaked = [] if report else clear_away(own, shared)
        printed = output.end()
    report = report or {"stopped_for": "supervisor", "leaked": leaked}
    return Seen(
        exit_code=report.get("exit_code"),
        signal=report.get("signal", ""),
        stopped_for=report["stopped_for"],
        printed=printed,
        stacks=report.get("stacks", ""),
        records=records,
        leaked=tuple(report["leaked"]),
        shm=onlooker.shm,
        runtimes=onlooker.runtimes,
        seconds=report.get("wall_seconds", 0.0),
        quiet_seconds=quiet,
        peak_bytes=report.get("peak_bytes", 0),
    )


def _order(command: Sequence[str], folder: Path, own: Path, seconds: float | None, streams: Sequence[int]) -> Order:
    prefix = _prefix(own)
    environment, _ = with_flags({name: value for name, value in os.environ.items() if not name.startswith(VARIABLE)})
    paths = [str(HARNESS), environment.get("PYTHONPATH", "")]
    return Order(
        command=list(command),
        environment=environment
        | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), VARIABLE: str(own / "order.json")},
        directory=str(folder),
        folder=str(own),
        trial={"journal": str(own / "journal"), "prefix": prefix, "task": "watched", "spec": {}, "factors": {}},
        prefix=prefix,
        seconds=seconds or float("inf"),
        memory=sys.maxsize,
        processes=sys.maxsize,
        scratch=sys.maxsize,
        output=sys.maxsize,
        streams=streams,
        grace=GRACE,
    )


def _prefix(own: Path) -> str:
    """How the names of its shared memory and semaphores begin."""
    return f"fkl{own.name[-6:]}"


@contextlib.contextmanager
def _interrupts(supervisor: Supervisor) -> Iterator[None]:
    """Let the first Ctrl-C ask for stacks, and the next one end it all."""
    pressed = []

    def stop(_number: int, _frame: FrameType | None) -> None:
        pressed.append(True)
        if len(pressed) == 1:
            supervisor.stop()
        else:
            supervisor.cut()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Output:
    """Passes on what the command prints, at once and as it is, and reads it as a log."""

    def __init__(self, *, errors_only: bool) -> None:
        self.last = 0.0
        """When something was printed."""
        self._reader = LogReader()
        self._errors_only = errors_only

    def __enter__(self) -> _Output:  # noqa: PYI034 - Self needs Python 3.11
        takes_input = sys.stdin is not None and not sys.stdin.closed and not sys.stdin.isatty()
        # a process of another session cannot read the terminal
        source = os.dup(0) if takes_input else os.open(os.devnull, os.O_RDONLY)
        pipes = [os.pipe(), os.pipe()]
        self.given = (source, *(writer for _, writer in pipes))
        """Descriptors for the command's input, output and errors."""
        self._thread = threading.Thread(target=self._pass_on, args=[[reader for reader, _ in pipes]], daemon=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def hand_over(self) -> None:
        """The supervisor has the descriptors: they are closed here, and what comes is passed on."""
        for descriptor in self.given:
            os.close(descriptor)
        sys.stdout.flush()
        sys.stderr.flush()
        self._thread.start()

    def end(self) -> Reading:
        """What was printed, once all who could print have ended; where one escaped, it is not waited for."""
        self._thread.join(PATIENCE)
        return self._reader.end()

    def _pass_on(self, readers: Sequence[int]) -> None:
        targets = (2 if self._errors_only else 1, 2)
        with selectors.DefaultSelector() as selector:
            for reader, target in zip(readers, targets, strict=True):
                selector.register(reader, selectors.EVENT_READ, target)
            while selector.get_map():
                for key, _ in selector.select():
                    data = os.read(key.fd, CHUNK)
                    if not data:
                        selector.unregister(key.fd)
                        os.close(key.fd)
                        continue
                    self.last = time.monotonic()
                    _write(key.data, data)
                    self._reader.feed(data)


def _write(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more: the command goes on
        while data:
            data = data[os.write(descriptor, data) :]


class _Onlooker:
    """Looks from outside at what no process tells: how full shared memory is, and which runtimes are loaded."""

    def __init__(self, own: Path) -> None:
        self.shm: tuple[int, int] | None = None
        self.runtimes: dict[int, list[str]] = {}
        self._own = own
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Onlooker:  # noqa: PYI034 - Self needs Python 3.11
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(PAUSE if self.shm else 0):
            with contextlib.suppress(OSError):
                memory = PROBE.shm_bytes()
                self.shm = (min(memory["free"], self.shm[0] if self.shm else memory["free"]), memory["total"])
            for pid in self._pids():
                with contextlib.suppress(OSError):
                    found = PROBE.openmp_runtimes(pid)
                    if len(found) > 1:
                        self.runtimes[pid] = found

    def _pids(self) -> list[int]:
        with contextlib.suppress(OSError, ValueError):
            return [int(line.split()[0]) for line in (self._own / "seen").read_text(encoding="ascii").splitlines()]
        return []
