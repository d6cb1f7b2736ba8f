"""Summaries as bytes: they come back as they were, in part or as a whole, and nothing malformed is taken for one."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.source import document
from forklint.source.digest import digest
from forklint.summaries.codec import NOT_READ, MalformedError, StoredSummary, encode
from forklint.summaries.reading import summarise

TEXT = b"import torch\nfrom data import Words as W\n\nclass Net(torch.nn.Module):\n    def run(self): return W(self)\n"
SUMMARY = summarise(document.parse(document.decode(Path("net.py"), TEXT)))


def changed(position: int, value: Any) -> bytes:
    """The row of the summary with another value in one place."""
    row = json.loads(zlib.decompress(encode(SUMMARY)))
    row[position] = value
    return zlib.compress(json.dumps(row).encode())


def test_it_comes_back_as_it_was() -> None:
    stored = StoredSummary(encode(SUMMARY))
    assert stored.imports == SUMMARY.imports
    found = stored.summary()
    assert found is not None
    assert vars(found) == {name: value for name, value in vars(SUMMARY).items() if name in vars(found)}
    assert StoredSummary(NOT_READ).imports == ()
    assert StoredSummary(NOT_READ).summary() is None


@pytest.mark.parametrize(
    "row", [b"", b"x", zlib.compress(b"[]"), zlib.compress(b"{}"), changed(0, 3), changed(0, [[1]])]
)
def test_malformed_imports_are_refused_at_once(row: bytes) -> None:
    with pytest.raises(MalformedError):
        StoredSummary(row)


REST = [
    changed(1, 3),
    changed(2, []),
    changed(2, [["module"]]),
    changed(3, [1]),
    changed(4, "x"),
    zlib.compress(b"[[]]"),
]


@pytest.mark.parametrize("row", REST)
def test_what_is_malformed_elsewhere_is_refused_once_it_is_read(row: bytes) -> None:
    with pytest.raises(MalformedError):
        StoredSummary(row).summary()


class Hostile:
    """A library whose rows have sound imports, and nothing else that is sound."""

    files = presets = None
    left_out: tuple[str, ...] = ()
    newer: frozenset[Path] = frozenset()
    content: str | None = None

    def digest(self, path: Path) -> str | None:
        del path
        return self.content

    def summary(self, digest: str) -> StoredSummary | None:
        del digest
        return StoredSummary(changed(2, []))

    def where(self, kind: str, name: str) -> tuple[Path, ...] | None:
        del kind, name
        return None


def test_a_file_whose_stored_summary_is_malformed_is_summarised_again(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_bytes(TEXT)
    project = Project(tmp_path, Settings(), Hostile())
    assert project.imports(tmp_path / "net.py") == SUMMARY.imports
    found = project.summary(tmp_path / "net.py")
    assert found is not None
    assert found.scopes == SUMMARY.scopes


def test_an_edit_replaces_the_imports_that_were_stored(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_bytes(TEXT)
    project = Project(tmp_path, Settings(), Hostile())
    assert project.imports(tmp_path / "net.py") == SUMMARY.imports
    project.replace(tmp_path / "net.py", b"import os\n")
    project.module(tmp_path / "net.py")
    assert [one.module for one in project.imports(tmp_path / "net.py")] == ["os"]


def test_a_file_that_the_library_knows_by_its_stamp_is_not_read_for_its_imports(tmp_path: Path) -> None:
    library = Hostile()
    library.content = "known"
    project = Project(tmp_path, Settings(), library)
    path = tmp_path / "net.py"
    path.write_bytes(TEXT)
    assert project.imports(path) == SUMMARY.imports
    assert str(path) not in project.news().contents
    assert project.data(path) == TEXT
    assert project.news().contents == {str(path): digest(TEXT)}


def test_of_a_stored_summary_nothing_but_the_imports_is_held_in_memory() -> None:
    stored = StoredSummary(encode(SUMMARY))
    known = {name: value for name, value in vars(stored).items() if name != "imports"}
    assert all(isinstance(value, bytes) for value in known.values())
    whole = stored.summary()
    assert whole is not None
    assert whole.scopes == SUMMARY.scopes
