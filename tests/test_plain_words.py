"""Texts that users read are in plain English: no word of this list is in help, messages, tables or documentation.

Each entry has the word to write instead. It covers all files of its kinds, so a new file is checked as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from forklint.cli import main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "forklint"
INSTEAD = {
    r"though [^.,;]{1,30}\bbe\b": "even if ... is",
    r"gives? back": "returns",
    r"stood in|stands in for": "replaced by a stand-in",
    r"bites?": "affects",
    r"mend(?:s|ed|ing)?": "fix",
    r"asked again": "computed again, tried again",
    r"(?:is|are) told(?: of)?": "reported",
    r"speaks? of": "mentions",
    r"passed over": "skipped",
    r"made[- ]up": "generated",
    r"die[sd] of": "was killed by",
    r"ways? out": "solution",
    r"the world": "the environment",
    r"rooms?": "packages",
    r"idle (?:codes?|comments?)": "unused",
    r"unasked": "by default",
    r"come by": "reach, import",
    r"presets? (?:for|of) a Mac|meant for a Mac": "settings for macOS",
    r"forklint itself": "internal error",
    r"do(?:es)? not go together|goes? together": "cannot be used with",
    r"is no (?:project|rule|list|text|file|notebook|class|preset)": "is not a ...",
}
"""What was written here once, and how Ruff, mypy, pytest and PyTorch say it."""
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in INSTEAD))
ALLOWED = {
    "bites": "a value of `fork` and `spawn` in handles.toml, which projects write in their settings",
    "stood in": "the key `stood_in` of JSON reports, as words",
}
"""Whole strings that are data, not text."""


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """The help page of a command and of all below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, click.Context(below, info_name=name, parent=context))


def strings(path: Path) -> Iterator[str]:
    """The texts of a module other than docstrings: what it may print."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value if " " in node.value.strip() else ""  # a single word is a name


def values(table: object) -> Iterator[str]:
    """All texts of a TOML table."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, dict):
        for value in table.values():
            yield from values(value)
    elif isinstance(table, list):
        for value in table:
            yield from values(value)


def wrong(texts: Iterator[str]) -> list[str]:
    """What is on the list, with what is around it."""
    found = []
    for text in texts:
        plain = re.sub(r"`[^`\n]*`", "``", " ".join(text.split()))  # code is not prose
        if text.strip() not in ALLOWED:
            found += [plain[max(0, match.start() - 40) : match.end() + 30] for match in PATTERN.finditer(plain)]
    return found


MODULES = sorted(SOURCE.rglob("*.py"))
TABLES = sorted((SOURCE / "knowledge").glob("*.toml"))
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        ROOT / "examples" / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "rules").glob("*.md"),
    ]
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_list_finds_what_it_is_for() -> None:
    texts = ["Exit with 0 though there be findings.", "it gives back nothing", "2 comments mended", "`mend` it"]
    assert len(wrong(iter(texts))) == 3
    assert len(MODULES) > 500
    assert len(TABLES) > 15
    assert len(PAGES) > 30


def test_help() -> None:
    pages = dict(commands(main, click.Context(main, info_name="forklint")))
    assert len(pages) > 6
    assert not {name: found for name, text in pages.items() if (found := wrong(iter([text])))}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_messages(path: Path) -> None:
    assert not wrong(strings(path))


@pytest.mark.parametrize("path", TABLES, ids=name_of)
def test_tables(path: Path) -> None:
    assert not wrong(values(tomllib.loads(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages(path: Path) -> None:
    text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"))
    assert not wrong(iter(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).split("\n\n")))
