"""Every fixture says what must be found in it, and its fix leaves what stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import (
    Case,
    Place,
    all_cases,
    expected,
    fixed_text,
    found_in,
    is_fixable,
    lint,
    missed,
    outcome_of,
    reports,
)

from forklint.rules import registry

CASES = all_cases()
BAD = [case for case in CASES if not case.good]
FIXED = [case for case in BAD if any(outcome_of(file).exists() for file in case.files)]
MISSES = [case for case in BAD if any(missed(file) for file in case.files)]


def compare(found: set[tuple[Place, str, str]], wanted: set[tuple[Place, str, str | None]]) -> tuple[set, set]:
    """What was found and not wanted, and what was wanted and not found."""
    plain = {(row, code) for row, code, _ in wanted}
    surplus = {item for item in found if item[:2] not in plain}
    missing = {item for item in wanted if not any(item[:2] == f[:2] and item[2] in {None, f[2]} for f in found)}
    return surplus, missing


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_findings_are_the_expected_ones(case: Case, tmp_path: Path) -> None:
    """What has no recorded outcome is left alone by fixes."""
    files = case.copy_to(tmp_path)
    found = reports(files, with_fixes=not case.good)
    assert not case.good or not any(expected(file) for file in case.files), "a good fixture expects nothing"
    for original, copy in zip(case.files, files, strict=True):
        surplus, missing = compare(found_in(found[copy]), expected(original))
        assert (surplus, missing) == (set(), set()), f"{original}: not expected {surplus}, not found {missing}"
        if is_fixable(found[copy]) and not outcome_of(original).exists():
            assert fixed_text(copy) == original.read_bytes().decode()


@pytest.mark.parametrize("case", MISSES, ids=lambda case: case.id)
def test_what_is_known_to_be_missed_is_a_known_limit(case: Case) -> None:
    """Where it is found in the end, the test above asks for ``expect`` instead of ``miss``."""
    pages = {rule.code: dict(rule.page().sections) for rule in registry.all_rules()}
    for file in case.files:
        for place, code in missed(file):
            assert "Known limits" in pages[code], f"the page of {code} does not say what it misses"
            assert (place, code) not in {item[:2] for item in expected(file)}, f"{file}: expected and missed"


def some_here(cases: list[Case], every: int) -> list:
    """Every so many of the cases as they are; the others where there is time."""
    return [pytest.param(case, marks=[pytest.mark.soak] * (n % every > 0)) for n, case in enumerate(cases)]


@pytest.mark.parametrize("case", some_here(CASES, 6), ids=lambda case: case.id)
def test_screens_change_nothing(case: Case, tmp_path: Path) -> None:
    files = case.copy_to(tmp_path)
    assert lint(files) == lint(files, screen=False)


def by_returns(files: list[Path]) -> list[Path]:
    """The same files, with lines that end as they did on old Macs."""
    for file in files:
        if file.suffix == ".py":
            file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r"))
    return files


@pytest.mark.parametrize("case", some_here(BAD, 10), ids=lambda case: case.id)
def test_line_ends_change_nothing(case: Case, tmp_path: Path) -> None:
    files = case.copy_to(tmp_path)
    assert lint(files) == lint(by_returns(files))


@pytest.mark.parametrize("case", FIXED, ids=lambda case: case.id)
def test_fix_leaves_what_stands_beside_it(case: Case, tmp_path: Path) -> None:
    files = case.copy_to(tmp_path)
    for original, copy in zip(case.files, files, strict=True):
        if outcome_of(original).exists():
            text = fixed_text(copy)
            assert text == outcome_of(original).read_bytes().decode()
            copy.write_bytes(text.encode())
            assert fixed_text(copy) == text, "a second pass changes something"
