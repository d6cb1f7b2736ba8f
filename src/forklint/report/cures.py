"""The results of fixes of confirmed findings, and the cost of each solution."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from click import style

from forklint.report import count, file_and_cell, visible
from forklint.report.verdicts import MIB, WIDTH
from forklint.verify.curing import Cure
from forklint.verify.words import Observation

COLORS = {"fixed": "green", "not fixed": "red", "no fix": "yellow", "inconclusive": "magenta"}


def text(cures: Sequence[Cure]) -> str:
    """Each confirmed finding with the result of its fix and a table of solutions; empty if nothing was confirmed."""
    return "\n".join(line for cure in cures for line in (*_cure(cure), ""))


def _cure(cure: Cure) -> list[str]:
    finding = cure.result.finding
    place = f"{file_and_cell(finding.path, finding.notebook_cell)}:{finding.span.row}"
    outcome = style(cure.outcome, fg=COLORS[cure.outcome], bold=True)
    lines = [f"{style(finding.code, bold=True)} {place}: {outcome}", _wrapped(f"with the fix: {cure.evidence}")]
    return lines + _table(cure)


def _table(cure: Cure) -> list[str]:
    """The measured cost of each solution."""
    rows = [(way.name, *figures(way.seen)) for way in cure.ways]
    if not rows:
        return []
    heads = ("solution", "first batch", "samples/s", "memory")
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    return [
        "    " + "  ".join([name.ljust(widths[0]), *map(str.rjust, figures, widths[1:])])
        for name, *figures in (heads, *rows)
    ]


def figures(seen: Observation) -> tuple[str, str, str]:
    """Seconds to the first batch, samples per second and memory of a trial, empty where they were not measured."""
    first, speed = seen.first_batch_seconds, seen.samples_per_second
    return (
        "" if first is None else f"{first:.2f} s",
        "" if speed is None else f"{speed:.0f}",
        f"{seen.peak_bytes / MIB:.0f} MiB" if seen.peak_bytes else "",
    )


def summary(cures: Sequence[Cure], applied: int) -> str:
    """The last line: how many confirmed findings are fixed, and how many fixes were written."""
    fixed = sum(cure.is_proved for cure in cures)
    written = f", {applied} written" if applied else "; run with --apply to write the fixes" if fixed else ""
    return f"{fixed} of {count(len(cures), 'confirmed finding')} fixed{written}"


def to_dict(cure: Cure) -> dict[str, Any]:
    """A cure as JSON has it, beside its experiment."""
    ways = [
        {
            "way": way.name,
            "first_batch_seconds": way.seen.first_batch_seconds,
            "samples_per_second": way.seen.samples_per_second,
            "peak_bytes": way.seen.peak_bytes,
        }
        for way in cure.ways
    ]
    return {"outcome": cure.outcome, "evidence": cure.evidence, "ways": ways}


def _wrapped(words: str) -> str:
    return textwrap.fill(visible(words), WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
