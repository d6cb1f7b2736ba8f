"""A fix changes the statements that it edits and nothing else: one that does more is refused, and the others apply."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import libcst
import pytest

from forklint.config import SettingsFinder
from forklint.edits.extent import Edited, Stretch, equal
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree, find
from forklint.engine import Options
from forklint.fixing import Fixed, fix
from forklint.linters import Linters
from forklint.model import Applicability
from forklint.rules.legacy_byte_tensor.rule import LegacyByteTensor
from forklint.source.lines import apply_edits, edits_between, split_lines

TEXT = """\
import torch


def limit(rows):
    return rows + 1


def pack(rows):
    return torch.ByteTensor(torch.ByteStorage.from_buffer(rows))


def last(rows):
    rate = 3
    return torch.ByteTensor(torch.ByteStorage.from_buffer(rows))
"""


def fixed(path: Path, text: str = TEXT) -> Fixed:
    path.write_text(text)
    return fix(Linters(SettingsFinder({"select": ("FKL603",)}), Options()).of(path), path, unsafe=True, write=True)


def broken(monkeypatch: pytest.MonkeyPatch, change, *, only: str = "pack", elsewhere: bool = False) -> None:
    """Let the fix of the finding in one function change something else as well."""
    honest = LegacyByteTensor.fixes

    def fixes(self, suspect, module, tree):
        for proposal in honest(self, suspect, module, tree):
            if only not in module.qualname_at(suspect.node) or proposal.tree is None:
                yield proposal
            else:
                others = (module.tree.body[1],) if elsewhere else ()
                yield Proposal(proposal.message, Applicability.SAFE, change(proposal.tree), others)

    monkeypatch.setattr(LegacyByteTensor, "fixes", fixes)


def other_function(tree: Tree) -> Tree:
    """A slip in a rule: a number is changed in another function than that of the finding."""
    return tree.replace(next(find(tree.module, libcst.Integer)), libcst.Integer("2"))


def test_the_fixes_of_the_example_work(tmp_path: Path) -> None:
    result = fixed(tmp_path / "rows.py")
    assert len(result.applied) == 2, "else the tests below show nothing"
    assert result.report.notes == ()


def test_a_fix_that_changes_another_function_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, other_function)
    result = fixed(tmp_path / "rows.py")
    (note,) = result.report.notes
    (left,) = result.report.findings
    assert note.refused == left.fingerprint
    assert left.qualname == "pack"
    assert [one.qualname for one in result.applied] == ["last"], "the other fix is applied"
    text = (tmp_path / "rows.py").read_text()
    assert "return rows + 1" in text
    assert text.count("ByteStorage") == 1


def test_a_fix_that_says_where_else_it_edits_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, other_function, elsewhere=True)
    result = fixed(tmp_path / "rows.py")
    assert (len(result.applied), result.report.notes) == (2, ())
    assert "return rows + 2" in (tmp_path / "rows.py").read_text()


@pytest.mark.parametrize("name", ["dropped", "moved into another block"])
def test_a_fix_that_loses_a_statement_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def change(tree: Tree) -> Tree:
        first, *_ = find(tree.module, libcst.FunctionDef)
        if name == "dropped":
            return tree.replace(first, libcst.RemoveFromParent())
        inside = libcst.If(libcst.Name("rows"), first.body)
        return tree.replace(first.body, libcst.IndentedBlock([inside]))

    broken(monkeypatch, change)
    result = fixed(tmp_path / "rows.py")
    assert [bool(note.refused) for note in result.report.notes] == [True]
    assert (tmp_path / "rows.py").read_text().startswith(TEXT.partition("def pack")[0])


def test_a_refused_fix_in_a_notebook_names_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, other_function)
    head, rest = TEXT.split("def pack")
    cells = [head, "%matplotlib inline\n", "def pack" + rest]
    written = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in cells],
    }
    result = fixed(tmp_path / "rows.ipynb", json.dumps(written))
    assert [bool(note.refused) for note in result.report.notes] == [True]
    assert "cell 1" in result.report.notes[0].message
    sources = [cell["source"] for cell in json.loads((tmp_path / "rows.ipynb").read_text())["cells"]]
    assert sources[:2] == cells[:2]
    assert sources[2].count("ByteStorage") == 1


# ---------------------------------------------------------------- the comparison itself


def beyond(old: str, new: str, *rows: int, claimed: tuple[Stretch, ...] | None = None) -> int | None:
    """The row that is changed although it should not be, with the edits between two texts or with others."""
    edits = edits_between(old, new)
    assert apply_edits(old, edits) == new
    made = tuple(Stretch(e.span.row, e.span.end_row, len(split_lines(e.content))) for e in edits)
    found = Edited(ast.parse(old), ast.parse(new), made if claimed is None else claimed).changed_beyond(rows)
    return None if found is None else found.lineno


OWNER = "class C:\n    def f(self):\n        a = 1\n\n    def g(self):\n        b = 1\n"
BLOCK = "if rows:\n    first = 1\n    second = 2\nthird = 3\n"


@pytest.mark.parametrize(
    ("old", "new", "rows", "wrong"),
    [
        ("a = 1\nb = 2\n", "a = 1\nb = 3\n", (2,), None),
        ("a = 1\nb = 2\n", "a = 1\nb = 3\n", (1,), 2),
        ("a = 1\nb = 2\n", "b = 2\n", (2,), 1),
        ("a = 1\nb = 2\n", "b = 2\na = 1\n", (2,), None),  # moved as it is
        ("a = 1\na = 1\n", "a = 1\n", (), 2),  # one of two
        ("a = 1\n", "import os\na = 1\n", (), None),
        ("import os\na = 1\n", "import sys\na = 1\n", (), None),
        ("a = 1\nb = 2\n", "if __name__ == '__main__':\n    a = 1\n    b = 2\n", (1,), None),
        (BLOCK, "if rows:\n    first = 1\nelse:\n    second = 2\nthird = 3\n", (1,), 3),
        (BLOCK, "if rows:\n    first = 1\n    second = 2\n    third = 3\n", (4,), 1),  # it holds more
        (BLOCK, "while rows:\n    first = 1\n    second = 2\nthird = 3\n", (1,), None),
        (BLOCK, "if rows:\n    first = 1\n\n    second = 2\nthird = 3\n", (), None),
        (
            "def f():\n    a = 1\n    b = 2\n",
            "def f():\n    a = 1\n    def g():\n        pass\n    b = 2\n",
            (1,),
            None,
        ),
        ("@x\ndef f():\n    a = 1\n", "@y\ndef f():\n    a = 1\n", (3,), None),
        ("@x\ndef f():\n    a = 1\nb = 1\n", "@y\ndef f():\n    a = 1\nb = 1\n", (4,), 2),
        ("match x:\n    case 1:\n        a = 1\n", "match x:\n    case 1:\n        b = 1\n", (1,), None),
        ("try:\n    a = 1\nexcept E:\n    b = 1\n", "try:\n    a = 1\nexcept F:\n    b = 1\n", (1,), None),
        ("if a:\n    b = 1\n", "import os\nif a:\n    c = 1\n    b = 1\n", (), None),
        ("c = 1\nif a:\n    b = 1\nif a:\n    b = 2\n", "if a:\n    c = 1\n    b = 1\n    b = 2\n", (1,), None),
        (OWNER, OWNER.replace("\n    def g", "        c = 1\n\n    h = 2\n\n    def g"), (2, 6), None),
        (OWNER, OWNER.replace("\n    def g", "        c = 1\n\n    h = 2\n\n    def g"), (6,), 2),
        ("c = 1\nif a:\n    b = 1\nif a:\n    b = 1\n", "if a:\n    c = 1\n    b = 1\n", (1,), 4),  # one of two
    ],
)
def test_what_is_changed_beyond_the_edits(old: str, new: str, rows: tuple[int, ...], wrong: int | None) -> None:
    assert beyond(old, new, *rows) == wrong


def test_a_change_outside_of_the_edited_rows() -> None:
    """An edit that is applied to other rows than it says."""
    assert beyond("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 2\nc = 4\n", 2, claimed=(Stretch(2, 3, 1),)) == 3
    assert beyond("a = 1\nb = 2\nc = 3\n", "a = 1\nc = 3\n", 1, claimed=(Stretch(1, 2, 0),)) == 2


def test_numbers_that_are_equal_and_not_the_same() -> None:
    for one, other, same in (
        ("1", "1.0", False),
        ("0.0", "-0.0", False),
        ("1e999-1e999", "1e999-1e999", True),
        ("1", "True", False),
    ):
        assert equal(ast.parse(one), ast.parse(other)) == same
    assert equal(ast.parse("0.0"), ast.parse("0.00"))
