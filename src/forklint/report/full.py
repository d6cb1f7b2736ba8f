"""Findings with a code frame, the affected platforms, related places, and the fix as a small diff."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from click import style

from forklint.model import Applicability, Edit, Finding, Fix, Link, Severity
from forklint.report import Outcome, file_and_cell, place, visible
from forklint.report.sources import Sources
from forklint.source.lines import split_lines
from forklint.source.paths import relative_to

WIDTH = 80
CONTEXT = 2
"""Lines shown before the one with the finding."""
MOST_DIFF_LINES = 40
LONGEST = 200
"""Number of characters of a line that are shown."""
COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
WORDS = {Applicability.SAFE: "fix", Applicability.UNSAFE: "unsafe fix", Applicability.DISPLAY: "help"}


def render(outcome: Outcome) -> str:
    """All findings, a blank line after each."""
    return "".join("\n".join(_finding(finding, outcome)) + "\n\n" for finding in outcome.findings)


def _finding(finding: Finding, outcome: Outcome) -> Iterator[str]:
    sources = outcome.sources
    color = COLORS[finding.severity]
    head = f"{finding.severity.value}[{finding.code}] {finding.name}"
    yield style(head, fg=color, bold=True)
    yield from textwrap.wrap(
        finding.message, WIDTH - 2, initial_indent="  ", subsequent_indent="  ", break_long_words=False
    )
    margin = len(str(finding.span.end_row))
    yield style(" " * margin + "--> ", fg="blue") + place(finding)
    yield from _frame(finding, sources.lines(finding.path, finding.notebook_cell), margin)
    if finding.cells:
        yield _aside(margin, "affects", ", ".join(str(cell) for cell in finding.cells))
    shown = outcome.verdicts.get(finding)
    if shown is not None:
        yield _aside(margin, "verified", visible(f"{shown.words}: {shown.kept.evidence}"))
    for link in finding.chain:
        yield _aside(margin, "note", f"{_link_place(link)}: {link.message}")
    for fix in finding.fixes:
        yield _aside(margin, WORDS[fix.applicability], fix.message)
        yield from _diff(finding, fix, sources, margin)


def _link_place(link: Link) -> str:
    return f"{file_and_cell(relative_to(Path(link.path), Path.cwd()), link.notebook_cell)}:{link.row}"


def _aside(margin: int, label: str, words: str) -> str:
    indent = " " * (margin + 3)
    body = textwrap.fill(
        f"{label}: {words}", WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )
    start = style(" " * margin + " = ", fg="blue")
    return start + body[len(indent) :].replace(f"{label}:", style(f"{label}:", bold=True), 1)


def _frame(finding: Finding, lines: list[str], margin: int) -> Iterator[str]:
    span = finding.span
    if span.row > len(lines):
        return
    bar = style("|", fg="blue")
    offset = len(_plain(lines[span.row - 1][: span.column - 1]))
    start = 0 if offset < LONGEST // 2 else offset - LONGEST // 4
    yield f"{' ' * margin} {bar}"
    for row in range(max(1, span.row - CONTEXT), span.row + 1):
        number = style(f"{row:>{margin}}", fg="blue")
        yield f"{number} {bar} {_cut(_plain(lines[row - 1]), start)}".rstrip()
    line = _plain(lines[span.row - 1])
    end = span.end_column if span.end_row == span.row else len(line) + 1
    width = max(1, len(_plain(lines[span.row - 1][span.column - 1 : end - 1])))
    width = min(width, start + LONGEST - offset)
    yield f"{' ' * margin} {bar} {' ' * (offset - start)}" + style("^" * width, fg=COLORS[finding.severity], bold=True)
    yield f"{' ' * margin} {bar}"


def _plain(line: str) -> str:
    """A line without its end, tabs as four spaces and control characters as blanks, so that frames stand straight."""
    text = line.rstrip("\r\n").replace("\t", "    ")
    return "".join(character if character.isprintable() else " " for character in text)


def _cut(line: str, start: int = 0) -> str:
    """The part of a line that is shown; few are longer."""
    return line[start : start + LONGEST] + ("..." if len(line) > start + LONGEST else "")


def _diff(finding: Finding, fix: Fix, sources: Sources, margin: int) -> Iterator[str]:
    shown, cell = 0, finding.notebook_cell
    for edit in fix.edits:
        if edit.notebook_cell != cell:
            cell = edit.notebook_cell
            yield f"{' ' * margin}   cell {cell}:"
        for sign, line in _signed(sources.lines(finding.path, cell), edit):
            shown += 1
            if shown > MOST_DIFF_LINES:
                yield f"{' ' * margin}   ..."
                return
            color = "red" if sign == "-" else "green"
            yield f"{' ' * margin}   " + style(f"{sign} {_cut(_plain(line))}".rstrip(), fg=color)


def _signed(lines: list[str], edit: Edit) -> Iterator[tuple[str, str]]:
    for line in lines[edit.span.row - 1 : edit.span.end_row - 1]:
        yield "-", line
    for line in split_lines(edit.content):
        yield "+", line
