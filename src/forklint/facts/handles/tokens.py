"""Places in a text that may open a handle which something keeps: told from bytes, too many rather than too few."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from forklint.facts.handles.shapes import BOX_VIEWS, UNBOXING
from forklint.knowledge.handles import Handle

WORD = rb"[\w\x80-\xff]"
WITH = re.compile(rb"\bwith[ \t]+(?:" + WORD + rb"+\.)*$")
"""What stands before a call in the same line, if ``with`` closes what the call opens."""
REST = re.compile(rb"[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)\s*(as\b|[:,]|\.[ \t]*(" + WORD + rb"+))?")
"""The arguments of a call, its parenthesis being open already, and what follows."""
TEXTS = re.compile(rb"\"[^\"\n\\]*\"|'[^'\n\\]*'")
LONGEST_CALL = 400
LONGEST_NAME = 80
TAIL = 6
"""Letters at the end of a name by which it is looked for first."""


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
        self._tails = frozenset(name[-TAIL:] for name in self._rows)
        self._lengths = tuple({len(tail) for tail in self._tails})
        self._hits: set[bytes] = set()
        self._misses: set[bytes] = set()

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Matches the name of any opener before a parenthesis."""
        names = b"|".join(sorted(map(re.escape, self._rows), reverse=True))
        return re.compile(rb"(?<![\w\x80-\xff])(" + names + rb")[^\S\n]*\(")

    def places(self, data: bytes) -> tuple[int, ...]:
        """Where something may be opened that is kept: a text is cut at each parenthesis, and the ends are looked at."""
        parts = data.split(b"(")
        tails = {part[-TAIL:] for part in parts}
        for tail in tails - self._misses - self._hits:
            (self._hits if self._may_end_a_name(tail) else self._misses).add(tail)
        return () if tails.isdisjoint(self._hits) else tuple(self._places(data, parts))

    def _may_end_a_name(self, tail: bytes) -> bool:
        """Whether the last letters before a parenthesis may be those of a name, blanks behind it left out."""
        word = tail.rstrip()
        if len(word) == len(tail):
            return any(tail[-length:] in self._tails for length in self._lengths)
        blanks = tail[len(word) :]
        return b"\n" not in blanks and any(name.endswith(word) or word.endswith(name) for name in self._rows)

    def _places(self, data: bytes, parts: list[bytes]) -> Iterator[int]:
        place = 0
        for part in parts:
            if part[-TAIL:] in self._hits:
                end = place + len(part)
                match = self.pattern.search(data, max(place, end - LONGEST_NAME), end + 1)
                if match is not None and self._is_kept(data, match):
                    yield match.start()
            place += len(part) + 1

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
