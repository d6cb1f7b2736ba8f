"""Experiments of several findings at the same time: trials that look for no race run beside those of other findings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager

from forklint.verify.proving import Planned, Result, Tell, prove
from forklint.verify.runner import Runner, TrialRunner
from forklint.verify.words import Observation, Trial


class Turns:
    """A runner for several threads: a trial that may run beside others does, all else runs alone."""

    def __init__(self, runner: TrialRunner) -> None:
        """Take what runs trials."""
        self._runner = runner
        self._changed = threading.Condition()
        self._beside = 0
        self._is_alone = False
        self._waiting = 0

    def can_lay_over(self, trial: Trial) -> bool:
        """Whether a trial can be given other texts of files than those on the disk."""
        return self._runner.can_lay_over(trial)

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        """Run all, when it is their turn; several at once use the machine already and have it for themselves."""
        is_one = len(trials) == 1 and trials[0].side_by_side and self._runner.can_lay_over(trials[0])
        with self._turn(alone=not is_one):
            return self._runner.run_all(trials, side_by_side, on_start, on_end)

    @contextmanager
    def _turn(self, *, alone: bool) -> Iterator[None]:
        with self._changed:
            self._waiting += alone
            self._changed.wait_for(lambda: not self._is_alone and not (self._beside if alone else self._waiting))
            self._waiting -= alone
            self._is_alone = alone
            self._beside += not alone
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._beside -= not alone
                self._changed.notify_all()


def prove_all(
    planned: Sequence[Planned], trials: Runner, runner: TrialRunner, tell: Tell, at_once: int
) -> list[Result]:
    """Prove findings, so many at a time, by ``runner``, which has its trials run by ``trials``; results in order.

    If one cannot be run, or this thread is interrupted, all trials are ended before the error goes on.
    """
    if at_once < 2 or len(planned) < 2:
        return [prove(one, runner, tell) for one in planned]
    turns = Turns(runner)
    with ThreadPoolExecutor(at_once, thread_name_prefix="finding") as threads:
        try:
            futures = [threads.submit(prove, one, turns, tell) for one in planned]
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        except BaseException:
            trials.cancel()
            threads.shutdown(wait=True, cancel_futures=True)
            raise
