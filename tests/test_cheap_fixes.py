"""Fixes of a long file: what a finding does not touch is neither written out nor compared again for it."""

from __future__ import annotations

from pathlib import Path

import libcst
import pytest

from forklint.config import SettingsFinder
from forklint.edits.text import apply_edits
from forklint.edits.tree import parse
from forklint.engine import Linters, Options

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
