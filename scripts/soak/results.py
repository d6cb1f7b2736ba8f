"""The last figures of each part, in tests/soak/results.json, and the table of docs/tested.md that is made of them."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from dataclasses import asdict, dataclass

from scripts.soak.parts import ROOT, parts
from scripts.soak.progress import Progress

FILE = ROOT / "tests" / "soak" / "results.json"
PAGE = ROOT / "docs" / "tested.md"
START, END = "<!-- soak: written by make test-soak -->\n\n", "\n<!-- end of soak -->\n"


@dataclass(frozen=True)
class Result:
    """What a part came to when it was last run to its end."""

    date: str
    commit: str
    command: str
    seed: int | None
    passed: int
    skipped: int
    failed: int
    minutes: float
    figures: list[str]
    not_tested: list[str]


def command(progress: Progress) -> str:
    """The command that does the same again."""
    words = [f"make test-soak PART={progress.part}"]
    if progress.run.minutes is not None:
        words.append(f"MINUTES={progress.run.minutes:g}")
    if progress.run.seed is not None:
        words.append(f"SEED={progress.run.seed}")
    return " ".join(words)


def result(progress: Progress) -> Result:
    """The figures of a part that has ended."""
    done = progress.done.values()
    counts = Counter(one.outcome for one in done)
    reasons = Counter(one.reason for one in done if one.outcome == "skipped")
    return Result(
        dt.datetime.now(dt.timezone.utc).date().isoformat(),
        progress.commit,
        command(progress),
        progress.run.seed,
        counts["passed"],
        counts["skipped"],
        counts["failed"],
        round(sum(one.seconds for one in done) / 60, 1),
        [figure for one in done for figure in one.figures],
        [f"{reason} ({number})" if number > 1 else reason for reason, number in sorted(reasons.items())],
    )


def read() -> dict[str, Result]:
    """The results of all parts that have been run."""
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {name: Result(**row) for name, row in rows.items()}


def record(progress: Progress) -> Result:
    """Write down the figures of a part, and the page."""
    rows = read()
    rows[progress.part] = result(progress)
    known = {name: asdict(rows[name]) for name in parts() if name in rows}
    FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page()
    return rows[progress.part]


def table(rows: dict[str, Result]) -> str:
    """The table of the page, and below it what was measured and what was skipped."""
    lines = ["| part | what it tests | date | commit | command | seed | passed | skipped | failed | minutes |"]
    lines.append("|---|---|---|---|---|---|---|---|---|---|")
    below = []
    for part in parts().values():
        row = rows.get(part.name)
        if row is None:
            lines.append(f"| {part.name} | {part.about} | not run | | `make test-soak PART={part.name}` | | | | | |")
            continue
        seed = "" if row.seed is None else row.seed
        figures = f"{row.passed} | {row.skipped} | {row.failed} | {row.minutes:g}"
        lines.append(
            f"| {part.name} | {part.about} | {row.date} | {row.commit} | `{row.command}` | {seed} | {figures} |"
        )
        below += [f"- {part.name}: {figure}" for figure in row.figures]
        below += [f"- {part.name}, skipped: {reason}" for reason in row.not_tested]
    return "\n".join([*lines, *([""] if below else []), *below]) + "\n"


def page(text: str) -> str:
    """The page with the table of today."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{PAGE} has no place for the table")
    return before + start + table(read()) + end + after


def write_page() -> None:
    """Write the table into docs/tested.md."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
