"""A notebook that is none is one clear line, and stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from notebook_cases import IMPORTS, WORDS, found, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    return tmp_path


CODE = '{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": %s}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "skipped: the notebook is empty"),
        (b"[]", "skipped: not a notebook: its JSON is not an object"),
        (b"{}", "skipped: not a notebook: it has no list of cells"),
        (b'{"cells": {}}', "skipped: not a notebook: it has no list of cells"),
        (b'{"worksheets": [], "nbformat": 3}', "skipped: a notebook in the old format (nbformat 3)"),
        (b'{"cells": [1]}', "cell 1 was skipped: it is not an object"),
        (b'{"cells": [%s]}' % (CODE % "null").encode(), "cell 1 was skipped: its source is neither"),
        (b'{"cells": [%s]}' % (CODE % '["a", 1]').encode(), "cell 1 was skipped: its source is neither"),
        (
            b'{"cells": [%s]}' % (CODE % r'"\ud800"').encode(),
            "cell 1 was skipped: its source contains a lone surrogate",
        ),
        (b'{"cells": [%s]}' % (CODE % r'"a\u0000"').encode(), "cell 1 was skipped: its source contains a null"),
        (b'{"cells": [{"cell_type": "code"}]}', "cell 1 was skipped: it has no source"),
        (b'{"cells": ["\xe9"]}', "skipped: not valid UTF-8"),
        ('{"cells": []}'.encode("utf-16"), "skipped: not valid UTF-8"),
        (b"[" * 100_000, "skipped: its JSON is nested too deeply"),
        (
            b'{"cells": [%s]}' % (CODE % json.dumps("(" * 300 + ")" * 300)).encode(),
            "cell 1 was skipped: the code is nested too",
        ),
    ],
)
def test_what_is_no_notebook_is_one_line(forklint, folder: Path, text: bytes, message: str) -> None:
    (folder / "bad.ipynb").write_bytes(text)
    result = forklint(".", "--fix", cwd=folder)
    assert result.returncode == 0
    assert result.stderr.startswith(f"forklint: bad.ipynb: {message}")
    assert result.stderr.count("\n") == 1
    assert (folder / "bad.ipynb").read_bytes() == text


def test_a_number_that_python_does_not_read_is_an_error_at_its_place(forklint, folder: Path) -> None:
    (folder / "long.ipynb").write_text('{"cells": [],\n "nbformat": ' + "4" * 5000 + "}")
    (finding,) = found(forklint, ".", cwd=folder)
    assert (finding["code"], finding["location"]["row"]) == ("FKL002", 2)


def test_a_notebook_that_is_not_json_is_an_error_at_its_place(forklint, folder: Path) -> None:
    path = write(folder / "words.ipynb", IMPORTS, WORDS)
    text = path.read_text().replace(' "cells"', '<<<<<<< HEAD\n "cells"', 1)
    path.write_text(text)
    (finding,) = found(forklint, ".", "--fix", cwd=folder)
    assert finding["code"] == "FKL002"
    assert finding["message"].startswith("the notebook is not JSON: ")
    assert finding["location"]["row"] == 2
    assert "2 | <<<<<<< HEAD\n" in forklint(".", cwd=folder).stdout
    assert path.read_text() == text


def test_a_key_that_stands_twice_is_never_fixed(forklint, folder: Path) -> None:
    path = write(folder / "words.ipynb", IMPORTS, WORDS)
    text = path.read_text().replace(' "cells"', ' "cells": [],\n "cells"', 1)
    path.write_text(text)
    result = forklint(".", "--fix", cwd=folder)
    assert result.returncode == 1
    assert "words.ipynb: cannot be fixed: its JSON has a duplicate key 'cells' (line 3)" in result.stderr
    assert path.read_text() == text


def test_a_notebook_with_a_skipped_cell_is_cached_and_leaves_a_baseline(forklint, folder: Path) -> None:
    """The cell is skipped in each run, so nothing is unfinished."""
    hazard = json.loads(CODE % json.dumps("import torch\nimport os\nos.environ['OMP_NUM_THREADS'] = '1'\n"))
    body = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    note = folder / "words.ipynb"
    note.write_text(json.dumps({**body, "cells": [1, hazard]}))
    assert "cell 1 was skipped" in forklint("words.ipynb", "-v", cwd=folder).stderr
    assert "up to date" in forklint("--explain-cache", "words.ipynb", cwd=folder).stdout
    assert "1 finding added" in forklint("words.ipynb", "--baseline", "b.json", "--update-baseline", cwd=folder).stderr
    note.write_text(json.dumps({**body, "cells": [1]}))
    assert "1 removed" in forklint("words.ipynb", "--baseline", "b.json", "--update-baseline", cwd=folder).stderr
