"""The tool that puts small faults into functions: which faults there are, and that they act in a running process."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scripts.mutation.mutants import drawn, mutants, mutated

pytest_plugins = ["pytester"]
MODULE = '''\
"""A module."""
LIMIT = 3


def smaller(one: int, other: int = 2) -> bool:
    """Whether one is smaller."""
    return one < other and one >= 0


class Counter:
    """Counts."""

    @property
    def total(self) -> int:
        """All."""
        return sum(number for number in self.numbers if number)

    def __init__(self) -> None:
        self.numbers = [1, 2, 0]
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "measured.py"
    path.write_text(MODULE)
    return path


def test_which_faults_there_are(path: Path) -> None:
    found = {(one.line, one.before, one.after) for one in mutants(path)}
    assert found >= {
        (7, "one < other", "one <= other"),
        (7, "one >= 0", "one > 0"),
        (7, "one < other and one >= 0", "one < other or one >= 0"),
        (7, "return one < other and one >= 0", "return None"),
        (7, "0", "1"),
        (16, "for ... in self.numbers if number", "for ... in self.numbers"),
    }
    assert not [one for one in mutants(path) if one.line in {1, 2, 5, 6, 10, 15}], "annotations, defaults, docstrings"


def test_each_fault_changes_its_place_alone(path: Path) -> None:
    before = ast.unparse(ast.parse(MODULE)).splitlines()
    for mutant in mutants(path):
        after = ast.unparse(mutated(mutant)).splitlines()
        assert sum(one != other for one, other in zip(before, after, strict=True)) == 1, mutant


def test_what_is_drawn_stays_drawn_when_other_lines_change(path: Path) -> None:
    first = [(one.before, one.after) for one in drawn(mutants(path), 5, seed=1)]
    assert first != [(one.before, one.after) for one in drawn(mutants(path), 5, seed=2)]
    path.write_text(MODULE.replace("LIMIT = 3\n", "LIMIT = 3\nMORE = 4\n\n"))
    assert [(one.before, one.after) for one in drawn(mutants(path), 5, seed=1)] == first


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("measured", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials are forks")
def test_a_fault_acts_in_what_is_imported_already(path: Path) -> None:
    from scripts.mutation.trials import install

    module = imported(path)
    smaller, counter = module.smaller, module.Counter()
    assert (smaller(2), counter.total) == (False, 3)
    by_text = {(one.before, one.after): one for one in mutants(path)}
    install(by_text["one < other", "one <= other"])
    install(by_text["return sum((number for number in self.numbers if number))", "return None"])
    assert (smaller(2), counter.total) == (True, None)
    path.write_text(MODULE.replace("smaller", "larger"))
    with pytest.raises(LookupError):
        install(mutants(path)[0])


TESTS = """
from pathlib import Path
from measured import smaller

def test_reached():
    assert smaller(1)

def test_noticing():
    assert not smaller(2)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials are forks")
def test_trials(pytester: pytest.Pytester) -> None:
    from scripts.mutation.trials import Outcome, Trial, Trials

    pytester.syspathinsert()
    (pytester.path / "measured.py").write_text(MODULE)
    pytester.makepyfile(test_it=TESTS)
    by_text = {(one.before, one.after): one for one in mutants(pytester.path / "measured.py")}
    tests = ["test_it.py::test_reached", "test_it.py::test_noticing"]
    trials = [
        Trial(by_text["one < other", "one <= other"], tests, 1),
        Trial(by_text["one >= 0", "one > 0"], tests, 1),
        Trial(by_text["0", "1"], [], 1),
    ]
    told: list[Outcome] = []
    sys.modules.pop("measured", None)
    pytester.inline_run("-p", "no:cacheprovider", plugins=[Trials(trials, pytester.path, told.append)])
    assert [(one.outcome, one.test) for one in told] == [("killed", tests[1]), ("survived", ""), ("not reached", "")]


def test_a_random_order_is_that_of_its_seed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from scripts import shuffled

    for name in ("a", "b", "c"):
        pytester.makepyfile(**{f"test_{name}": "".join(f"def test_{number}(): pass\n" for number in range(5))})
    orders = []
    for seed in ("1", "1", "2"):
        monkeypatch.setenv("SHUFFLE", seed)
        run = pytester.inline_run("-p", "no:cacheprovider", plugins=[shuffled])
        orders.append([report.nodeid for report in run.getreports("pytest_runtest_logreport") if report.when == "call"])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    files = [name.partition("::")[0] for name in orders[0]]
    assert len([file for number, file in enumerate(files) if file not in files[:number]]) == 3
    assert all(files[5 * number : 5 * number + 5] == [files[5 * number]] * 5 for number in range(3)), "files together"
