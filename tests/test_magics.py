"""What IPython reads in a cell and Python does not is masked row by row, and can be put back as it was."""

from __future__ import annotations

import ast
import warnings

import pytest

from forklint.source.magics import Masker, cell_magic

MASKED = [
    "%matplotlib inline",
    "  %matplotlib inline",
    "%load_ext autoreload",
    "%%time",
    "%%capture out",
    "%time f()",
    "%time x = f()",
    "%timeit -n1 f(x)",
    "%env A=1",
    "%env A 1",
    "%set_env A 1",
    "%env A={n}",
    "%env A=$n",
    "%env",
    "%run other.py --fast",
    "%cd /content",
    "!pip install x",
    "!pip install 'torch>=2' \"x\"",
    "!!ls",
    "x = !ls",
    "x, y = !ls",
    "x.y[0] = !ls -l | grep '='",
    "x = %who_ls",
    "x = %sql select 'a' from b",
    "df?",
    "df??",
    "?df",
    "??df.head",
    "df.head?",
    "%time?",
    "np.*load*?",
    "/f x",
    ",f a b",
    ";f a b",
]
PLAIN = [
    "x = 5 % 3",
    "x = a != b",
    "x = '!ls'",
    "x %= 3",
    "# %time",
    "# why?",
    "x = 1  # why?",
    "print('why?')",
    "x = 'a = !b'",
    "assert x != y",
    "f(a=b, c=d)",
    "x = y = 3",
    "x: int = 3",
]
INSIDE = [
    'text = """\n%time\n!ls\ndf?\n"""',
    "text = '''\n!ls\n'''\nx = 1",
    "x = (1\n%2)",
    "x = [\n    1,\n    # what is this?\n]",
    "x = 1 \\\n%2",
    "x = 'a\\\n%b'",
    'x = """a""" + """\n%b"""',
    "x = f'{a}'  # it's\ny = 1",
    "x = r'\\'  # \"\ny = 1",
    'x = "\'"\ny = "#" + "("\nz = 1',
]


def masked(source: str):
    return Masker("mark_").mask(source)


def restored(source: str) -> str:
    done = masked(source)
    text = done.text
    for mask in done.masks.values():
        assert text.count(mask.statement) == 1
        text = text.replace(mask.statement, mask.written)
    return text


@pytest.mark.parametrize("line", MASKED)
def test_a_line_of_ipython_is_masked_and_put_back(line: str) -> None:
    indent = line[: len(line) - len(line.lstrip())]
    for source in (line, f"x = 1\n{line}\ny = 2") if not indent else (f"if x:\n{line}\n{indent}y = 2",):
        done = masked(source)
        assert len(done.masks) == 1
        assert ast.parse(done.text)
        assert len(done.text.split("\n")) == len(source.split("\n"))
        assert restored(source) == source


@pytest.mark.parametrize("source", [*PLAIN, *INSIDE])
def test_a_line_of_python_is_left_alone(source: str) -> None:
    assert masked(source).text == source


@pytest.mark.parametrize(
    "source",
    [
        "!pip install a \\\n    b \\\n    c\nx = 1",
        "if x:\n    !cp a \\\n        b\n    y = 1",
        "files = !find . \\\n  -name '*.py'\nx = 1",
        "%env A=1 \\\n 2",
        'f("""\n%a\n""")\n%time\nx = [\n  1]\n!ls',
    ],
)
def test_rows_stay_where_they_are(source: str) -> None:
    done = masked(source)
    tree = ast.parse(done.text)
    assert tree.body[-1].end_lineno == len(source.split("\n"))
    assert restored(source) == source


def test_names_that_a_magic_binds_are_bound() -> None:
    tree = ast.parse(masked("%time model, log = fit()\n%time import torch as t, numpy.linalg\nfiles = !ls").text)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert stored == {"model", "log", "t", "numpy", "files"}


def test_a_magic_without_a_sign_is_masked_where_it_is_the_whole_cell() -> None:
    for source in ("pip install torch", "cd /content\n", "cd ..", "ls ./data"):
        assert Masker("mark_").automatic(source)
    for source in ("pip install torch\nls", "ls = 3", "cd (x)", "cat.sound()", "nothing at all"):
        assert Masker("mark_").automatic(source) is None


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("%%time\nx", "time"),
        ("\n\n%%bash\nls", "bash"),
        ("#@title Run\n%%bash --out x\nls", "bash"),
        ("%%!\nls", "!"),
        ("%time x", ""),
        ("x\n%%time", ""),
        ("", ""),
    ],
)
def test_magic_of_a_whole_cell(source: str, name: str) -> None:
    assert cell_magic(source) == name


@pytest.mark.soak
def test_ipython_agrees() -> None:
    """IPython rewrites what is masked, and leaves alone what is not."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        warnings.warn("SKIPPED: IPython is not installed: pip install ipython", stacklevel=1)
        pytest.skip("IPython is not installed")
    for line in MASKED:
        source = f"if x:\n{line}\n" if line[0] == " " else f"x = 1\n{line}\n"
        assert TransformerManager().transform_cell(source) != source, line
    for source in [*PLAIN, *INSIDE]:
        assert TransformerManager().transform_cell(source + "\n") == source + "\n", source
