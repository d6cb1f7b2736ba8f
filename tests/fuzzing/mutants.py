"""Real files with a few things changed: characters, lines, words, pieces of other files, and the form of the text."""

from __future__ import annotations

import importlib.util
import re
import sysconfig
from functools import cache
from pathlib import Path
from random import Random

LARGEST = 60_000
"""Bytes of the largest file that is taken."""
ODD = (
    "\0",
    "\x0c",
    "\r",
    "\u2028",
    "\ufeff",
    "\x1b[2J",
    "\\\n",
    "\t",
    '"""',
    "'",
    "(",
    ")",
    "[",
    "{",
    "}",
    ":",
    ";",
    "\ud800",
    "é",
    "\U0001f600",
    "#",
    "# noqa",
    "@",
    "*",
    "**",
    "lambda: ",
    "await ",
    "yield ",
    "async ",
    "not ",
    "0",
    "\\",
    "\x85",
)


@cache
def pool() -> tuple[Path, ...]:
    """The files that are changed: fixtures three times over, and torch's and the standard library's own."""
    tests = Path(__file__).parent.parent
    fixtures = sorted((tests / "fixtures").rglob("*.py"))
    found = importlib.util.find_spec("torch")
    roots = [Path(sysconfig.get_path("stdlib"))]
    if found is not None and found.origin is not None:
        roots.append(Path(found.origin).parent / "utils")
        roots.append(Path(found.origin).parent / "distributed")
        roots.append(Path(found.origin).parent / "testing")
    installed = [
        path
        for root in roots
        for path in sorted(root.rglob("*.py"))
        if "site-packages" not in path.relative_to(root).parts and path.stat().st_size < LARGEST
    ]
    return (*fixtures, *fixtures, *fixtures, *installed)


def text_of(dice: Random) -> str:
    """The text of one of the files."""
    while True:
        try:
            return dice.choice(pool()).read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue


def mutated(text: str, dice: Random, other: str) -> str:  # noqa: C901 - a branch for each kind of change
    """A text with one thing changed."""
    lines = text.splitlines(keepends=True) or [""]
    row = dice.randrange(len(lines))
    place = dice.randrange(len(text) + 1)
    roll = dice.randrange(12)
    if roll == 0:
        return text[:place] + dice.choice(ODD) + text[place:]
    if roll == 1:
        return text[:place] + text[place + dice.randrange(1, 10) :]
    if roll == 2:
        del lines[row : row + dice.randrange(1, 4)]
    elif roll == 3:
        lines[row:row] = lines[dice.randrange(len(lines)) :][: dice.randrange(1, 20)]
    elif roll == 4:
        other_row = dice.randrange(len(lines))
        lines[row], lines[other_row] = lines[other_row], lines[row]
    elif roll == 5:
        lines[row] = dice.choice(("    ", "  ", "\t")) + lines[row]
    elif roll == 6:
        lines[row] = lines[row].removeprefix("    ")
    elif roll == 7:
        words = re.findall(r"\w+", text) or ["x"]
        one, two = dice.choice(words), dice.choice(words)
        return re.sub(rf"\b{one}\b", two, text, count=dice.choice((0, 1)))
    elif roll == 8:
        pieces = other.splitlines(keepends=True)
        start = dice.randrange(len(pieces) + 1)
        lines[row:row] = pieces[start : start + dice.randrange(1, 40)]
    elif roll == 9:
        return text.replace("\n", dice.choice(("\r\n", "\r", "\n\n", " \n", "\x0c\n")))
    elif roll == 10:
        return text[:place]
    else:
        constants = list(re.finditer(r"\b\d+\b", text))
        if constants:
            match = dice.choice(constants)
            return text[: match.start()] + dice.choice(("0", "-1", "None", "9" * 50, "1e9", "''")) + text[match.end() :]
    return "".join(lines)


def mutant(dice: Random) -> bytes:
    """A real file with up to four changes, as bytes."""
    text = text_of(dice)
    for _ in range(dice.randrange(5)):
        text = mutated(text, dice, text_of(dice))
    data = text.encode(errors="surrogatepass")
    roll = dice.random()
    if roll < 0.03:
        data = b"\xef\xbb\xbf" + data
    elif roll < 0.06:
        data = b"# coding: latin-1\n" + text.encode("latin-1", errors="replace")
    elif roll < 0.09 and data:
        place = dice.randrange(len(data))
        data = data[:place] + dice.randbytes(dice.randrange(1, 5)) + data[place:]
    return data
