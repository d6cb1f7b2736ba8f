"""The comments of Python source, and a line without its own."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence

from forklint.records import dataclass


@dataclass(frozen=True)
class Comment:
    """One comment: its row from 1, its column from 0, and what is written from there to the end of the line."""

    row: int
    column: int
    text: str


def comments(text: str) -> Iterator[Comment]:
    """Give the comments of a source text, as far as it can be cut into tokens."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                yield Comment(*token.start, token.string)
    except (tokenize.TokenError, SyntaxError):
        return


def uncommented(lines: Sequence[str], row: int, found: Callable[[], Iterable[Comment]]) -> str:
    """A line, given its row, without its comment and without the space before that or at its end.

    ``found`` gives all comments of the text. It is asked only if the line may have one: to find them takes as long as
    the text is.
    """
    line = lines[row - 1]
    if "#" in line:
        line = line[: next((one.column for one in found() if one.row == row), len(line))]
    return line.rstrip()
