"""Excerpts of code for a page: coloured, with the place of a finding marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from forklint.model import Span
from forklint.records import dataclass
from forklint.report.sources import Sources

BEFORE, AFTER = 2, 1
"""Lines shown before and after the finding's own."""
MOST_ROWS = 12
LONGEST = 200
"""Characters of a line that are shown: a table may be written on one line."""
WHOLE_FILES = 400_000
"""Characters of files that are coloured from their beginning; beyond that, an excerpt is coloured by itself, and one
that begins within a string of several lines has wrong colours."""
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}
COLORS = (
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "n"),
    (Comment, "c"),
    (Name.Decorator, "f"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Builtin, "b"),
)


@dataclass(frozen=True)
class Piece:
    """A part of a line in one colour."""

    text: str
    color: str = ""
    """A class of the style sheet."""
    is_marked: bool = False


@dataclass(frozen=True)
class Row:
    """A line of an excerpt."""

    number: int
    pieces: tuple[Piece, ...]


class Excerpts:
    """Makes the excerpts of one page."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._left = WHOLE_FILES
        self._colored: dict[tuple[str, int | None], list[list[Piece]]] = {}

    def around(self, path: str, cell: int | None, span: Span) -> list[Row]:
        """The lines around a finding, its own marked; none if the file cannot be read or has changed meanwhile."""
        lines = self._sources.lines(path, cell)
        if span.row > len(lines):
            return []
        first = max(1, span.row - BEFORE)
        last = min(len(lines), span.end_row + AFTER, first + MOST_ROWS - 1)
        while first < span.row and not lines[first - 1].strip():
            first += 1
        while last > span.row and not lines[last - 1].strip():
            last -= 1
        indent = _indent(lines[first - 1 : last])
        rows = []
        for number, line in self._rows(path, cell, first, last):
            pieces = line
            if span.row <= number <= span.end_row:
                pieces = list(_marked(pieces, *_columns(span, number, lines[number - 1])))
            at = span.column - 1 - indent if number == span.row else 0
            rows.append(Row(number, tuple(_cut(_without(pieces, indent), at))))
        return rows

    def line(self, path: str, cell: int | None, row: int) -> list[Row]:
        """One line; none if there is no such line."""
        if not 0 < row <= len(self._sources.lines(path, cell)):
            return []
        indent = _indent(self._sources.lines(path, cell)[row - 1 : row])
        rows = self._rows(path, cell, row, row)
        return [Row(number, tuple(_cut(_without(pieces, indent), 0))) for number, pieces in rows]

    def _rows(self, path: str, cell: int | None, first: int, last: int) -> Iterator[tuple[int, list[Piece]]]:
        lines = self._sources.lines(path, cell)
        key = (path, cell)
        if key not in self._colored:
            size = sum(map(len, lines))
            if size > self._left:
                yield from enumerate(colored(lines[first - 1 : last], path), first)
                return
            self._left -= size
            self._colored[key] = colored(lines, path)
        yield from enumerate(self._colored[key][first - 1 : last], first)


def colored(lines: Sequence[str], path: str) -> list[list[Piece]]:
    """Lines as pieces, without their ends."""
    lexer = get_lexer_by_name(LANGUAGES.get(Path(path).suffix, "python"))
    rows: list[list[Piece]] = [[] for _ in lines]
    ends, total = [], 0
    for line in lines:
        total += len(line)
        ends.append(total)
    row = 0
    for at, kind, text in lexer.get_tokens_unprocessed("".join(lines)):
        begin, end = at, at + len(text)
        while begin < end:
            while row < len(ends) - 1 and begin >= ends[row]:
                row += 1
            stop = min(end, ends[row])
            part = text[begin - at : stop - at].rstrip("\r\n")
            if part:
                rows[row].append(Piece(part, _color(kind)))
            begin = stop
    return rows


def _color(kind: Any) -> str:
    return next((color for parent, color in COLORS if kind in parent), "")


def _columns(span: Span, number: int, line: str) -> tuple[int, int]:
    """The first column, from 0, and the one after the last that a span has on a row; not the indent of later rows."""
    begin = span.column - 1 if number == span.row else len(line) - len(line.lstrip())
    return begin, span.end_column - 1 if number == span.end_row else 10**9


def _marked(pieces: Sequence[Piece], begin: int, end: int) -> Iterator[Piece]:
    at = 0
    for piece in pieces:
        text = piece.text
        cuts = sorted({0, min(max(begin - at, 0), len(text)), min(max(end - at, 0), len(text)), len(text)})
        for left, right in pairwise(cuts):
            yield Piece(text[left:right], piece.color, is_marked=begin <= at + left < end)
        at += len(text)


def _indent(lines: Sequence[str]) -> int:
    """How many characters of indent all lines have in common, so that phones need not show them."""
    starts = sorted(line[: len(line) - len(line.lstrip())] for line in lines if line.strip())
    if not starts:
        return 0
    first, last = starts[0], starts[-1]
    return next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))


def _without(pieces: Sequence[Piece], indent: int) -> Iterator[Piece]:
    """A line without so many of its first characters."""
    at = 0
    for piece in pieces:
        text = piece.text[max(0, indent - at) :]
        at += len(piece.text)
        if text:
            yield Piece(text, piece.color, piece.is_marked)


def _cut(parts: Iterable[Piece], around: int) -> Iterator[Piece]:
    """The part of a line that is shown: about the given column."""
    pieces = list(parts)
    length = sum(len(piece.text) for piece in pieces)
    if length <= LONGEST:
        yield from pieces
        return
    start = 0 if around < LONGEST // 2 else around - LONGEST // 4
    at = 0
    if start:
        yield Piece("…", "c")
    for piece in pieces:
        text = piece.text[max(0, start - at) : max(0, start + LONGEST - at)]
        at += len(piece.text)
        if text:
            yield Piece(text, piece.color, piece.is_marked)
    if length > start + LONGEST:
        yield Piece("…", "c")
