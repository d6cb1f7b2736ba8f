"""A program that ends for want of a package is run once, however many findings it was to decide."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from needed import need_torch

from forklint.verify.failed_imports import FailedImports
from forklint.verify.runner import Runner
from forklint.verify.subjects import STARTING
from forklint.verify.words import Factors, Observation, Subject, Trial

need_torch()


@pytest.fixture
def runner(workplace: Path) -> Iterator[Runner]:
    with Runner(Path(sys.executable), workplace=workplace) as made:
        yield made


class Counting:
    """Runs trials, and keeps their names."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.names = runner, list[str]()

    def can_lay_over(self, trial: Trial) -> bool:
        return self.runner.can_lay_over(trial)

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        self.names += [trial.name for trial in trials]
        return self.runner.run_all(trials, side_by_side, on_start, on_end)


def trial_of(folder: Path, name: str, *command: str, kind: str) -> Trial:
    spec = {"mode": "control", "classes": [], "attributes": ["file"], "keeper": None, "file": str(folder / "data.py")}
    subject = Subject(kind, command, folder)
    return Trial(name, subject, "samples", spec, Factors(workers=0), is_control=True, folders=(folder,))


def test_a_missing_package_is_looked_for_once(tmp_path: Path, runner: Runner) -> None:
    (tmp_path / "data.py").write_text("import no_such_package\n\nclass First: ...\n\nclass Second: ...\n")
    counting = Counting(runner)
    known = FailedImports(counting)
    classes = [
        trial_of(tmp_path, name, *STARTING, "class", str(tmp_path / "data.py"), name, kind="class")
        for name in ("First", "Second")
    ]
    scripts = [trial_of(tmp_path, name, str(tmp_path / "data.py"), kind="entry") for name in ("third", "fourth")]
    ended: list[str] = []
    seen = [
        known.run_all([trial], on_end=lambda one: ended.append(one.trial.name))[0] for trial in (*classes, *scripts)
    ]
    assert ended == ["First", "Second", "third", "fourth"], "progress counts all"
    assert counting.names == ["First", "third"]
    assert [one.trial.name for one in seen] == ["First", "Second", "third", "fourth"]
    assert all("no_such_package" in one.output for one in seen)


@pytest.mark.soak
def test_what_may_come_out_otherwise_is_run_each_time(tmp_path: Path, runner: Runner) -> None:
    """A class whose constructor imports, a program with other arguments, and a run that stands in for packages."""
    text = "class First:\n    def __init__(self): import no_such_package\n\nclass Second(First): ...\n"
    (tmp_path / "data.py").write_text(text)
    counting = Counting(runner)
    known = FailedImports(counting)
    file = str(tmp_path / "data.py")
    (tmp_path / "script.py").write_text("import sys\nif sys.argv[1:]: import no_such_package\n")
    trials = [trial_of(tmp_path, name, *STARTING, "class", file, name, kind="class") for name in ("First", "Second")]
    trials += [trial_of(tmp_path, "with", str(tmp_path / "script.py"), "x", kind="entry")]
    trials += [trial_of(tmp_path, "without", str(tmp_path / "script.py"), kind="entry")]
    trials += [replace(trials[2], name="tolerant", spec={**trials[2].spec, "tolerance": {"roots": [str(tmp_path)]}})]
    for trial in trials:
        known.run_all([trial])
    assert counting.names == ["First", "Second", "with", "without", "tolerant"]
