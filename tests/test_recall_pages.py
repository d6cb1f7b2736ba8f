"""docs/recall says of each way whether it is found; the fixture that it names says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, Case, expected, is_outcome, missed

FOLDER = Path(__file__).parents[1] / "docs" / "recall"
PAGES = sorted(FOLDER.glob("FKL*.md"))
NAMED = re.compile(r"\b(?:bad|good)_\w+")
FEWEST = 15


def rows(page: Path) -> list[list[str]]:
    """The cells of a page's table, without its head."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return cells[1:]


def fixture(code: str, name: str) -> Case:
    """The fixture of a rule with this name, whatever its suffix."""
    [folder] = FIXTURES.glob(f"{code}_*")
    return Case(
        next(path for path in sorted(folder.iterdir()) if path.name.partition(".")[0] == name and not is_outcome(path))
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_fixtures_say_what_the_page_says(page: Path) -> None:
    for way, _, where, found in rows(page):
        cases = [fixture(page.stem, name) for name in sorted(set(NAMED.findall(where)))]
        files = [file for case in cases for file in case.files]
        if re.match(r"yes\b", found):
            assert any(code == page.stem for file in files for _, code, _ in expected(file)), way
        elif found in {"limit", "known limit"} and not where.startswith("none"):
            assert any(code == page.stem for file in files for _, code in missed(file)), way


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_there_are_many_ways(page: Path) -> None:
    assert len(rows(page)) >= FEWEST
    assert all(len(cells) == 4 and all(cells) for cells in rows(page))
