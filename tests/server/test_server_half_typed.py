"""What a line that is half typed changes, and what edits leave behind in memory."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_client import serving, span
from test_server_schedule import Work

from forklint.server import schedule
from forklint.server.analysis import Analysis
from forklint.server.schedule import ABSENCE, Schedule
from forklint.server.watching import Changes

BASE = """\
from torch.utils.data import Dataset


class Base(Dataset):
    def __len__(self):
        return 3
"""
WORDS = """\
import lmdb
from base import Base


class Words(Base):
    def __init__(self, root):
        self.env = lmdb.open(root)
"""
HALF_TYPED = BASE.replace("return 3", "return (")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "words.py").write_text(WORDS)
    return tmp_path


@pytest.fixture
def analysis() -> Iterator[Analysis]:
    analysis = Analysis()
    yield analysis
    analysis.end()
    analysis.forget()
    gc.unfreeze()
    gc.enable()


def codes(analysis: Analysis, path: Path, text: str | None = None) -> list[str]:
    if text is not None:
        analysis.see(path, text.encode())
    report = analysis.lint(path)
    assert report is not None
    return [finding.code for finding in report.findings]


def full(analysis: Analysis, path: Path, text: str) -> list[str]:
    report = analysis.with_fixes(path, text.encode())
    assert report is not None
    return [finding.code for finding in report.findings]


def found(analysis: Analysis) -> int:
    """How many answers have been found so far."""
    (linter,) = analysis._linters.all()
    return linter.project.questions.found


def test_other_files_go_on_with_the_last_text_that_could_be_parsed(package: Path, analysis: Analysis) -> None:
    base, words = package / "base.py", package / "words.py"
    assert codes(analysis, words, WORDS) == ["FKL301"]
    assert full(analysis, base, HALF_TYPED) == ["FKL002"]
    assert codes(analysis, words) == ["FKL301"]
    assert analysis.take_in_unparsed()
    assert codes(analysis, words) == []
    assert full(analysis, base, HALF_TYPED) == ["FKL002"]
    assert not analysis.take_in_unparsed()
    assert codes(analysis, base, BASE) == []
    assert codes(analysis, words) == ["FKL301"]


def test_the_next_text_is_compared_with_the_last_that_could_be_parsed(package: Path, analysis: Analysis) -> None:
    base, words = package / "base.py", package / "words.py"
    assert codes(analysis, base, BASE) + codes(analysis, words, WORDS) == ["FKL301"]
    before = found(analysis)
    for text in (HALF_TYPED, HALF_TYPED.replace("return (", "return (4"), BASE):
        codes(analysis, base, text)
    assert codes(analysis, words) == ["FKL301"]
    assert found(analysis) == before
    assert codes(analysis, base, BASE.replace("(Dataset)", "")) == []
    assert codes(analysis, words) == []
    assert found(analysis) > before


def test_a_file_that_is_closed_is_what_it_is_on_the_disk(package: Path, analysis: Analysis) -> None:
    base, words = package / "base.py", package / "words.py"
    assert codes(analysis, base, BASE) + codes(analysis, words, WORDS) == ["FKL301"]
    assert codes(analysis, base, HALF_TYPED) == ["FKL002"]
    analysis.take_in(Changes(closed={base}))
    assert codes(analysis, base) == []
    assert not analysis.take_in_unparsed()


def test_no_text_that_cannot_be_parsed_is_fixed(package: Path, analysis: Analysis) -> None:
    words = package / "words.py"
    assert codes(analysis, words, WORDS) == ["FKL301"]
    assert analysis.fixed(words, WORDS.replace("(root)", "(root").encode()) is None


def test_a_notebook_is_linted_again_whenever_a_module_changes(package: Path, analysis: Analysis) -> None:
    """Also if it was opened after an edit: then it is already known who rests on what."""
    base, notebook = package / "base.py", package / "words.ipynb"
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": WORDS}
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert codes(analysis, base, BASE) == []
    assert codes(analysis, base, BASE.replace("3", "4")) == []
    assert codes(analysis, notebook, notebook.read_text()) == ["FKL301"]
    for _ in range(2):
        assert codes(analysis, base, BASE.replace("(Dataset)", "")) == []
        assert codes(analysis, notebook) == []
        assert codes(analysis, base, BASE) == []
        assert codes(analysis, notebook) == ["FKL301"]


OPENING = WORDS.replace("from base import Base\n", "").replace("(Base)", "")
KEEPING = BASE + "\n    def __init__(self, root):\n        self.words = {words}\n"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (BASE.replace("(Dataset)", ""), BASE.replace("(Dataset)", "") + "\n    def __getitem__(self, i): ...\n", WORDS),
        (KEEPING.format(words="root"), "from words import Words\n" + KEEPING.format(words="Words(root)"), OPENING),
    ],
    ids=["a base gets methods", "an object is kept"],
)
def test_a_file_makes_another_a_dataset_while_that_is_closed(
    tmp_path: Path, analysis: Analysis, before: str, after: str, words: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.py").write_text(before)
    (tmp_path / "words.py").write_text(words)
    base, closed = tmp_path / "base.py", tmp_path / "words.py"
    assert codes(analysis, base, before) + codes(analysis, closed, words) == []
    analysis.take_in(Changes(closed={closed}))
    assert codes(analysis, base) == []
    analysis.sweep()
    assert codes(analysis, base, after) == []
    assert codes(analysis, closed, words) == ["FKL301"]


def test_trees_that_were_replaced_are_freed(package: Path, analysis: Analysis) -> None:
    words = package / "words.py"
    assert codes(analysis, words, WORDS) == ["FKL301"]
    for number in range(30):
        assert codes(analysis, words, f"{WORDS}        self.number = lmdb.version({number})\n") == ["FKL301"]
        analysis.sweep()
    gc.unfreeze()
    gc.collect()
    trees = [one for one in gc.get_objects() if type(one) is ast.Module]
    ours = [one for one in trees if "lmdb.version" in ast.unparse(one)]
    assert len(ours) == 1


def test_what_was_left_half_typed_is_taken_in_while_the_user_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "ABSENCE", 0.05)

    class Away(Work):
        taken_in = 0

        async def take_in_unparsed(self) -> None:
            self.taken_in += 1

    async def run() -> int:
        work = Away(is_cluttered=False)
        ours = Schedule(work)
        ours.start()
        for number in (1, 2):
            ours.edited("a")
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.5)
            assert work.taken_in == number
        ours.end()
        return work.taken_in

    assert asyncio.run(run()) == 2


@pytest.mark.soak
def test_other_files_are_told_once_the_user_is_away(package: Path) -> None:
    with serving(package) as client:
        words, base = client.open("words.py"), client.open("base.py")
        client.found(base)
        assert client.codes(words) == ["FKL301"]
        client.change(base, {"range": span(5, 15, 16), "text": "("})
        assert client.codes(base) == ["FKL002"]
        assert client.codes(words) == ["FKL301"]
        client.wait(lambda: not client.diagnostics[words].diagnostics, "it is as it was", ABSENCE + 30)
