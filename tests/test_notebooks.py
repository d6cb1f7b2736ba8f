"""Notebooks through the command: one program in the order of the cells, mended in place."""

from __future__ import annotations

import json
import re
import stat
import time
from pathlib import Path

import nbformat
import pytest
from doc_snippets import snippet
from nbformat import v4
from notebook_cases import IMPORTS, LATE, WORDS, R, found, sources, write

from forklint.source import notebook


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    return tmp_path


def test_a_place_is_a_cell_and_a_row_in_it(forklint, folder: Path) -> None:
    write(folder / "words.ipynb", "#md Words", IMPORTS, f"%matplotlib inline\n{WORDS}")
    (finding,) = found(forklint, ".", cwd=folder)
    assert (finding["code"], finding["cell"]) == ("FKL301", 3)
    assert finding["location"] == {"row": 4, "column": 9}
    assert finding["end_location"] == {"row": 4, "column": 35}
    assert {edit["cell"] for edit in finding["fix"]["edits"]} == {3}
    concise = forklint("words.ipynb", "--output-format", "concise", "-q", cwd=folder).stdout
    assert concise.startswith("words.ipynb:cell 3:4:9: FKL301 [*] `self.env`")
    full = forklint("words.ipynb", cwd=folder).stdout
    assert " --> words.ipynb:cell 3:4:9\n" in full
    assert "4 |         self.env = lmdb.open(root)\n  |         ^^^^" in full


def test_a_story_across_cells_names_them(forklint, folder: Path) -> None:
    write(folder / "threads.ipynb", IMPORTS, "#md Threads", "%env OMP_NUM_THREADS=1 \nx = 1")
    (finding,) = found(forklint, ".", cwd=folder)
    assert (finding["code"], finding["cell"], finding["location"]) == ("FKL101", 3, {"row": 1, "column": 1})
    assert finding["end_location"] == {"row": 1, "column": 23}
    assert "`torch` was imported on line 2 of cell 1" in finding["message"]
    assert "above `import torch` on line 2 of cell 1" in finding["fix"]["message"]
    assert [(link["cell"], link["location"]["row"]) for link in finding["chain"]] == [(1, 2)]
    assert {edit["cell"] for edit in finding["fix"]["edits"]} == {1, 3}
    full = forklint(".", cwd=folder).stdout
    assert "note: threads.ipynb:cell 1:2: imports `torch`" in full
    assert "    cell 1:\n    +\n    + %env OMP_NUM_THREADS=1\n" in full


def test_fixes_go_into_their_cells_and_nowhere_else(forklint, folder: Path) -> None:
    path = write(
        folder / "words.ipynb", IMPORTS, "%env OMP_NUM_THREADS=1\n!nvidia-smi", "#md Ä", f"%%time\n{WORDS}\n", "x"
    )
    path.chmod(0o640)
    before = sources(path)
    result = forklint("words.ipynb", "--fix", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "2 fixed, 0 remaining\n")
    after = sources(path)
    assert (
        after[0]
        == "import lmdb\n\n%env OMP_NUM_THREADS=1\n\nimport torch\nfrom torch.utils.data import DataLoader, Dataset"
    )
    assert after[1] == "!nvidia-smi"
    assert after[3].startswith("%%time\nimport os\n\n\nclass Words(Dataset):\n")
    assert after[3].endswith(before[3][-20:])
    assert (after[2], after[4]) == (before[2], before[4])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(item.name for item in folder.iterdir()) == [".forklint_cache", "forklint.toml", "words.ipynb"]


def test_diff_is_shown_cell_by_cell(forklint, folder: Path) -> None:
    path = write(folder / "threads.ipynb", IMPORTS, LATE + "\nx = 1")
    text = path.read_bytes()
    result = forklint("threads.ipynb", "--diff", cwd=folder)
    assert result.returncode == 1
    assert re.findall(r"^\+\+\+ .*", result.stdout, re.MULTILINE) == [
        "+++ threads.ipynb:cell 1",
        "+++ threads.ipynb:cell 2",
    ]
    assert '-os.environ["OMP_NUM_THREADS"] = "1"\n' in result.stdout
    assert '"cells"' not in result.stdout
    assert path.read_bytes() == text


def test_diff_passes_notebooks_without_a_fix(forklint, folder: Path) -> None:
    write(folder / "clean.ipynb", "x = 1")
    write(folder / "late.ipynb", IMPORTS, "if torch:\n    %env OMP_NUM_THREADS=1")
    (folder / "none.ipynb").write_text("{}")
    result = forklint(".", "--diff", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "")
    assert "0 files would change" in result.stderr


def test_a_magic_without_a_sign_stays_alone_in_its_cell(forklint, folder: Path) -> None:
    path = write(folder / "threads.ipynb", "import torch", "env OMP_NUM_THREADS=1")
    text = path.read_bytes()
    for argument in ("--fix", "--add-noqa"):
        result = forklint("threads.ipynb", argument, "--output-format", "concise", cwd=folder)
        assert "threads.ipynb:cell 2:1:1: FKL101 `OMP" in result.stdout
        assert path.read_bytes() == text
    assert "no comment can be added at line 1 of cell 2: FKL101 is still reported" in result.stderr


def test_a_guard_is_not_asked_for(forklint, folder: Path) -> None:
    loop = "loader = DataLoader(range(9), num_workers=2)\nfor batch in loader:\n    print(batch)"
    write(folder / "loop.ipynb", IMPORTS, loop)
    (folder / "loop.py").write_text(f"{IMPORTS}\n{loop}\n")
    assert [Path(one["filename"]).name for one in found(forklint, ".", "--no-screen", cwd=folder)] == ["loop.py"]


def test_comments_in_cells_silence(forklint, folder: Path) -> None:
    silenced = WORDS.replace("(root)", "(root)  # noqa: FKL301")
    write(folder / "words.ipynb", IMPORTS, silenced, "x = 1  # noqa: FKL301")
    (finding,) = found(forklint, ".", cwd=folder)
    assert (finding["code"], finding["cell"], finding["location"]) == ("FKL001", 3, {"row": 1, "column": 8})
    above = WORDS.replace("        self.env", "        # forklint: ignore[FKL301]\n        self.env")
    write(folder / "words.ipynb", IMPORTS, above)
    assert found(forklint, ".", cwd=folder) == []


def test_a_comment_for_the_whole_file_may_stand_in_any_cell(forklint, folder: Path) -> None:
    path = write(folder / "words.ipynb", IMPORTS, "x = = 3", WORDS, "# forklint: ignore-file[FKL002, FKL301]")
    assert found(forklint, ".", cwd=folder) == []
    write(path, IMPORTS, WORDS, "# forklint: ignore-file[FKL002, FKL301]\nx = 1  # noqa: FKL101\n!ls")
    assert [(one["code"], one["cell"]) for one in found(forklint, ".", cwd=folder)] == [("FKL001", 3), ("FKL001", 3)]
    assert forklint(".", "--fix", cwd=folder).returncode == 0
    assert sources(path)[2] == "# forklint: ignore-file[FKL301]\nx = 1\n!ls"


def test_standard_input_may_be_a_notebook(forklint, folder: Path) -> None:
    path = write(folder / "words.ipynb", IMPORTS, WORDS)
    text = path.read_text()
    arguments = ("-", "--stdin-filename", "other.ipynb")
    (finding,) = json.loads(forklint(*arguments, "--output-format", "json", cwd=folder, input=text).stdout)
    assert (finding["cell"], finding["location"]["row"]) == (2, 3)
    path.write_text(forklint(*arguments, "--fix", cwd=folder, input=text).stdout)
    assert "import os" in sources(path)[1]
    assert "+++ other.ipynb:cell 2\n" in forklint(*arguments, "--diff", cwd=folder, input=text).stdout


@pytest.mark.parametrize(
    ("cell", "fixed"),
    [
        ("%env OMP_NUM_THREADS=1", True),
        ("%env OMP_NUM_THREADS 1", True),
        ("%set_env OMP_NUM_THREADS 1", True),
        ("%env OMP_NUM_THREADS={n}", True),
        ("%env OMP_NUM_THREADS=$n", True),
        ("%env OMP_NUM_THREADS={len(list_of_cards())}", False),
    ],
)
def test_env_magics_set_variables(forklint, folder: Path, cell: str, fixed: bool) -> None:
    path = write(folder / "threads.ipynb", IMPORTS, "n = 2", cell)
    (finding,) = found(forklint, ".", cwd=folder)
    assert finding["code"] == "FKL101"
    assert forklint(".", "--fix", cwd=folder).returncode == int(not fixed)
    after = sources(path)
    assert (cell in after[0]) == fixed
    if "n}" in cell or "$n" in cell:
        assert after[0].index("n = 2") < after[0].index(cell)


def test_a_variable_that_is_set_in_between_is_not_moved_unasked(forklint, folder: Path) -> None:
    cells = ("import torch", "if torch:\n    %env OMP_NUM_THREADS=2  # noqa", "%env OMP_NUM_THREADS=1")
    path = write(folder / "threads.ipynb", *cells)
    forklint(".", "--fix", cwd=folder)
    assert sources(path)[2] == "%env OMP_NUM_THREADS=1"


@pytest.mark.parametrize(
    "cell", ["!python train.py", "%%bash\npython train.py", "out = !torchrun train.py", "%%python\nx"]
)
def test_a_variable_for_a_program_that_a_cell_starts_is_in_time(forklint, folder: Path, cell: str) -> None:
    write(folder / "threads.ipynb", IMPORTS, LATE, cell)
    assert found(forklint, ".", cwd=folder) == []


def test_a_faulty_cell_does_not_hide_the_others(forklint, folder: Path) -> None:
    path = write(
        folder / "words.ipynb", IMPORTS, "!ls\nx = = 3", WORDS, "  y = 1\n  z = 2", ">>> x\n3", "%sql\nselect 1"
    )
    findings = found(forklint, ".", cwd=folder)
    assert [(one["code"], one["cell"], one["location"]["row"]) for one in findings] == [
        ("FKL002", 2, 2),
        ("FKL301", 3, 3),
    ]
    assert forklint(".", "--fix", cwd=folder).returncode == 1
    assert sources(path)[1] == "!ls\nx = = 3"
    assert "import os" in sources(path)[2]


def test_the_project_is_followed_and_does_not_follow(forklint, folder: Path) -> None:
    plain = WORDS.replace("(Dataset)", "")
    (folder / "words.py").write_text(f"import lmdb\n\n\n{plain}\n")
    write(
        folder / "a.ipynb", "from torch.utils.data import DataLoader\nfrom words import Words", "DataLoader(Words(''))"
    )
    write(folder / "b.ipynb", "from base import Base", "class Late(Base):\n    pass", "Late().stat()")
    (folder / "base.py").write_text("class Base:\n    def state(self):\n        return 1\n")
    orders = [["words.py", "a.ipynb", "b.ipynb"], ["b.ipynb", "a.ipynb", "words.py"]]
    first, second = (found(forklint, *order, cwd=folder) for order in orders)
    assert first == second


def test_notebooks_are_found_and_copies_of_jupyter_are_not(forklint, folder: Path) -> None:
    (folder / ".ipynb_checkpoints").mkdir()
    for place in (folder, folder / ".ipynb_checkpoints"):
        write(place / "words.ipynb", IMPORTS, WORDS)
    (folder / "module.py").write_text("import words\n\nwords.Words('x')\n")
    assert forklint(".", "--show-files", cwd=folder).stdout.split() == ["module.py", "words.ipynb"]
    assert len(found(forklint, ".", cwd=folder)) == 1


def test_another_language_is_a_word_only_where_it_is_named(forklint, folder: Path) -> None:
    write(folder / "r.ipynb", "x <- 3", **R)
    write(
        folder / "two.ipynb",
        "print 3",
        kernelspec={"name": "python2", "language": "python", "display_name": "Python 2"},
    )
    result = forklint(".", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert forklint(".", "--fix", cwd=folder).stderr == ""
    result = forklint("r.ipynb", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "forklint: r.ipynb: skipped: a notebook in R\n")
    assert "two.ipynb: skipped: a notebook in Python 2" in forklint(".", "-v", cwd=folder).stderr


def test_cells_of_another_language_are_passed_over(forklint, folder: Path) -> None:
    cells = [v4.new_code_cell(IMPORTS), v4.new_code_cell("echo )(", metadata={"vscode": {"languageId": "shellscript"}})]
    cells += [v4.new_code_cell("%%R\nx <- 3"), v4.new_code_cell("%%html\n<p>"), v4.new_code_cell(WORDS)]
    nbformat.write(v4.new_notebook(cells=cells), folder / "words.ipynb")
    assert [(one["code"], one["cell"]) for one in found(forklint, ".", cwd=folder)] == [("FKL301", 5)]


def test_a_change_that_moves_a_cell_or_loses_a_magic_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", "x = 1", "%time f()\ny = 2", "%%bash\nls", "%%time\nz = 3")
    read = notebook.read(path.read_text())
    lines = read.program.split("\n")
    assert read.edits_to(read.program) == ()
    assert read.edits_to(read.program.replace("y = 2", "y = 4")) != ()
    for index, line in enumerate(lines[:-1]):
        if "forklint" in line:
            assert read.edits_to("\n".join(lines[:index] + lines[index + 1 :])) is None
            assert read.edits_to("\n".join([*lines[:index], line, *lines[index:]])) is None
    assert read.edits_to(read.program.replace("z = 3", "z = 3\n" + lines[-3]).replace(lines[-3], "", 1)) is None


def test_large_outputs_cost_little(forklint, folder: Path) -> None:
    path = write(folder / "words.ipynb", IMPORTS, WORDS)
    content = json.loads(path.read_text())
    picture = {"data": {"image/png": "A" * 20_000_000}, "metadata": {}, "output_type": "display_data"}
    content["cells"][0]["outputs"] = [picture]
    path.write_text(json.dumps(content))
    start = time.perf_counter()
    assert forklint(".", "--fix", cwd=folder).returncode == 0
    assert time.perf_counter() - start < 5


def test_a_clean_notebook_costs_nothing_heavy(folder: Path) -> None:
    from test_weight import loaded

    write(folder / "clean.ipynb", IMPORTS, "%time torch.nn.Linear(2, 2)")
    assert loaded(["clean.ipynb"], folder) == "loaded: []"


def test_the_page_shows_what_happens(forklint, folder: Path) -> None:
    cells = [cell.strip("\n") for cell in snippet("notebooks.md", "cells").split("# %%\n")[1:]]
    write(folder / "train.ipynb", *cells)
    command, _, output = snippet("notebooks.md", "find").partition("\n")
    assert forklint(*command.split()[2:], cwd=folder).stdout == output
    assert forklint("train.ipynb", "--diff", cwd=folder).stdout == snippet("notebooks.md", "diff")
