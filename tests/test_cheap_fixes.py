"""Fixes of a long file: what a finding does not touch is neither written out nor compared again for it."""

from __future__ import annotations

from pathlib import Path

import libcst
import pytest

from forklint import fixing
from forklint.config import SettingsFinder
from forklint.edits.text import apply_edits
from forklint.edits.tree import Tree, parse
from forklint.engine import Linter, Options
from forklint.linters import Linters

WRITTEN = """def mac_{number}():
    if sys.platform == "darwin":
        return DataLoader(pages, num_workers=2, persistent_workers=True)
"""


def test_the_whole_is_written_out_as_often_for_many_findings_as_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    whole = libcst.Module.code.fget
    assert whole is not None
    monkeypatch.setattr(libcst.Module, "code", property(lambda module: written.append(1) or whole(module)))
    counts = []
    for findings in (1, 20):
        text = "import sys\nfrom torch.utils.data import DataLoader\npages = [1, 2]\n"
        text += "".join(WRITTEN.format(number=number) for number in range(findings))
        path = tmp_path / f"pages_{findings}.py"
        path.write_text(text)
        written.clear()
        report = Linters(SettingsFinder(), Options()).of(path).lint(path)
        assert len([one for one in report.findings if one.fix and one.fix.edits]) == findings
        counts.append(len(written))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "text", ["# a\n\nx = 1\ny = 2\n\n# b\n", "x = 1; y = 2", "x = 1\r\nif x:\r\n    y = 2\r\n# b\r\n"]
)
def test_edits_to_a_changed_tree_give_its_text(text: str) -> None:
    tree = parse(text)
    for old in tree.statements:
        if isinstance(old, libcst.Assign):
            changed = tree.replace(old.value, libcst.Name("other"))
            assert changed.code != text
            assert apply_edits(text, tree.edits_to(changed)) == changed.code


def test_edits_at_two_places_leave_what_stands_between() -> None:
    tree = parse("a = 1\n\nb = 2\n\nc = 3\nd = 4\n")
    first, _, third, _ = tree.statements
    changed = tree.replace_all({first: libcst.Pass(), third: libcst.Pass()})
    edits = tree.edits_to(changed)
    assert [edit.span.row for edit in edits] == [1, 5]
    assert apply_edits(tree.code, edits) == changed.code


def test_edits_to_a_tree_with_a_statement_moved_give_its_text() -> None:
    tree = parse("a = 1\nb = 2\nc = 3\nd = 4\n")
    a, b, c, d = tree.module.body
    for body in ([b, c, a, d], [d, a, b, c], [a, c, d], [a, b, b.deep_clone(), c, d]):
        changed = Tree(tree.module.with_changes(body=body))
        assert apply_edits(tree.code, tree.edits_to(changed)) == changed.code


KEPT = """
class Pages{number}(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __getitem__(self, index):
        return self.file["pages"][index]
"""


def test_a_fix_writes_out_only_what_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With four times the findings, four times as many parts of the file, and nodes of it, are looked at."""
    written: list[int] = []
    rebuilt: list[int] = []
    write, visit = libcst.Module.code_for_node, libcst.ClassDef._visit_and_replace_children
    monkeypatch.setattr(libcst.Module, "code_for_node", lambda *args: written.append(1) or write(*args))
    monkeypatch.setattr(libcst.ClassDef, "_visit_and_replace_children", lambda *args: rebuilt.append(1) or visit(*args))
    counts = []
    for findings in (5, 20):
        path = tmp_path / f"pages_{findings}.py"
        text = "import h5py\nfrom torch.utils.data import Dataset\n"
        path.write_text(text + "".join(KEPT.format(number=number) for number in range(findings)))
        report = Linters(SettingsFinder({"select": ("FKL301",)}), Options()).of(path).lint(path)
        assert len([one for one in report.findings if one.fix and one.fix.edits]) == findings
        counts.append((len(written), len(rebuilt)))
        written.clear()
        rebuilt.clear()
    assert counts[1][0] <= 4 * counts[0][0]
    assert counts[1][1] <= 4 * counts[0][1]


HEIR = """
class Scans(Pages0):
    def __init__(self, path):
        super().__init__(path)
        self.scans = h5py.File(path, "r")

    def __getitem__(self, index):
        return self.scans["images"][index]


def last(path):
    return Pages1(path)[-1]
"""


def test_fixes_of_classes_apart_are_applied_at_once_and_come_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pages.py"
    text = "import h5py\nfrom torch.utils.data import Dataset\n"
    path.write_text(text + "".join(KEPT.format(number=number) for number in range(6)) + HEIR)
    linted: list[int] = []
    lint = Linter.lint_bytes
    monkeypatch.setattr(Linter, "lint_bytes", lambda *args: linted.append(1) or lint(*args))

    def fixed() -> tuple[str, int]:
        linted.clear()
        linters = Linters(SettingsFinder({"select": ("FKL301",)}), Options())
        done = fixing.fix(linters.of(path), path, unsafe=True, write=False)
        assert len(done.applied) == 7
        assert not done.report.findings
        return done.after, len(linted)

    together, rounds = fixed()
    monkeypatch.setattr(fixing, "_at_once", lambda _linter, _path, findings: findings[:1])
    one_by_one, more = fixed()
    assert together == one_by_one
    assert (rounds, more) == (3, 8)
