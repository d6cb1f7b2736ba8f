"""Experiments of several findings at the same time: which trials may overlap, and that one error ends them all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from forklint.verify.parallel_findings import Turns
from forklint.verify.words import Ending, Observation, Subject, Trial


class Watching:
    """Runs nothing, and keeps which trials were there at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now: set[str] = set()
        self.together: set[frozenset[str]] = set()

    def can_lay_over(self, trial: Trial) -> bool:
        return trial.name != "no view"

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        names = {trial.name for trial in trials}
        with self.lock:
            self.now |= names
            self.together.add(frozenset(self.now))
        time.sleep(0.2)
        with self.lock:
            self.together.add(frozenset(self.now))
            self.now -= names
        return [Observation(trial, Ending(0)) for trial in trials]


def trial(name: str, *, side_by_side: bool = True) -> Trial:
    return Trial(name, Subject("entry", ("x.py",), Path()), "samples", side_by_side=side_by_side)


def seen_together(*groups: Sequence[Trial]) -> set[frozenset[str]]:
    watching = Watching()
    turns = Turns(watching)
    threads = [threading.Thread(target=turns.run_all, args=(group, 2)) for group in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {names for names in watching.together if len(names) > 1}


def test_trials_that_look_for_no_race_overlap() -> None:
    assert seen_together([trial("one")], [trial("other")]) == {frozenset({"one", "other"})}


@pytest.mark.parametrize(
    "group",
    [[trial("race", side_by_side=False)], [trial("no view")]],
    ids=lambda group: group[0].name,
)
def test_what_must_run_alone_does(group: list[Trial]) -> None:
    assert seen_together([trial("one")], group, [trial("other")]) <= {frozenset({"one", "other"})}


def test_a_pair_has_the_machine_for_itself() -> None:
    pair = [trial("first"), trial("second")]
    assert seen_together([trial("one")], pair) == {frozenset({"first", "second"})}
