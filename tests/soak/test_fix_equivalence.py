"""Programs before and after their fix, run side by side: the same outcome, but for the hazard.

Every fixture with a fix is run as a script, as it is and in one of three variants (tabs, other names, comments), by
children that are forked from one process that has imported torch. A program that ends without an error before its fix
does so after it, prints the same, and leaves the same names with the same signatures.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fixture_cases import Case, all_cases, linters

from forklint.fixing import fix

pytestmark = pytest.mark.soak
INSTALLS = re.compile(r"[\"']pip[\"']|pip3? install")
"""What stands in a program that would install something here."""
BAD = [
    case
    for case in all_cases()
    if not case.good and case.path.suffix == ".py" and not INSTALLS.search(case.path.read_text(encoding="utf-8"))
]
PRINTS_OTHERWISE = {
    "FKL302": "workers draw other numbers than each other, as they should",
    "FKL303": "workers share the stream",
    "FKL401": "the number of workers is printed, or their names are",
    "FKL603": "torch warns no more",
}
"""Rules whose hazard is what a program prints."""
WORKERS = re.compile(r"(\w*workers\w*=)\d+")
RUNNER = Path(__file__).parent.parent / "program_outcomes.py"
VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "with tabs": lambda text: re.sub(r"(?m)^(?: {4})+", lambda match: "\t" * (len(match[0]) // 4), text),
    "with other names": lambda text: re.sub(r"\b(path|root|index|rows|words)\b", r"\1_of_it", text),
    "with a comment on each line": lambda text: re.sub(r"(?m)(?<=[)\w])$(?!\n\s*[.)])", "  # as it was", text),
}
SHARES = 4
"""Tests that the fixtures are dealt to, each of which can be run again alone."""


def fixed(path: Path) -> tuple[str, list[str]]:
    """The text after all fixes, and the codes of those applied."""
    done = fix(linters().of(path), path, unsafe=True, write=False)
    return done.after, sorted({one.code for one in done.applied})


def written(share: int, folder: Path) -> list[dict[str, object]]:
    """Write each program twice, before and after its fix; those that no fix changes are left out."""
    rows: list[dict[str, object]] = []
    first, *others = VARIANTS
    for number, case in enumerate(BAD):
        for variant in (first, others[number // SHARES % len(others)]) if number % SHARES == share else ():
            change = VARIANTS[variant]
            text = change(case.path.read_text(encoding="utf-8"))
            before, after = folder / str(len(rows)) / "before", folder / str(len(rows)) / "after"
            for place in (before, after):
                place.mkdir(parents=True, exist_ok=True)
                (place / "forklint.toml").touch()
                (place / case.path.name).write_text(text, encoding="utf-8")
            try:
                compile(text, "x", "exec")
            except SyntaxError:
                continue
            new, codes = fixed(before / case.path.name)
            if codes:
                (after / case.path.name).write_text(new, encoding="utf-8")
                places = [str(place / case.path.name) for place in (before, after)]
                rows.append({"case": case.id, "variant": variant, "codes": codes, "places": places})
    return rows


def outcomes(paths: list[str], folder: Path) -> list[dict[str, object]]:
    """What became of each program."""
    (folder / "paths.json").write_text(json.dumps(paths))
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(folder / "paths.json"), str(folder / "outcomes.json")],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "outcomes.json").read_text())


@pytest.mark.parametrize("share", range(SHARES))
def test_programs_before_and_after_their_fix(
    share: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rows = written(share, tmp_path)
    seen = outcomes([place for row in rows for place in row["places"]], tmp_path)  # type: ignore[union-attr]
    counts: Counter[str] = Counter()
    wrong = []
    for row, before, after in zip(rows, seen[::2], seen[1::2], strict=True):
        verdict = compared(before, after, set(row["codes"]))  # type: ignore[arg-type]
        counts[verdict] += 1
        if verdict == "worse":
            wrong.append((row["case"], row["variant"], row["codes"], before, after))
    record_property(
        "figures", f"{len(rows)} programs: " + ", ".join(f"{what}: {n}" for what, n in counts.most_common())
    )
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert counts["same, to the end"] >= 200 / SHARES


def compared(before: dict[str, object], after: dict[str, object], codes: set[str]) -> str:
    if before["end"] != "done":
        if after["end"] == "done":
            return "fixed"
        return "same, up to an error" if before["end"] == after["end"] else "another error"
    if after["end"] != "done" or not left_by(before, codes) <= left_by(after, codes):
        return "worse"
    if before["printed"] == after["printed"]:
        return "same, to the end"
    return "prints otherwise, as it should" if codes & PRINTS_OTHERWISE.keys() else "worse"


def left_by(outcome: dict[str, object], codes: set[str]) -> set[str]:
    """The names that a program leaves; FKL401 may change the default of a number of workers."""
    names: list[str] = outcome["names"]  # type: ignore[assignment]
    return {WORKERS.sub(r"\1", name) if "FKL401" in codes else name for name in names}


def test_the_comparison_can_fail() -> None:
    good = {"end": "done", "printed": "1\n", "names": ["f(x)"]}
    assert compared(good, good, {"FKL301"}) == "same, to the end"
    assert compared(good, {**good, "end": "ValueError: x"}, {"FKL301"}) == "worse"
    assert compared(good, {**good, "printed": "2\n"}, {"FKL301"}) == "worse"
    assert compared(good, {**good, "names": ["f(y)"]}, {"FKL301"}) == "worse"
    four, none = ({**good, "names": [f"f(x, num_workers={number})"]} for number in (4, 0))
    assert compared(four, none, {"FKL401"}) == "same, to the end"
    assert compared(four, none, {"FKL301"}) == "worse"
    assert compared({**good, "end": "hang"}, good, {"FKL301"}) == "fixed"


def test_the_variants_are_others() -> None:
    case = next(case for case in BAD if "path" in case.path.read_text() and isinstance(case, Case))
    texts = {change(case.path.read_text()) for change in VARIANTS.values()}
    assert len(texts) == len(VARIANTS)
