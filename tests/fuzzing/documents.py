"""Random notebooks, settings files, configurations and baselines, whole ones and broken ones."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from forklint.settings_reference import SETTINGS as CONFIGURATION
from fuzzing.mutants import mutated, text_of
from fuzzing.programs import program

MAGICS = (
    "%matplotlib inline\n",
    "%%time\n",
    "%%bash\necho\n",
    "!pip install torch\n",
    "files = !ls\n",
    "?open\n",
    "%%capture out\n",
    "%load_ext autoreload\n",
    "    %cd x\n",
    "%%writefile x.py\n",
    "x = %env\n",
    "await f()\n",
    "!{sys.executable} x \\\n  y\n",
)
KEYS = (
    "num_workers",
    "persistent_workers",
    "prefetch_factor",
    "batch_size",
    "shuffle",
    "accelerator",
    "device",
    "data",
    "train",
    "multiprocessing_context",
    "pin_memory",
    "timeout",
    "_target_",
    "<<",
    "defaults",
    "a.b",
    "null",
    "",
    "é",
    "- x",
    "1",
)
VALUES = (
    0,
    1,
    4,
    -1,
    True,
    False,
    None,
    "mps",
    "cuda",
    "fork",
    "auto",
    "",
    1.5,
    10**30,
    "torch.utils.data.DataLoader",
    "${x}",
    "no",
    "'",
    '"',
    "#",
    "\x1b[31m",
    "a: b",
    "- ",
    "*x",
    "&x",
    "2024-01-01",
    "0x1F",
    "1e999",
    "\u2028",
    [1, [2]],
    {},
)


def notebook(dice: Random) -> bytes:
    """A notebook of random cells; some lie about their format, and some are cut or changed anywhere."""
    cells: list[Any] = []
    for _ in range(dice.randrange(1, 7)):
        source = program(dice) if dice.random() < 0.5 else text_of(dice)[:3000]
        if dice.random() < 0.4:
            source = dice.choice(MAGICS) + source
        if dice.random() < 0.2:
            source += dice.choice(MAGICS)
        written: Any = source.splitlines(keepends=True) if dice.random() < 0.6 else source
        kind = dice.choice(("code", "code", "code", "markdown", "raw"))
        cell = {"cell_type": kind, "metadata": {}, "source": written}
        if kind == "code":
            cell |= {"outputs": [], "execution_count": None}
        cells.append(dice.choice(VALUES) if dice.random() < 0.02 else cell)
        if dice.random() < 0.03 and isinstance(cells[-1], dict):
            cells[-1][dice.choice(("cell_type", "source", "metadata"))] = dice.choice(VALUES)
    book: dict[str, Any] = {
        "cells": cells,
        "metadata": {},
        "nbformat": dice.choice((4, 4, 4, 3, 5, 2)),
        "nbformat_minor": 5,
    }
    if dice.random() < 0.5:
        book["metadata"] = {"kernelspec": {"name": "python3", "language": dice.choice(("python", "python", "R", 3))}}
    if dice.random() < 0.05:
        book = {"worksheets": [{"cells": cells}], "nbformat": 3, "metadata": dice.choice(VALUES)}
    text = json.dumps(book, indent=dice.choice((None, 1, 2)), ensure_ascii=dice.random() < 0.5)
    if dice.random() < 0.2:
        text = mutated(text, dice, text)
    return text.encode(errors="surrogatepass")


def _tree(dice: Random, depth: int = 0) -> Any:
    roll = dice.random()
    if depth > 4 or roll < 0.5:
        return dice.choice(VALUES)
    if roll < 0.65:
        return [_tree(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {dice.choice(KEYS): _tree(dice, depth + 1) for _ in range(dice.randrange(6))}


def _yaml(value: Any, dice: Random, indent: int = 0) -> str:
    pad = "  " * indent
    if isinstance(value, dict) and value and dice.random() < 0.85:
        rows = []
        for key, below in value.items():
            mark = dice.choice(("", "", "", "&x ", "*x  # ", "!!str ", "!tag ", "|\n", ">\n"))
            nested = isinstance(below, (dict, list)) and below
            rows.append(f"{pad}{key or '?'}: {mark}" + ("\n" if nested else "") + _yaml(below, dice, indent + 1))
        return "\n".join(rows)
    if isinstance(value, list) and value:
        return "\n".join(f"{pad}- {_yaml(one, dice, indent + 1).lstrip()}" for one in value)
    return json.dumps(value, ensure_ascii=False) if dice.random() < 0.5 else str(value)


def _toml(value: Any, dice: Random) -> str:
    rows = []
    for key, below in value.items() if isinstance(value, dict) else ():
        name = key if key.isidentifier() else json.dumps(key)
        if isinstance(below, dict) and dice.random() < 0.7:
            rows += [f"[{dice.choice(('', 'train.', 'a.b.'))}{name}]", _toml(below, dice)]
        else:
            rows.append(f"{name} = {json.dumps(below) if below is not None else 'nan'}")
    return "\n".join(rows)


def preset(dice: Random) -> tuple[str, bytes]:
    """The name and the bytes of a settings file."""
    value = _tree(dice)
    while not isinstance(value, dict):
        value = _tree(dice)
    section = {"num_workers": dice.choice((0, 2)), "persistent_workers": True, "device": dice.choice(("mps", "cuda"))}
    if dice.random() < 0.6:
        value[dice.choice(KEYS)] = section
    else:
        value |= section
    kind = dice.choice(("yaml", "yml", "toml", "json"))
    if kind == "json":
        text = json.dumps(value, indent=dice.choice((None, 2)), ensure_ascii=False)
    else:
        text = _toml(value, dice) if kind == "toml" else _yaml(value, dice) + "\n" + "---\n" * (dice.random() < 0.1)
    for _ in range(dice.randrange(3)):
        text = mutated(text, dice, text)
    return f"settings.{kind}", text.encode(errors="surrogatepass")


SETTINGS = (*(one.key for one in CONFIGURATION), "nonsense")
GOOD = (
    ["FKL301"],
    ["ALL"],
    [],
    "FKL3",
    ["*.py"],
    ["**/["],
    ["../.."],
    ["linux"],
    ["plan9"],
    "3.12",
    "3.10-3.13",
    ">=3.10",
    "error",
    True,
    False,
    0,
    "x",
    "",
    None,
    {"*.py": ["FKL"]},
    {"[": ["X"]},
    [{"name": "a.b"}],
    {"timeout": -1},
    "\x1b[31m",
    "/dev/zero",
    ["\0"],
    "a" * 5000,
    [[]],
    1e400,
    {"a": {"b": {}}},
)


def configuration(dice: Random) -> tuple[str, bytes]:
    """The name and the bytes of a configuration: real and invented keys with right and wrong values."""
    rows = {dice.choice(SETTINGS): dice.choice(GOOD) for _ in range(dice.randrange(1, 5))}
    name = dice.choice(("forklint.toml", ".forklint.toml", "pyproject.toml"))
    head = "[tool.forklint]\n" if name == "pyproject.toml" else ""
    text = head + "\n".join(f"{key} = {json.dumps(value)}" for key, value in rows.items() if value is not None) + "\n"
    for _ in range(dice.choice((0, 0, 0, 1, 3))):
        text = mutated(text, dice, text)
    return name, text.encode(errors="surrogatepass")


def spoilt(value: Any, dice: Random) -> Any:
    """Data as JSON holds it with something of another kind in one place."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        if dice.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: spoilt(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        place = dice.randrange(len(value))
        return [*value[:place], spoilt(value[place], dice), *value[place + 1 :]]
    return dice.choice(VALUES)


def record(whole: bytes, dice: Random) -> bytes:
    """A baseline, or a file of saved verdicts, with something in it changed, or none of its kind."""
    roll = dice.random()
    if roll < 0.6:
        return json.dumps(spoilt(json.loads(whole), dice)).encode(errors="surrogatepass")
    if roll < 0.9:
        return mutated(whole.decode(), dice, "[]{}").encode(errors="surrogatepass")
    return dice.choice(
        (b"", b"null", b"[" * 100_000, b"\xff\xfe", b'{"version": 1e999, "findings": []}', dice.randbytes(50))
    )
