"""A program that ends because a package is not installed ends so for every finding: it is run once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from forklint.verify.runner import TrialRunner
from forklint.verify.unreached import ERROR
from forklint.verify.words import Observation, Trial

MISSING = "ModuleNotFoundError"
STARTED = ("target", "sent", "inherited", "loader", "done")
"""Records of a program that came further than its imports."""


class FailedImports:
    """A runner that does not run a program again if it ended for a package that is not installed.

    What the first run showed is the observation of the later ones.
    """

    def __init__(self, runner: TrialRunner) -> None:
        """Take what runs trials."""
        self._runner = runner
        self._lock = threading.Lock()
        self._seen: dict[Any, Observation] = {}

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
        """Run those of which the end is not known; all observations, in the order of the trials.

        ``on_end`` is called for the others as well, as soon as they are known.
        """
        known = {trial.name: self._known(trial) for trial in trials}
        left = [trial for trial in trials if known[trial.name] is None]
        if on_end:
            for seen in filter(None, known.values()):
                on_end(seen)
        ran = iter(self._runner.run_all(left, side_by_side, on_start, on_end) if left else ())
        found = [known[trial.name] or next(ran) for trial in trials]
        for seen in found:
            if _is_for_a_missing_package(seen):
                with self._lock:
                    self._seen.setdefault(_program(seen.trial), seen)
        return found

    def _known(self, trial: Trial) -> Observation | None:
        program = _program(trial)
        with self._lock:
            seen = self._seen.get(program) if program else None
        return replace(seen, trial=trial) if seen else None


def _program(trial: Trial) -> Any:
    """What is run, without what it is run for; None if it may end in another way each time."""
    if trial.subject.kind not in ("class", "entry") or trial.texts or "tolerance" in trial.spec:
        return None
    subject = trial.subject
    command = subject.command[:-1] if subject.kind == "class" else subject.command  # its module is what fails
    folders = (str(subject.folder), *map(str, subject.paths))
    return (subject.kind, command, folders, tuple(subject.environment.items()), trial.factors.environment)


def _is_for_a_missing_package(seen: Observation) -> bool:
    if _program(seen.trial) is None or not seen.ending.exit_code or any(seen.of(kind) for kind in STARTED):
        return False
    failed = seen.of("cannot-build")
    if failed:
        return all(one["type"] == MISSING and one["frame"].endswith(", in <module>") for one in failed)
    errors = ERROR.findall(seen.output)
    return seen.trial.subject.kind == "entry" and bool(errors) and errors[-1][0] == MISSING
