"""Places in a text that may open a handle which something keeps: told from bytes, too many rather than too few."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from forklint.facts.handles.shapes import BOX_VIEWS, UNBOXING
from forklint.knowledge.handles import Handle
from forklint.source import headings

WORD = rb"[\w\x80-\xff]"
WITH = re.compile(rb"\bwith[ \t]+(?:" + WORD + rb"+\.)*$")
"""What stands before a call in the same line, if ``with`` closes what the call opens."""
REST = re.compile(rb"[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)\s*(as\b|[:,]|\.[ \t]*(" + WORD + rb"+))?")
"""The arguments of a call, its parenthesis being open already, and what follows."""
TEXTS = re.compile(rb"\"[^\"\n\\]*\"|'[^'\n\\]*'")
LONGEST_CALL = 400


class OpenerTokens:
    """Looks for the names of a table of openers.

    Passed over are a call that ``with`` closes on the spot, one of which nothing is kept but what a plain method
    gives (``open(path).read()``), a comment, and an example behind ``>>>``. A row for names that end in some suffix
    counts only where that suffix is written in the file.
    """

    def __init__(self, table: Mapping[str, Handle]) -> None:
        self._rows: dict[bytes, list[Handle]] = {}
        for name, row in table.items():
            self._rows.setdefault(name.rpartition(".")[2].encode(), []).append(row)
        self.names = frozenset(self._rows)
        """The last parts of the names of openers."""

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Matches the name of any opener before a parenthesis."""
        names = b"|".join(sorted(map(re.escape, self._rows), reverse=True))
        return re.compile(rb"(?<![\w\x80-\xff])(" + names + rb")[^\S\n]*\(")

    def places(self, data: bytes, names: Iterable[bytes] | None = None) -> tuple[int, ...]:
        """Where something may be opened that is kept; ``names`` are those of openers that may be called, if known."""
        asked = self.names if names is None else names
        places = sorted(place for name in asked for place in headings.calls(data, name))
        matches = (self.pattern.match(data, place) for place in places)
        return tuple(match.start() for match in matches if match is not None and self._is_kept(data, match))

    def named(self, data: bytes, names: Iterable[bytes]) -> list[int]:
        """Where a text has some names of openers before a parenthesis."""
        places = sorted(place for name in names for place in headings.openings(data, name))
        return [place for place in places if self.pattern.match(data, place)]

    def _is_kept(self, data: bytes, match: re.Match[bytes]) -> bool:
        """Whether a call is code, its row is about this file, and what it opens may be open by the next statement."""
        rows = [row for row in self._rows[match[1]] if row.suffix.encode() in data]
        start = data.rfind(b"\n", 0, match.start()) + 1
        line = data[start : match.start()]
        if not rows or line.lstrip().startswith(b"#") or _is_example(data, start, line):
            return False
        return self._may_stay(data, match, line, rows)

    def _may_stay(self, data: bytes, match: re.Match[bytes], line: bytes, rows: list[Handle]) -> bool:
        """Whether what a call opens may be open and known by the next statement."""
        rest = REST.match(TEXTS.sub(b"''", data[match.end() : match.end() + LONGEST_CALL]))
        if rest is None or b"#" in rest.group():
            return True
        if rest[2]:
            name = rest[2].decode(errors="replace")
            return name in BOX_VIEWS | UNBOXING or any(name in row.derived for row in rows)
        return not (rest[1] and WITH.search(line) and all(row.with_closes for row in rows))


def _is_example(data: bytes, start: int, line: bytes) -> bool:
    """Whether a line that begins at ``start`` is one of an example in a docstring: behind ``>>>``, or going on."""
    if line.lstrip().startswith(b"..."):
        above = data.rfind(b"\n", 0, max(0, start - 1)) + 1
        return data[above:start].lstrip().startswith((b">>>", b"..."))
    return line.lstrip().startswith(b">>>")
