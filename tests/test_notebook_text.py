"""Whatever a notebook looks like, a fix changes the sources of changed cells and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import nbformat
import pytest
from notebook_cases import IMPORTS, LATE, WORDS, without_sources

from forklint.engine import Options
from forklint.fixing import fix
from forklint.linters import Linters
from forklint.parallel import Job
from forklint.source import notebook


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    return tmp_path


POOL = [
    IMPORTS,
    "%matplotlib inline\n!pip install lmdb \\\n   torch",
    WORDS,
    "#md Prosa mit Umlauten: äöü 🤗",
    LATE + "\nname = 'ä🤗'",
    "%env OMP_NUM_THREADS=2",
    "%%time\nmodel = torch.nn.Linear(2, 2)\nmodel.parameter()",
    "optimizer = torch.optim.SGD([], lr=1)\noptimizer.zero_grads()\n\n",
    "\n\nx = !ls\nif x:\n    %cd ..\n",
    "",
    "x = = 1",
    "%%bash\nls",
]


def generated(seed: int) -> bytes:
    """A notebook made by chance: cells, order of keys, indentation, escapes, kind of source, line ends."""
    chance = random.Random(seed)
    string, crlf, first = chance.random() < 0.4, chance.random() < 0.3, chance.random() < 0.5
    cells = []
    for number, text in enumerate([IMPORTS, *chance.sample([*POOL, WORDS], 7), WORDS]):
        source = text.removeprefix("#md ").replace("\n", "\r\n" if crlf else "\n")
        kind = "markdown" if text.startswith("#md") else "code"
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}"}
        if first:
            cell["source"] = source if string else source.splitlines(keepends=True)
        cell["metadata"] = {"tags": ["ä"], "n": 1.50}
        if kind == "code":
            cell["execution_count"] = None
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": ["\u001b[0m<b>\u2028é\n"]}]
        if not first:
            cell["source"] = source if string else source.splitlines(keepends=True)
        cells.append(cell)
    content = {"nbformat": 4, "metadata": {"z": 1, "a": {}}, "cells": cells, "nbformat_minor": 5}
    text = json.dumps(content, indent=chance.choice([None, 0, 1, 2, 4, "\t"]), ensure_ascii=chance.random() < 0.5)
    text = text.replace("<b>", chance.choice(["<b>", "\\u003cb\\u003e"])) + chance.choice(["", "\n"])
    if chance.random() < 0.3:
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if chance.random() < 0.2 else b"") + text.encode()


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(10, 30))])
def test_a_fix_changes_the_sources_of_changed_cells_alone(folder: Path, seed: int) -> None:
    path, data = folder / "made.ipynb", generated(seed)
    path.write_bytes(data)
    linter = Linters(Job().finder, Options()).of(path)
    result = fix(linter, path, unsafe=True, write=True)
    after = path.read_bytes()
    assert result.applied
    (rest, old), (rest_after, new) = without_sources(data), without_sources(after)
    assert rest_after == rest
    assert after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    raw, raw_after = data.decode("utf-8-sig"), after.decode("utf-8-sig")
    assert raw_after.isascii() or not raw.isascii()
    for one, other in zip(old, new, strict=True):
        assert type(one.value) is type(other.value)
        if one.value == other.value:
            assert raw[one.start : one.end] == raw_after[other.start : other.end]
        elif one.items and other.items:
            assert raw[one.start : one.items[0].start] == raw_after[other.start : other.items[0].start]
            assert raw[one.items[-1].end : one.end] == raw_after[other.items[-1].end : other.end]
        ends = {line[len(line.rstrip("\r\n")) :] for line in "".join(other.value).splitlines(keepends=True)} - {""}
        assert len(ends) <= 1
    nbformat.validate(nbformat.reads(raw_after, as_version=4))
    again = fix(Linters(Job().finder, Options()).of(path), path, unsafe=True, write=True)
    assert not again.applied
    assert path.read_bytes() == after


def test_the_program_has_the_rows_of_its_cells(tmp_path: Path) -> None:
    for seed in range(20):
        read = notebook.read(generated(seed).decode("utf-8-sig"))
        rows = read.program.split("\n")
        for part in read.parts:
            assert rows[part.first_row - 1 :][: len(part.masked.lines)] == part.masked.lines
