"""Writes ``# noqa`` for every finding of a file, on lines where the comment counts and is legal."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forklint.edits.comments import line_end, with_ignored, with_noqa
from forklint.edits.text import apply_edits, split_lines
from forklint.engine import Linter
from forklint.fixing import write_atomically
from forklint.model import Edit, FileReport, Finding, Note
from forklint.project.index import UNPARSABLE
from forklint.rules.syntax_error import SyntaxFault
from forklint.rules.unused_suppression import UnusedSuppression
from forklint.source import document
from forklint.source.document import Document, UnreadableError
from forklint.source.kinds import Kind, kind_of

STAY = frozenset((SyntaxFault.code, UnusedSuppression.code))
"""A comment cannot silence the one; the other is mended instead."""


class NoPlaceError(Exception):
    """A file that gets no comments; the message says why in a few words."""


@dataclass(frozen=True)
class Suppressed:
    """One file after suppressing."""

    report: FileReport
    """What is left, with a note on what could not be done."""
    silenced: int = 0
    """How many findings are silenced now."""
    mended: int = 0
    """How many idle comments were mended on the way."""


def suppress(linter: Linter, path: Path, report: FileReport, reason: str) -> Suppressed:
    """Silence the findings of a file that was linted by comments with ``reason``, take idle codes out, and write it."""
    if not report.findings:
        return Suppressed(report)
    try:
        if kind_of(path) is not Kind.PYTHON:
            raise NoPlaceError(f"a {kind_of(path).value} gets no comments, silence it with per-file-ignores")
        absolute = path.absolute()
        doc = document.decode(absolute, linter.project.data(absolute))
        return _suppress(linter, path, doc, report, reason)
    except (NoPlaceError, UnreadableError) as error:
        return Suppressed(_noted(report, report, [f"no comments were added: {error}"], failure=True))


def _suppress(linter: Linter, path: Path, doc: Document, report: FileReport, reason: str) -> Suppressed:
    first = linter.lint_bytes(path, doc.data)
    text, mended = _without_idle(linter, path, doc)
    before = linter.lint_bytes(path, doc.encode(text))
    text, nowhere = _with_comments(text, _wanted(first, before, report), reason)
    try:
        if not _same_code(doc.text, text):
            raise NoPlaceError("they would change what the code means")
        after = linter.lint_bytes(path, doc.encode(text))
        failure = write_atomically(path, doc.encode(text), doc.data) if text != doc.text else ""
        if failure:
            raise NoPlaceError(failure)
    except UnicodeEncodeError:
        linter.project.replace(doc.path, doc.data)
        raise NoPlaceError(f"the reason cannot be written in {doc.encoding}") from None
    except NoPlaceError:
        linter.project.replace(doc.path, doc.data)
        raise
    notes = [f"line {one.span.row} has no place for a comment: {one.code} stays" for one in nowhere]
    return Suppressed(_noted(after, report, notes), len(before.findings) - len(after.findings), mended)


def _wanted(first: FileReport, now: FileReport, asked: FileReport) -> list[Finding]:
    """The findings there are ``now`` of those that were asked for: a baseline may have taken some out.

    Between the first report and the one of now only idle comments went, so both have the same findings in one order.
    """
    places = {(one.code, one.span, one.message) for one in asked.findings}
    before, after = ([one for one in report.findings if one.code not in STAY] for report in (first, now))
    return [two for one, two in zip(before, after, strict=False) if (one.code, one.span, one.message) in places]


def _noted(report: FileReport, first: FileReport, texts: Sequence[str], *, failure: bool = False) -> FileReport:
    return replace(report, notes=(*first.notes, *(Note(report.path, text, failure=failure) for text in texts)))


def _same_code(before: str, after: str) -> bool:
    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except UNPARSABLE:
        return before == after


def _without_idle(linter: Linter, path: Path, doc: Document) -> tuple[str, int]:
    """The text with all idle codes taken out, and how many comments that mended."""
    text, mended = doc.text, 0
    while True:
        edits: dict[int, Edit] = {}
        for finding in linter.lint_bytes(path, doc.encode(text)).findings:
            if finding.code == UnusedSuppression.code and finding.fix:
                edits.setdefault(finding.span.row, finding.fix.edits[0])  # a second one of the line in the next round
        candidate = apply_edits(text, tuple(edits.values()))
        if candidate == text:
            return text, mended
        text, mended = candidate, mended + len(edits)


def _with_comments(text: str, findings: Sequence[Finding], reason: str) -> tuple[str, list[Finding]]:
    """The text with a comment for each finding, and the findings for which no line has a place."""
    if not findings:
        return text, []
    lines = split_lines(text)
    closed = _closed_rows(text, lines)
    behind: dict[int, set[str]] = defaultdict(set)
    above: dict[int, set[str]] = defaultdict(set)
    nowhere = []
    for finding in findings:
        first = finding.comment_rows[0]
        row = next((row for row in _rows(finding) if row not in closed and _holds_code(lines[row - 1])), None)
        if row is not None:
            behind[row].add(finding.code)
        elif first - 1 not in closed:
            above[first].add(finding.code)
        else:
            nowhere.append(finding)
    for row, codes in behind.items():
        lines[row - 1] = with_noqa(lines[row - 1], codes, reason)
    for row, codes in sorted(above.items(), reverse=True):
        _put_above(lines, row, codes, reason)
    return "".join(lines), nowhere


def _rows(finding: Finding) -> Iterator[int]:
    """Rows on which a comment silences a finding: its own, where flake8 looks, then those below, then those above."""
    first, last = finding.comment_rows
    yield from range(finding.span.row, last + 1)
    yield from range(finding.span.row - 1, first - 1, -1)


def _holds_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _closed_rows(text: str, lines: Sequence[str]) -> set[int]:
    """Rows at whose end no comment is legal: within a string, or after a backslash."""
    closed: set[int] = set()
    commented: set[int] = set()
    starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            name = tokenize.tok_name[token.type]
            if name.endswith("STRING_START"):  # from Python 3.12 on an f-string is many tokens
                starts.append(token.start[0])
            elif name.endswith("STRING_END"):
                closed.update(range(starts.pop(), token.end[0]))
            elif token.type == tokenize.STRING:
                closed.update(range(token.start[0], token.end[0]))
            elif token.type == tokenize.COMMENT:
                commented.add(token.start[0])
    except (tokenize.TokenError, SyntaxError):
        raise NoPlaceError("it cannot be cut into tokens") from None
    backslashes = {row for row, line in enumerate(lines, 1) if line.rstrip("\r\n").endswith("\\")}
    return closed | (backslashes - commented)


def _put_above(lines: list[str], row: int, codes: Collection[str], reason: str) -> None:
    """Put ``# forklint: ignore[...]`` above a row, into the one that stands there if one does."""
    merged = with_ignored(lines[row - 2], codes) if row > 1 else None
    if merged:
        lines[row - 2] = merged
        return
    indent = re.match(r"[ \t\f]*", lines[row - 1])
    end = line_end(lines[row - 1]) or line_end(lines[0]) or "\n"
    words = f" {reason}" if reason else ""
    lines.insert(row - 1, f"{indent[0] if indent else ''}# forklint: ignore[{', '.join(sorted(codes))}]{words}{end}")
