"""Trees that nobody needs are let go of, and what was concluded without them stays."""

from __future__ import annotations

import ast
import gc
from pathlib import Path, PurePath
from typing import NamedTuple

import pytest
from hazards import SHORT_HAZARD

from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.project.questions import Questions
from forklint.project.scopes import Scope

BASE = "import torch\n\n\ndef workers():\n    return 2\n"
USER = f"from base import workers\n{SHORT_HAZARD}\nworkers()\n"


@pytest.fixture
def linter(tmp_path: Path) -> Linter:
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "one.py").write_text(USER)
    (tmp_path / "two.py").write_text(SHORT_HAZARD.replace("Words", "Letters").replace("env", "store"))
    (tmp_path / "base.py").write_text(BASE)
    settings = SettingsFinder().for_file(tmp_path / "x.py")
    return Linter(Project(tmp_path, settings), Options(with_fixes=False))


def test_dropping_forgets_all_that_rests_on_a_fact_and_nothing_else() -> None:
    questions = Questions()

    def below() -> int:
        questions.note(("tree", "a"))
        return 1

    def other() -> int:
        questions.note(("tree", "b"))
        return 2

    questions.answer("above", 0, lambda: questions.answer("below", 0, below) + 1)
    questions.answer("other", 0, other)
    questions.drop([("tree", "a")])
    assert questions.known("below", 0, None) is None
    assert questions.known("above", 0, None) is None
    assert questions.known("other", 0, None) == 2
    assert questions.answer("above", 0, lambda: questions.answer("below", 0, below) + 1) == 2


def test_pruning_forgets_what_rests_on_an_answer_that_it_forgets() -> None:
    """Otherwise a change of the fact that both rest on would not reach it."""
    questions, values = Questions(), {"a": 1}

    def below() -> int:
        questions.note(("tree", "a"))
        return values["a"]

    def above() -> int:
        return questions.answer("above", "a", lambda: questions.answer("below", object(), below) + 1)

    assert above() == 2
    questions.prune(())
    values["a"] = 2
    questions.forget([("tree", "a")])
    assert above() == 3


def test_pruning_keeps_what_is_asked_by_text_alone() -> None:
    class Place(NamedTuple):
        path: PurePath
        name: str

    questions = Questions()
    keys = [None, "a", 1, (PurePath("a"), "b"), Place(PurePath("a"), "b"), frozenset({"a"}), ("a", (None, Place))]
    for key in keys:
        questions.answer("kept", key, lambda: 1)
    questions.prune(())
    assert [key for key in keys if questions.known("kept", key, 0)] == keys[:-1]


def test_thorough_pruning_keeps_nothing_else() -> None:
    questions = Questions()
    questions.answer("kept", "a", lambda: questions.answer("below", "b", lambda: 1) + 1)
    ((_, root),) = questions.all_of("kept")
    questions.answer("other", "c", lambda: 3)
    questions.prune([root], thoroughly=True)
    assert [questions.known(name, key, 0) for name, key in (("kept", "a"), ("below", "b"), ("other", "c"))] == [2, 1, 0]


def test_pruning_keeps_all_that_a_root_rests_on() -> None:
    questions, key = Questions(), object()
    questions.answer("root", key, lambda: questions.answer("below", key, lambda: 1) + 1)
    ((_, root),) = questions.all_of("root")
    questions.answer("other", key, lambda: questions.answer("below", key, lambda: 1))
    questions.prune([root])
    assert [questions.known(name, key, None) for name in ("root", "below", "other")] == [2, 1, None]


def test_what_open_files_need_is_kept(linter: Linter, tmp_path: Path) -> None:
    project = linter.project
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    reports = linter.relint(one), linter.relint(two)
    assert all(report.findings for report in reports)
    project.in_use, project.most_loaded = frozenset({one}), 0
    project.trim_unused()
    assert project.is_loaded(one)
    assert not project.is_loaded(two)
    found = project.questions.found
    assert linter.relint(one) == reports[0]
    assert project.questions.found == found, "nothing is asked again"
    assert linter.relint(two) == reports[1]
    assert project.questions.found > found


def test_nothing_is_let_go_of_while_there_is_room(linter: Linter, tmp_path: Path) -> None:
    linter.relint(tmp_path / "one.py")
    linter.project.in_use = frozenset({tmp_path / "two.py"})
    linter.project.trim_unused()
    assert linter.project.is_loaded(tmp_path / "one.py")


def test_a_file_that_was_replaced_is_parsed_once(linter: Linter, tmp_path: Path, monkeypatch) -> None:
    from forklint.source import document

    linter.relint(tmp_path / "one.py")
    parsed = []
    real = document.parse
    monkeypatch.setattr(document, "parse", lambda doc: parsed.append(doc) or real(doc))
    linter.project.replace(tmp_path / "one.py", USER.replace("workers()", "workers(); workers()").encode())
    linter.relint(tmp_path / "one.py")
    assert len(parsed) == 1


def test_trees_of_a_project_that_lasts_have_lines_in_common(linter: Linter, tmp_path: Path) -> None:
    def lines() -> list[object]:
        trees = [linter.project.load(tmp_path / name).parsed for name in ("one.py", "two.py")]
        return [node.lineno for tree in trees for node in ast.walk(tree) if getattr(node, "lineno", 0) == 300]

    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("\n" * 299 + "value = 1\n")
        linter.relint(tmp_path / name)
    assert len(set(map(id, lines()))) > 1
    linter.project.compact()
    assert len(set(map(id, lines()))) == 1


def test_an_edit_leaves_nothing_that_knows_itself(linter: Linter, tmp_path: Path) -> None:
    """Scopes know those in them and around them: only the collector would free them, and the trees that they hold."""
    file, start = tmp_path / "one.py", f"{USER}class Late:\n    def first(self):\n        x = 1\n"
    gc.freeze()  # what other tests have left is not looked at
    linter.project.replace(file, start.encode())
    linter.relint(file)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for name in ("y", "yz"):
            linter.project.replace(file, start.replace("x = 1", f"{name} = 1").encode())
            linter.relint(file)
        linter.project.prune()
        gc.collect()
        assert [one for one in gc.garbage if isinstance(one, Scope)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()


def test_what_is_needed_is_not_looked_for_again_until_more_is_loaded(
    linter: Linter, tmp_path: Path, monkeypatch
) -> None:
    project, asked = linter.project, []
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    linter.relint(one)
    project.in_use, project.most_loaded = frozenset({one}), 1
    project.trim_unused()
    real = project._reports_in_use
    monkeypatch.setattr(project, "_reports_in_use", lambda: asked.append(1) or real())
    project.trim_unused()
    assert not asked
    linter.relint(two)
    project.trim_unused()
    assert asked
    assert not project.is_loaded(two)
