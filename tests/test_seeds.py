"""The code of real write-ups, rebuilt: what is found now, and what a rule still to come must find."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, Case, expected, lint
from test_fixtures import compare

AWAIT = re.compile(r"#\s*await:\s*(?P<codes>FKL\d+(?:\s*,\s*FKL\d+)*)")
SEEDS = [Case(path) for path in sorted((FIXTURES / "seeds").iterdir()) if path.is_dir()]


def awaited(file: Path) -> set[tuple[int, str]]:
    """Row and code of what a file's comments await."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return {
        (row, code) for row, line in lines for match in AWAIT.finditer(line) for code in re.findall(r"FKL\d+", match[1])
    }


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.path.name)
def test_what_is_expected_is_found_and_nothing_else(seed: Case, tmp_path: Path) -> None:
    files = seed.copy_to(tmp_path)
    found = lint(files)
    for original, copy in zip(seed.files, files, strict=True):
        arrived = {(row, code) for row, code, _ in found[copy]} & awaited(original)
        assert not arrived, f"{original}: {sorted(arrived)} are found now: turn `await:` into `expect:`"
        surplus, missing = compare(found[copy], expected(original))
        assert (surplus, missing) == (set(), set()), f"{original}: not expected {surplus}, not found {missing}"


def test_all_five_write_ups_are_here() -> None:
    assert len(SEEDS) == 5
    assert not [code for seed in SEEDS for file in seed.files for _, code in awaited(file)], "every rule is there"
    assert {code for seed in SEEDS for file in seed.files for _, code, _ in expected(file)} >= {"FKL301"}
