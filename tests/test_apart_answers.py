"""Answers that are text, for which much is read, do without what they were found from, and without its trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.project.questions import Questions

HELPER = """\
import torch


def place(batch):
    return torch.stack(batch).to("cuda")
"""
TRAIN = """\
from torch.utils.data import DataLoader

from helper import place


def collate(batch):
    return place(batch)


if __name__ == "__main__":
    for batch in DataLoader(range(9), num_workers=2, collate_fn=collate):
        print(batch)
"""


class Files:
    """Two questions about files, one on the other."""

    def __init__(self) -> None:
        self.questions = Questions()
        self.values = {"a": 1, "b": 1}
        self.asked = 0

    def total(self) -> int:
        return self.questions.answer_apart("total", "all", self._find)

    def above(self) -> int:
        return self.questions.answer("above", object(), lambda: 10 * self.total())

    def _find(self) -> int:
        self.asked += 1
        return self._read("a") + self._read("b")

    def _read(self, name: str) -> int:
        return self.questions.answer("read", name, lambda: self._note(name))

    def _note(self, name: str) -> int:
        self.questions.note(("tree", name))
        return self.values[name]


@pytest.fixture
def files() -> Files:
    files = Files()
    files.above()
    files.questions.set_apart()
    return files


def test_what_it_was_found_from_is_forgotten(files: Files) -> None:
    (root,) = (answer for _, answer in files.questions.all_of("above"))
    files.questions.prune([root], thoroughly=True)
    assert files.questions.known("read", "a", None) is None
    assert files.total() == 2
    assert files.asked == 1


def test_it_outlives_the_trees_that_were_read_for_it(files: Files) -> None:
    files.questions.drop([("tree", "a")])
    assert files.total() == 2
    assert files.asked == 1


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("dropped", [(), [("tree", "a")], [("tree", "b"), ("tree", "a")]])
def test_it_is_found_again_once_a_fact_changes(files: Files, name: str, dropped: list[tuple[str, str]]) -> None:
    files.questions.drop(dropped)
    files.values[name] = 5
    files.questions.forget([("tree", name)])
    assert files.total() == 6
    assert files.above() == 60


def test_what_rests_on_it_stands_if_it_is_what_it_was(files: Files) -> None:
    ((_, above),) = files.questions.all_of("above")
    files.values["a"], files.values["b"] = 0, 2
    files.questions.forget([("tree", "a"), ("tree", "b")])
    assert files.total() == 2
    assert files.asked == 2
    assert files.questions.known("above", above.key, None) == 20


def test_it_is_set_apart_as_often_as_it_is_found(files: Files) -> None:
    files.values["a"] = 5
    files.questions.forget([("tree", "a")])
    files.total()
    files.questions.set_apart()
    files.questions.drop([("tree", "a")])
    assert files.total() == 6
    assert files.asked == 2
    files.values["b"] = 7
    files.questions.forget([("tree", "b")])
    assert files.total() == 12


@pytest.mark.parametrize(
    "let_go",
    [lambda project: project.trim_unused(), lambda project: project.prune(), lambda one: one.prune(thoroughly=True)],
    ids=["after a report", "after a few answers", "thoroughly"],
)
def test_files_that_are_only_asked_what_workers_run_are_let_go_of(
    tmp_path: Path, let_go: Callable[[Project], None]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    helper, train = tmp_path / "helper.py", tmp_path / "train.py"
    plain = HELPER.replace("cuda", "cpu")
    helper.write_text(plain)
    train.write_text(TRAIN)
    project = Project(tmp_path, SettingsFinder().for_file(helper))
    linter = Linter(project, Options(with_fixes=False))
    assert not linter.relint(helper).findings
    assert project.is_loaded(train), "its loader is looked at"
    project.in_use, project.most_loaded = frozenset({helper}), 0
    let_go(project)
    assert project.is_loaded(helper)
    assert not project.is_loaded(train)
    found = project.questions.found
    linter.relint(helper)
    assert project.questions.found == found, "nothing is asked again"
    project.replace(helper, HELPER.encode())
    assert [finding.code for finding in linter.relint(helper).findings] == ["FKL304"]
    project.replace(helper, plain.encode())
    assert not linter.relint(helper).findings
    project.replace(train, TRAIN.replace("=2", "=0").encode())
    project.replace(helper, HELPER.encode())
    assert not linter.relint(helper).findings
