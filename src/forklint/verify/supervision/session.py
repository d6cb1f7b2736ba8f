"""One trial from its start to the moment when nothing of it is left."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from . import copying, files, priority, stopping, tree
from .order import Order
from .printed import Printed
from .shared import SharedMemory
from .tree import Process, Tree
from .view import View, enter
from .weighing import Scales

POLL = 0.05
"""Seconds between two quick looks: who is there, how much do they hold at most."""
SHARE = 5
"""A look is made at most once in so many times its own cost."""
ADJUSTMENT = "500"
"""Where memory ends before the limit is noticed, Linux is to kill the trial and not its neighbours (proc(5))."""
SUBREAPER, DEATH_SIGNAL = 36, 1
"""``PR_SET_CHILD_SUBREAPER`` and ``PR_SET_PDEATHSIG`` (prctl(2))."""
_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None
ENDED_BY_HARNESS = "end"
"""File in the journal's folder by which the harness says that it ended the program itself: see its ending.py."""
LOST, STOPPED = "forklint", "stop"
"""Reasons to end a trial: nobody is there any more who wants to know; forklint asks for its end."""


class Lifeline:
    """Standard input: a line with the order, then nothing or ``stop``, for as long as forklint lives and wants it."""

    def __init__(self, on_end: threading.Event) -> None:
        data = bytearray()
        while not data.endswith(b"\n"):
            chunk = os.read(0, 65536)
            if not chunk:
                raise EOFError
            data += chunk
        self.order = Order(**json.loads(data))
        self._parent = os.getppid()
        self._ended = threading.Event()
        self.is_stopped = False
        self._on_end = on_end
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_cut(self) -> bool:
        """Whether forklint is gone, also where a process forked from it still holds the pipe."""
        return self._ended.is_set() or os.getppid() != self._parent

    def wait(self) -> None:
        """Wait until it is cut."""
        while not self.is_cut:
            self._ended.wait(1)

    def _listen(self) -> None:
        priority.rise()
        with contextlib.suppress(OSError):
            while os.read(0, 65536):
                self.is_stopped = True
                self._on_end.set()
        self._ended.set()
        self._on_end.set()


class Session:
    """Starts the trial, watches it, ends it, and says what happened."""

    def __init__(self, lifeline: Lifeline, wake: threading.Event) -> None:
        self.lifeline = lifeline
        self.order = lifeline.order
        self.polls = 0
        self.cost = 0.0
        self._wake = wake
        self._tree = Tree(os.getpid())
        self._shared = SharedMemory(self.order.prefix)
        self._known: set[int] = set()
        self._scales = Scales(self.order)
        self._ended = 0.0

    def run(self) -> dict[str, Any]:
        """Run the trial; gives the report."""
        try:
            self._make_folder()
            self._began, began = time.time(), time.monotonic()
            self._first = self._start()
        except (OSError, subprocess.SubprocessError) as error:
            return {"error": str(error)}
        self._printed = None
        if self._first.stdout is not None:
            self._printed = Printed(self._first.stdout.fileno(), self.order.output, self._wake.set)
        threading.Thread(target=self._await_first, daemon=True).start()
        reason = self._watch(began + self.order.seconds)
        wall = (self._ended or time.monotonic()) - began
        return {
            **self._end(reason),
            "wall_seconds": wall,
            "peak_bytes": self._scales.peak,
            "began": self._began,
            "weighings": self._scales.weighings,
            "polls": self.polls,
            "poll_seconds": self.cost,
        }

    def _make_folder(self) -> None:
        folder = Path(self.order.folder)
        folder.mkdir(mode=0o700)
        (folder / "journal").mkdir()
        (folder / "tmp").mkdir()
        (folder / "view").mkdir()
        for source, copy in self.order.copies.items():
            copying.copy(source, copy)
        if self.order.copies:
            self._lay_texts()
        (folder / "order.json").write_text(json.dumps(self.order.trial), encoding="utf-8")
        self._seen = (folder / "seen").open("a", encoding="ascii")

    def _start(self) -> subprocess.Popen[bytes]:
        given, printed, errors = self.order.streams or (subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT)
        try:
            return subprocess.Popen(  # noqa: S603
                self.order.command,
                cwd=self.order.directory,
                env=self.order.environment,
                stdin=given,
                stdout=printed,
                stderr=errors,
                bufsize=0,
                start_new_session=True,
                preexec_fn=self._become_first if os.name == "posix" else None,  # noqa: PLW1509 - its thread only waits
            )
        finally:
            for descriptor in self.order.streams:
                os.close(descriptor)  # who reads them sees their end when the command's last process has ended

    def _lay_texts(self) -> None:
        """Where nobody else sees it."""
        for path, text in self.order.texts.items():
            Path(path).write_text(text, encoding="utf-8", newline="")

    def _become_first(self) -> None:
        """In the first process of the trial, before it becomes the interpreter."""
        if self.order.view is not None:
            enter(View(*self.order.view), str(Path(self.order.folder, "view")), self.order.scratch)
            self._lay_texts()
            os.chdir(self.order.directory)  # the very path, and another folder
        _become_first()
        if not self.order.streams:
            _step_aside()

    def _await_first(self) -> None:
        priority.rise()
        self._first.wait()
        self._ended = time.monotonic()
        self._wake.set()

    def _watch(self, deadline: float) -> str:
        """Wait until the trial is over; gives why it must be ended, or nothing if it ended by itself."""
        grace = None
        while True:
            began, busy = time.monotonic(), time.thread_time()
            alive = self._poll()
            if self._first.returncode is not None:
                grace = grace or began + self.order.grace
                if not tree.has_descendants() or began > grace:
                    return ""
            reason = self._reason(alive, began > deadline and grace is None)
            if reason:
                return reason
            spent = time.thread_time() - busy  # not by the clock: a bomb would make each look slow, and thereby rare
            self.cost += spent
            self._wake.wait(max(POLL if grace is None else POLL / 5, SHARE * spent))
            self._wake.clear()

    def _reason(self, alive: dict[int, Process], is_late: bool) -> str:  # noqa: FBT001
        if self.lifeline.is_cut:
            return LOST
        if self.lifeline.is_stopped:
            return STOPPED
        if self._printed and self._printed.is_too_much:
            return "output"
        if len(alive) > self.order.processes:
            return "processes"
        return self._scales.excess(alive) or ("time" if is_late else "")

    def _poll(self) -> dict[int, Process]:
        """Those that are alive."""
        self.polls += 1
        found = self._tree.look(thorough=self._scales.is_due)
        stopping.reap(found.values(), but=self._first.pid)
        alive = {pid: process for pid, process in found.items() if process.is_alive}
        self._remember(found)
        self._shared.poll(alive)
        return alive

    def _remember(self, found: dict[int, Process]) -> None:
        """Write down who was there, for the one who cleans up if this process is killed."""
        new = found.keys() - self._known
        if new:
            self._known |= new
            with contextlib.suppress(OSError):  # the disk may be full, which is not to stop the watch
                self._seen.writelines(f"{pid} {found[pid].started}\n" for pid in new)
                self._seen.flush()

    def _end(self, reason: str) -> dict[str, Any]:
        journal = Path(self.order.folder, "journal")
        family = stopping.Family(self._look, tree.own_children, lambda: not tree.has_descendants())
        hangs = reason in {"time", STOPPED}
        stacks = stopping.stacks(self._alive(), journal) if hangs else stopping.written(journal)
        frozen = stopping.freeze(family)
        leaked = [f"process {pid}: {tree.command(pid)}" for pid in sorted(frozen)]
        self._shared.notice(frozen)
        left = stopping.kill(family)
        if not tree.HAS_PROC:
            stopping.kill_group(self._first.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._first.wait(1)
        code = self._first.returncode or 0  # it has none only if it cannot be killed
        output = self._printed.text(patience=1.0) if self._printed else ""
        self._shared.pids = self._known | {int(name) for path in journal.glob("*") if (name := _pid(path.name))}
        leaked += self._shared.unlink()
        if reason or (journal / ENDED_BY_HARNESS).exists():
            leaked = []  # a trial that is cut off in the middle had no time to tidy up: nothing to hold against it
        leaked += [f"process {process.pid}, which SIGKILL does not end" for process in left]
        for name in ("tmp", "view"):
            files.remove(str(Path(self.order.folder, name)))
        ended = {"exit_code": None, "signal": ""} if reason else _ending(code)
        return {**ended, "stopped_for": reason, "output": output, "stacks": stacks, "leaked": leaked}

    def _look(self) -> dict[int, Process]:
        found = self._tree.look(thorough=True)
        self._remember(found)
        return {pid: process for pid, process in found.items() if pid != self._first.pid or process.is_alive}

    def _alive(self) -> list[Process]:
        if not tree.HAS_PROC:
            return stopping.registered(Path(self.order.folder, "journal"), self._first.pid)
        return [process for process in self._look().values() if process.is_alive]


def main() -> None:
    """Run the trial that standard input names; write one line of JSON; wait for the end of the lifeline; clean up."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)  # Ctrl-C is for forklint, which cuts the lifeline
    _prctl(SUBREAPER, 1)
    priority.rise()
    wake = threading.Event()
    try:
        lifeline = Lifeline(wake)
    except EOFError:
        os._exit(0)
    report = Session(lifeline, wake).run()
    with contextlib.suppress(OSError):  # nobody reads it if forklint is gone
        data = memoryview(json.dumps(report).encode() + b"\n")
        while data:
            data = data[os.write(1, data) :]
    lifeline.wait()
    files.remove(lifeline.order.folder)
    os._exit(0)


def _become_first() -> None:
    """Take the signals that a program begins with, and end with the supervisor."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _prctl(DEATH_SIGNAL, signal.SIGKILL)


def _step_aside() -> None:
    """Take the priority and the limits that a trial has."""
    priority.step_back()
    assert resource is not None  # noqa: S101 - POSIX has it
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    # 1 and not 0: Linux then also starts no program that would take the core from a pipe (fs/coredump.c)
    resource.setrlimit(resource.RLIMIT_CORE, (1 if hard else 0, hard))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(ADJUSTMENT, encoding="ascii")


def _prctl(option: int, value: int) -> None:
    if _LIBRARY is not None:
        _LIBRARY.prctl(option, value, 0, 0, 0)


def _ending(code: int) -> dict[str, Any]:
    if code >= 0:
        return {"exit_code": code, "signal": ""}
    try:
        return {"exit_code": None, "signal": signal.Signals(-code).name}
    except ValueError:
        return {"exit_code": None, "signal": f"signal {-code}"}


def _pid(name: str) -> str:
    digits = name.partition(".")[0].partition("-")[0]
    return digits if digits.isdigit() else ""
