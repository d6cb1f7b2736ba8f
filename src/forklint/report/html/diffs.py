"""Changes of text as rows of a difference."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice

from forklint.model import Finding, Fix
from forklint.records import dataclass
from forklint.report.sources import Sources
from forklint.source.lines import split_lines

MOST_ROWS = 120
LONGEST = 200
SIGNS = {"-": "removed", "+": "added", " ": "same", "@": "place"}


@dataclass(frozen=True)
class Change:
    """A line of a difference."""

    kind: str
    """``removed``, ``added``, ``same``, or ``place``: then the text says where the next lines are."""
    text: str


def of_fix(finding: Finding, fix: Fix, sources: Sources) -> list[Change]:
    """What a fix changes, edit by edit."""
    return _bounded(_edits(finding, fix, sources))


def between(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """What differs between two texts, given as their lines, with two lines around it."""
    lines = islice(difflib.unified_diff(before, after, n=2), 2, None)
    return _bounded(_change(line[0], line[1:] if line[0] != "@" else _place(line)) for line in lines)


def _edits(finding: Finding, fix: Fix, sources: Sources) -> Iterator[Change]:
    for edit in fix.edits:
        cell = "" if edit.notebook_cell is None else f"cell {edit.notebook_cell}, "
        yield _change("@", f"{cell}line {edit.span.row}")
        lines = sources.lines(finding.path, edit.notebook_cell)
        yield from (_change("-", line) for line in lines[edit.span.row - 1 : edit.span.end_row - 1])
        yield from (_change("+", line) for line in split_lines(edit.content))


def _place(header: str) -> str:
    """``@@ -3,4 +5,6 @@`` in words."""
    return f"line {header.split()[1].lstrip('-').partition(',')[0]}"


def _change(sign: str, text: str) -> Change:
    line = text.rstrip("\r\n")
    return Change(SIGNS[sign], line[:LONGEST] + ("…" if len(line) > LONGEST else ""))


def _bounded(changes: Iterator[Change]) -> list[Change]:
    shown = list(islice(changes, MOST_ROWS))
    left = sum(1 for _ in changes)
    return [*shown, Change("place", f"{left} more lines")] if left else shown
