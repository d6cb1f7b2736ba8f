"""The pages: each is in the index, each link leads somewhere, what is marked is tested, what is data can be read."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from doc_snippets import BLOCK, ROOT
from ruamel.yaml import YAML

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "examples" / "README.md"])
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- test:")
LINK = re.compile(r"\]\(([^)\s]+)\)")
READERS = {
    "toml": tomllib.loads,
    "yaml": lambda text: list(YAML(typ="safe", pure=True).load_all(text)),
    "json": json.loads,
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", FENCED.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_link_leads_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name(page)}: {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{name(page)}: no heading for {target}"


def test_the_index_has_each_page() -> None:
    listed = {(DOCS / target).resolve() for target in LINK.findall((DOCS / "README.md").read_text(encoding="utf-8"))}
    missing = [path.name for path in DOCS.glob("*.md") if path.name != "README.md" and path.resolve() not in listed]
    assert not missing, f"add to docs/README.md: {', '.join(missing)}"
    assert (DOCS / "rules" / "README.md").resolve() in listed


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_is_data_can_be_read(page: Path) -> None:
    for indent, language, content in FENCED.findall(page.read_text(encoding="utf-8")):
        if language in READERS:
            READERS[language](re.sub(f"^{indent}", "", content, flags=re.MULTILINE))


def test_what_is_marked_is_tested() -> None:
    """A test that reads a snippet names its page and its mark."""
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        marks = [mark for _, mark, _, _ in BLOCK.findall(text)]
        assert len(marks) == len(MARK.findall(text)), f"{name(page)}: a mark with no block right after it"
        twice = [mark for mark, number in Counter(marks).items() if number > 1]
        assert not twice, f"{name(page)}: marked twice: {twice}"
        for mark in marks:
            used = any(f'{page.name}"' in test and f'"{mark}"' in test for test in tests)
            assert used, f"{name(page)}: no test reads the block marked {mark}"
