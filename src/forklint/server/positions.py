"""Rows and columns as forklint counts them, characters from 1, and positions as the client does, units from 0.

A unit is two bytes of UTF-16 unless client and server agree on another encoding:
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#position.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from forklint.model import Span


def _units(text: str, encoding: str) -> int:
    """How long a text is for the client."""
    if text.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode(errors="surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def index_of(line: str, character: int, encoding: str) -> int:
    """The index in a line, without its end, of a position of the client; one behind the line is its end."""
    if line.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return min(max(character, 0), len(line))
    units = 0
    for index, one in enumerate(line):
        if units >= character:
            return index
        units += _units(one, encoding)
    return len(line)


def position(lines: Sequence[str], row: int, column: int, encoding: str) -> types.Position:
    """The client's position of a row and a column; one behind the last line is its end."""
    if row > len(lines):
        row, column = max(len(lines), 1), len(lines[-1]) + 1 if lines else 1
    line = lines[row - 1] if lines else ""
    return types.Position(max(row - 1, 0), _units(line[: max(column - 1, 0)], encoding))


def range_of(lines: Sequence[str], span: Span, encoding: str) -> types.Range:
    """The client's range of a span."""
    start = position(lines, span.row, span.column, encoding)
    return types.Range(start, position(lines, span.end_row, span.end_column, encoding))


def holds(outer: types.Range, inner: types.Range) -> bool:
    """Whether two ranges have a position in common; ends count."""
    return _key(inner.start) <= _key(outer.end) and _key(outer.start) <= _key(inner.end)


def _key(place: types.Position) -> tuple[int, int]:
    return place.line, place.character
