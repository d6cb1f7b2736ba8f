"""A plugin of pytest that runs tests against mutants: each in a fork of the process that has collected all tests.

A fault is put in place by giving the function new code, so nothing is imported or collected again.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from scripts.mutation.mutants import Mutant, mutated


@dataclass(frozen=True)
class Trial:
    """A mutant, the tests that reach it in the order in which they run, and how long they take without it."""

    mutant: Mutant
    tests: list[str]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, hung (counts as killed), or not reached by any test."""

    mutant: str
    outcome: str
    test: str
    seconds: float


def install(mutant: Mutant) -> None:
    """Give the function of a mutant its code with the fault.

    Raises LookupError where no such function is alive.
    """
    new = next(_codes(compile(mutated(mutant), str(mutant.path), "exec"), mutant.function))
    alive = [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, FunctionType)
        and (thing.__code__.co_firstlineno, thing.__code__.co_name) == (mutant.function, new.co_name)
        and Path(thing.__code__.co_filename).resolve() == mutant.path.resolve()
    ]
    if not alive:
        raise LookupError(str(mutant))
    for function in alive:
        function.__code__ = new


def _codes(code: CodeType, line: int) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            is_class = "__qualname__" in constant.co_names and "__module__" in constant.co_names
            if constant.co_firstlineno == line and not is_class:
                yield constant
            yield from _codes(constant, line)


class Trials:
    """The plugin: instead of the tests as they are, run each trial."""

    def __init__(self, trials: list[Trial], into: Path, told: Callable[[Outcome], None]) -> None:
        self.trials = trials
        self.into = into
        self.told = told

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run them, one after the other."""
        items = {item.nodeid: item for item in session.items}
        for trial in self.trials:
            started = time.monotonic()
            chosen = [items[name] for name in trial.tests if name in items]
            outcome, test = self._tried(session, trial, chosen) if chosen else ("not reached", "")
            self.told(Outcome(str(trial.mutant), outcome, test, round(time.monotonic() - started, 1)))
        return True

    def _tried(self, session: pytest.Session, trial: Trial, items: list[pytest.Item]) -> tuple[str, str]:
        progress = self.into / "progress"
        progress.write_text("", encoding="utf-8")
        child = os.fork()
        if child == 0:
            _run(session, trial.mutant, items, progress)
        status = _waited(child, time.monotonic() + 60 + 10 * trial.seconds)
        test = progress.read_text(encoding="utf-8")
        return ("hung" if status is None else {0: "survived", 2: "invalid"}.get(status, "killed")), test


def _run(session: pytest.Session, mutant: Mutant, items: list[pytest.Item], progress: Path) -> None:
    """In the child: run the tests up to the first that fails. Never returns."""
    os.setpgid(0, 0)
    with Path(os.devnull).open("r+b") as nowhere:
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)
    status = 2
    try:
        install(mutant)
        status = 1
        for item, following in zip(items, [*items[1:], None], strict=True):
            progress.write_text(item.nodeid, encoding="utf-8")
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                break
        else:
            progress.write_text("", encoding="utf-8")
            status = 0
    finally:
        os._exit(status)


def _waited(child: int, until: float) -> int | None:
    """The exit status of a child, or None if it was ended because its time was up."""
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def read(path: Path) -> dict[str, Outcome]:
    """The outcomes that an earlier run has written, by the text of their mutants."""
    if not path.exists():
        return {}
    rows = [Outcome(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row.mutant: row for row in rows}
