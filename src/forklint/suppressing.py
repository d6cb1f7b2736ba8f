"""Adds ``# noqa`` comments for all findings of a file, on lines where they have an effect and are valid."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forklint.edits.comments import line_end, with_ignored, with_noqa
from forklint.edits.text import split_lines
from forklint.engine import Linter
from forklint.fixing import line_named, refused_link, write_atomically
from forklint.model import Edit, FileReport, Finding, Note
from forklint.project.changes import UNPARSABLE
from forklint.records import dataclass
from forklint.rules.syntax_error import SyntaxFault
from forklint.rules.unused_suppression import UnusedSuppression
from forklint.source import document, presets
from forklint.source.document import Document, UnreadableError
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root
from forklint.source.presets import PresetError

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
        if kind_of(path) is Kind.PRESET and presets.format_of(path) == "json":
            return Suppressed(_noted(report, report, ["JSON has no comments: use per-file-ignores"]))
        absolute = from_root(path)
        doc = document.decode(absolute, linter.project.data(absolute))
        return _suppress(linter, path, doc, report, reason)
    except (NoPlaceError, UnreadableError) as error:
        return Suppressed(_noted(report, report, [f"no comments were added: {error}"], failure=True))


def with_comments(doc: Document, findings: Sequence[Finding], reason: str) -> str:
    """The text of a file with a comment for each of these findings, and all else as it is; raises NoPlaceError."""
    if kind_of(doc.path) is Kind.PRESET and presets.format_of(doc.path) == "json":
        raise NoPlaceError("JSON has no comments")
    wanted = [_in_program(one, doc) for one in findings if one.code not in STAY]
    text, nowhere = _with_comments(doc, wanted, reason, _magic_rows(doc))
    if nowhere or not wanted:
        raise NoPlaceError("no line has a place for a comment")
    try:
        data = doc.encode(text)
        if not _same_meaning(doc, document.decode(doc.path, data)):
            raise NoPlaceError("a comment would change what the code means")
    except (UnreadableError, UnicodeEncodeError) as error:
        raise NoPlaceError(str(error)) from None
    return text


def _suppress(linter: Linter, path: Path, doc: Document, report: FileReport, reason: str) -> Suppressed:
    first = linter.lint_bytes(path, doc.data)
    try:
        clean, mended = _without_idle(linter, path, doc)
        before = linter.lint_bytes(path, clean.data)
        text, nowhere = _with_comments(
            clean, [_in_program(one, clean) for one in _wanted(first, before, report)], reason, _magic_rows(clean)
        )
        data = clean.encode(text)
        if not _same_meaning(doc, document.decode(doc.path, data)):
            raise NoPlaceError("they would change the meaning of the code")
        after = linter.lint_bytes(path, data)
        failure = refused_link(linter, path) or write_atomically(path, data, doc.data) if data != doc.data else ""
        if failure:
            raise NoPlaceError(failure)
    except UnicodeEncodeError:
        linter.project.replace(doc.path, doc.data)
        raise NoPlaceError(f"the reason cannot be written in {doc.encoding}") from None
    except (NoPlaceError, UnreadableError):
        linter.project.replace(doc.path, doc.data)
        raise
    notes = [f"no comment can be added at {_place(one, clean)}: {one.code} is still reported" for one in nowhere]
    return Suppressed(_noted(after, report, notes), len(before.findings) - len(after.findings), mended)


def _in_program(finding: Finding, doc: Document) -> Finding:
    """A finding of a notebook's cell with its rows in the program; any other as it is."""
    if doc.notebook is None:
        return finding
    above = next(part.first_row for part in doc.notebook.parts if part.number == finding.notebook_cell) - 1
    span, (first, last) = finding.span, finding.comment_rows
    rows = replace(span, row=span.row + above, end_row=span.end_row + above)
    return replace(finding, span=rows, comment_rows=(first + above, last + above))


def _magic_rows(doc: Document) -> dict[int, bool]:
    """Rows in the program whose lines are no Python as written, so that what follows there is no comment.

    For each, whether a comment may stand above it: not where a magic must be the first or the only line of its cell.
    """
    rows = {}
    for part in doc.notebook.parts if doc.notebook else ():
        for number, (python, written) in enumerate(zip(part.masked.lines, part.source.split("\n"), strict=False)):
            if python != written:
                rows[part.first_row + number] = not (part.masked.sealed or written.startswith("%%"))
    return rows


def _place(finding: Finding, doc: Document) -> str:
    if doc.notebook is None:
        return line_named(finding)
    return line_named(doc.notebook.localized(replace(finding, fixes=(), chain=()), str(doc.path)))


def _wanted(first: FileReport, now: FileReport, asked: FileReport) -> list[Finding]:
    """The findings there are ``now`` of those that were asked for: a baseline may have taken some out.

    Between the first report and the one of now only idle comments went, so both have the same findings in one order.
    """
    places = {(one.code, one.span, one.message) for one in asked.findings}
    before, after = ([one for one in report.findings if one.code not in STAY] for report in (first, now))
    return [two for one, two in zip(before, after, strict=False) if (one.code, one.span, one.message) in places]


def _noted(report: FileReport, first: FileReport, texts: Sequence[str], *, failure: bool = False) -> FileReport:
    return replace(report, notes=(*first.notes, *(Note(report.path, text, failure=failure) for text in texts)))


def _same_meaning(before: Document, after: Document) -> bool:
    try:
        if kind_of(before.path) is Kind.PRESET:
            old, new = ([list(tree.tokens()) for tree in presets.read(doc).trees] for doc in (before, after))
            return old == new
        return ast.dump(ast.parse(before.text)) == ast.dump(ast.parse(after.text))
    except (PresetError, *UNPARSABLE):
        return before.text == after.text


def _without_idle(linter: Linter, path: Path, doc: Document) -> tuple[Document, int]:
    """The file with all idle codes taken out, and how many comments that mended."""
    mended = 0
    while True:
        edits: dict[tuple[int | None, int], tuple[Edit, ...]] = {}
        for finding in linter.lint_bytes(path, doc.data).findings:
            if finding.code == UnusedSuppression.code and finding.fix:
                edits.setdefault((finding.notebook_cell, finding.span.row), finding.fix.edits)  # one of a line at once
        candidate = doc.edited(tuple(edit for each in edits.values() for edit in each))
        if candidate == doc.whole:
            return doc, mended
        doc, mended = document.decode(doc.path, doc.encode_whole(candidate)), mended + len(edits)


def _with_comments(
    doc: Document, findings: Sequence[Finding], reason: str, magics: Mapping[int, bool]
) -> tuple[str, list[Finding]]:
    """The text with a comment for each finding, and the findings for which no line has a place."""
    if not findings:
        return doc.text, []
    lines = split_lines(doc.text)
    is_preset = kind_of(doc.path) is Kind.PRESET
    closed, comments = _ends_of_preset_rows(doc) if is_preset else _ends_of_rows(doc.text, lines)
    behind: dict[int, set[str]] = defaultdict(set)
    above: dict[int, set[str]] = defaultdict(set)
    nowhere = []
    for finding in findings:
        first = finding.comment_rows[0]
        open_rows = (row for row in _rows(finding) if row not in closed and row not in magics)
        row = next((row for row in open_rows if _holds_code(lines[row - 1])), None)
        if row is not None:
            behind[row].add(finding.code)
        elif first - 1 not in closed and magics.get(first, True):
            above[first].add(finding.code)
        else:
            nowhere.append(finding)
    for row, codes in behind.items():
        lines[row - 1] = with_noqa(lines[row - 1], comments.get(row), codes, reason)
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


def _ends_of_rows(text: str, lines: Sequence[str]) -> tuple[set[int], dict[int, int]]:
    """Rows at whose end no comment is legal (within a string, or after a backslash), and the columns of comments."""
    closed: set[int] = set()
    comments: dict[int, int] = {}
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
                comments[token.start[0]] = token.start[1]
    except (tokenize.TokenError, SyntaxError):
        raise NoPlaceError("it cannot be tokenized") from None
    backslashes = {row for row, line in enumerate(lines, 1) if line.rstrip("\r\n").endswith("\\")}
    return closed | (backslashes - comments.keys()), comments


def _ends_of_preset_rows(doc: Document) -> tuple[set[int], dict[int, int]]:
    """Rows at whose end no comment is legal (a text goes on in the next one), and where comments that count begin."""
    preset = presets.read(doc)
    spans = (preset.span(node.start, node.end) for tree in preset.trees for node in tree.walk() if not node.parts)
    closed = {row for span in spans for row in range(span.row, span.end_row)}
    return closed, {comment.row: comment.column - 1 for comment in reversed(preset.suppressions())}


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
