"""The long tests are made of parts: each test is in one, a part goes on where it stopped, the page has its figures."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.soak import progress, results
from scripts.soak.parts import ROOT, Part, parts
from scripts.soak.plugin import Recorder
from scripts.soak.progress import Done, Progress, Run

pytest_plugins = ["pytester"]
TESTS = """
import pytest

def test_one(record_property):
    record_property("figures", "one of one")

@pytest.mark.parametrize("name", ["a[b", "c"])
def test_two(name):
    pass

def test_three():
    pytest.skip("no such library")

def test_four():
    from pathlib import Path
    assert Path("mended").exists(), "four"

def test_of_another_part():
    assert False
"""


def marked(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Attribute) and one.attr == "soak" for one in ast.walk(node))


def functions(body: list[ast.stmt], prefix: str, *, all_of_them: bool) -> Iterator[str]:
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        is_soak = all_of_them or any(marked(one) for one in node.decorator_list)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from functions(node.body, f"{prefix}::{node.name}", all_of_them=is_soak)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            is_soak = is_soak or any("soak" in ast.unparse(one) for one in node.decorator_list)
            if is_soak:
                yield f"{prefix}::{node.name}"


def soak_tests() -> list[str]:
    """The ids of all long tests, without parameters."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "fixtures" in path.parts or "soak" not in (text := path.read_text(encoding="utf-8")):
            continue
        tree = ast.parse(text)
        assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
        marks = [node for node in assigned if ast.unparse(node.targets[0]) == "pytestmark"]
        name = path.relative_to(ROOT).as_posix()
        found += functions(tree.body, name, all_of_them=any(map(marked, marks)))
    return found


def test_each_long_test_belongs_to_one_part() -> None:
    tests = soak_tests()
    assert len(tests) > 60
    belonging = {test: [part.name for part in parts().values() if part.has(test)] for test in tests}
    assert {test: names for test, names in belonging.items() if len(names) != 1} == {}


def test_a_part_runs_the_files_of_its_tests() -> None:
    for test in soak_tests():
        (part,) = [part for part in parts().values() if part.has(test)]
        assert ROOT / test.partition("::")[0] in part.files(), test


@pytest.fixture
def part(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Part:
    monkeypatch.setattr(progress, "FOLDER", pytester.path / "state")
    monkeypatch.setattr(progress, "commit", lambda: "0123abcd")
    pytester.makepyfile(test_some=TESTS)
    return Part("some", "", ("test_some.py::*",), ("*_of_another_part",))


def ran(
    pytester: pytest.Pytester, part: Part, run: Run, *, limit: float = 600, again: bool = False
) -> tuple[list[str], Progress]:
    known = progress.begun(part.name, run, again=again)
    before = set(known.done)
    pytester.inline_run("-p", "no:cacheprovider", plugins=[Recorder(part, known, limit)])
    written = progress.begun(part.name, run, again=False)
    return sorted(set(written.done) - before), written


def names(tests: list[str]) -> list[str]:
    return [test.partition("::test_")[2] for test in tests]


def test_what_has_passed_is_not_run_again(pytester: pytest.Pytester, part: Part) -> None:
    first, known = ran(pytester, part, Run("tree"))
    assert names(first) == ["four", "one", "three", "two[a[b]", "two[c]"]
    assert [known.done[name].outcome for name in first] == ["failed", "passed", "skipped", "passed", "passed"]
    assert known.done["test_some.py::test_one"].figures == ("one of one",)
    assert known.done["test_some.py::test_three"].reason == "no such library"
    (pytester.path / "mended").touch()
    second, known = ran(pytester, part, Run("tree"))
    assert second == []
    assert known.done["test_some.py::test_four"].outcome == "passed"


def test_a_part_that_goes_on_is_of_the_commit_at_which_it_began(
    pytester: pytest.Pytester, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "commit", lambda: "first")
    ran(pytester, part, Run("tree"))
    monkeypatch.setattr(progress, "commit", lambda: "second")
    assert ran(pytester, part, Run("tree"))[1].commit == "first"
    assert ran(pytester, part, Run("tree"), again=True)[1].commit == "second"


@pytest.mark.parametrize("run", [Run("another"), Run("tree", seed=2), Run("tree", minutes=2)])
def test_other_code_or_another_seed_starts_over(pytester: pytest.Pytester, part: Part, run: Run) -> None:
    ran(pytester, part, Run("tree"))
    assert len(ran(pytester, part, run)[0]) == 5


def test_it_starts_over_if_that_is_wanted(pytester: pytest.Pytester, part: Part) -> None:
    ran(pytester, part, Run("tree"))
    assert len(ran(pytester, part, Run("tree"), again=True)[0]) == 5


def test_a_part_whose_time_is_up_goes_on(pytester: pytest.Pytester, part: Part) -> None:
    seen = []
    for _ in range(5):
        more, known = ran(pytester, part, Run("tree"), limit=0)
        assert len(more) == 1
        seen += more
    assert len(set(seen)) == 5
    assert sum(one.outcome == "failed" for one in known.done.values()) == 1


def test_what_others_leave_out_is_not_waited_for(pytester: pytest.Pytester, part: Part) -> None:
    recorder = Recorder(part, progress.begun(part.name, Run("tree"), again=False), 600)
    pytester.inline_run("-p", "no:cacheprovider", "-k", "one or three", plugins=[recorder])
    assert (recorder.left, names(sorted(recorder.progress.done))) == (0, ["one", "three"])


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    page = tmp_path / "tested.md"
    page.write_text(f"before\n\n{results.START}old{results.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(results, "PAGE", page)
    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    return page


def test_the_figures_of_a_part_are_written_into_the_page(page: Path) -> None:
    done = [
        Done("a", "passed", 90.0, figures=("12 of 12 equal",)),
        Done("b", "skipped", 0.0, "no torch"),
        Done("c", "skipped", 0.0, "no torch"),
        Done("d", "failed", 30.0, "AssertionError"),
    ]
    results.record(Progress("fuzz", Run("tree", seed=3, minutes=5), "0123abcd", {one.test: one for one in done}))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n\n")
    assert text.endswith("\nafter\n")
    (row,) = [line for line in text.splitlines() if line.startswith("| fuzz |")]
    assert "| 0123abcd |" in row
    assert row.endswith("| `make test-soak PART=fuzz MINUTES=5 SEED=3` | 3 | 1 | 2 | 1 | 2 |")
    assert "- fuzz: 12 of 12 equal\n- fuzz, skipped: no torch (2)\n" in text
    assert "| faults |" in text
    assert json.loads(results.FILE.read_text())["fuzz"]["failed"] == 1


def test_the_page_has_the_recorded_figures() -> None:
    text = results.PAGE.read_text(encoding="utf-8")
    assert results.page(text) == text, "run `python -m scripts.soak --page`"
