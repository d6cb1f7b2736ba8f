"""Files that only newer Pythons read get a note, all others are linted; where they can be read, so are they."""

from __future__ import annotations

import ast
import json
import sys
import warnings
from pathlib import Path

import pytest

HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()


"""
NEWER = {
    "except star": ((3, 11), "try:\n    pass\nexcept* (ValueError, TypeError) as group:\n    pass\n"),
    "unpacking in a subscript": ((3, 11), "def pick(table, *keys: *tuple[int, ...]):\n    return table[*keys, 1]\n"),
    "quotes within an f-string": ((3, 12), 'row = {"a": 1}\nprint(f"{row["a"]} {"\\n".join(["b"])}")\n'),
    "type parameters": ((3, 12), "class Box[T: int]:\n    def get[U](self, one: U, *rest: T) -> T: ...\n"),
    "a type statement": ((3, 12), "type Pair[T] = tuple[T, T]\n"),
    "type parameters with defaults": ((3, 13), "type Pair[T = int, *Ts = *tuple[int]] = tuple[T, *Ts]\n"),
    "except without parentheses": ((3, 14), "try:\n    pass\nexcept ValueError, TypeError:\n    pass\n"),
    "except star without parentheses": ((3, 14), "try:\n    pass\nexcept* ValueError, TypeError:\n    pass\n"),
    "a template string": ((3, 14), 'name = "b"\nprint(t"hello {name!r:>{len(name)}}", rt"\\d{name}")\n'),
}
"""What is written, and the first Python that reads it."""
OLDER = {
    "match": "match HAZARD := 3:\n    case {'a': [int(), *_]} | 3 if True:\n        pass\n",
    "annotations that are evaluated later": "class Node:\n    after: Later | None\n    def get(self) -> Later: ...\n",
    "leaving a finally block": "for one in []:\n    try:\n        pass\n    finally:\n        continue\n",
}
"""What 3.14 reads otherwise, or warns of, and all read."""


def is_readable(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError:
        return False
    return True


def found(text: str) -> list[tuple[str, str]]:
    return sorted((Path(one["filename"]).name, one["code"]) for one in json.loads(text))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "old.py").write_text(HAZARD)
    return tmp_path


def test_the_table_is_right() -> None:
    for name, (version, source) in NEWER.items():
        assert is_readable(source) == (sys.version_info[:2] >= version), name


@pytest.mark.parametrize("name", NEWER)
def test_newer_syntax(name: str, folder: Path, forklint) -> None:
    source = HAZARD + NEWER[name][1]
    (folder / "new.py").write_text(source)
    done = forklint(".", "--no-cache", "--output-format", "json", cwd=folder)
    assert done.returncode == 1
    if is_readable(source):
        assert found(done.stdout) == [("new.py", "FKL301"), ("old.py", "FKL301")]
        assert done.stderr == ""
        return
    assert found(done.stdout) == [("old.py", "FKL301")]
    (line,) = done.stderr.splitlines()
    assert line.startswith("forklint: new.py: skipped: ")
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in line, "it says which Python runs forklint"


@pytest.mark.parametrize("name", OLDER)
def test_what_all_pythons_read(name: str, folder: Path, forklint) -> None:
    (folder / "new.py").write_text(HAZARD + OLDER[name])
    done = forklint(".", "--no-cache", "--output-format", "json", cwd=folder)
    assert found(done.stdout) == [("new.py", "FKL301"), ("old.py", "FKL301")]
    assert done.stderr == ""


def test_a_fix_leaves_them_as_they_are(folder: Path, forklint) -> None:
    sources = {f"new_{number}.py": HAZARD + source for number, (_, source) in enumerate(NEWER.values())}
    for name, source in sources.items():
        (folder / name).write_text(source)
    done = forklint(".", "--no-cache", "--fix", "--unsafe-fixes", cwd=folder)
    assert "Traceback" not in done.stderr
    for name, source in sources.items():
        text = (folder / name).read_text()
        assert text.endswith(source[len(HAZARD) :])
        assert (text == source) == (not is_readable(source)), name


def test_a_newer_cell_of_a_notebook_is_skipped_alone(folder: Path, forklint) -> None:
    newest = max(NEWER.values())[1]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one}
        for one in (HAZARD, newest)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "new.ipynb").write_text(json.dumps(notebook))
    done = forklint(".", "-v", "--no-cache", "--output-format", "json", cwd=folder)
    assert found(done.stdout) == [("new.ipynb", "FKL301"), ("old.py", "FKL301")]
    assert ("cell 2 was skipped" in done.stderr) == (not is_readable(newest))
