"""Comments that silence findings: of a line, or of a whole file.

``# noqa[: codes]`` and ``# forklint: ignore[codes]`` speak of a line; ``# flake8: noqa[: codes]`` and
``# forklint: ignore-file[codes]``, alone on a line anywhere, of the file. Ruff's ``# ruff: noqa`` is for Ruff alone: a
project that switches Ruff off in a file does not say that its workers are safe there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field

from forklint.model import Finding
from forklint.records import dataclass
from forklint.source.comments import Comment, comments

CODE = r"[A-Z]+[0-9]+"
NOQA = rf"(?i)#\s*noqa(?::\s*(?P<codes>{CODE}(?:[\s,]+{CODE})*))?"
IGNORE = r"(?i)#\s*forklint:\s*ignore(?![\w-])(?:\[(?P<codes>[^\]]*)\])?"
NOQA_FILE = rf"(?i)#\s*flake8[:=]\s*noqa(?::\s?(?P<codes>{CODE}(?:[\s,]+{CODE})*))?"
IGNORE_FILE = r"(?i)#\s*forklint:\s*ignore-file(?![\w-])(?:\[(?P<codes>[^\]]*)\])?"
"""Compiled when there is a comment to read."""
TOKENS = (b"noqa", b"forklint")
"""A file with none of them, in letters of any size, holds no suppression."""
LETTERS = b"fkl"
"""With them, in letters of any size, each code of a rule begins."""


def may_be_in(data: bytes) -> bool:
    """Whether a text may hold a suppression, judged by bytes alone."""
    small = data.lower()
    return any(token in small for token in TOKENS)


def may_name(data: bytes, names: Sequence[bytes]) -> bool:
    """Whether a text may hold a suppression that names a rule, by its code or by one of ``names``, in small letters."""
    small = data.lower()
    if b"forklint" in small:
        return LETTERS in small or any(name in small for name in names)
    return b"noqa" in small and LETTERS in small  # such a comment names codes alone


@dataclass
class Suppression:
    """One comment: where it stands and what it silences (no codes: everything)."""

    row: int
    column: int
    end_column: int
    codes: tuple[str, ...]
    alone: bool
    """Alone on its line: then it speaks of the line below as well."""
    text: str
    whole_file: bool = False
    used: set[str] = field(default_factory=set)

    def silences(self, code: str, name: str) -> bool:
        """Whether a finding of this code or name falls under the comment; remembers that it did."""
        if not self.codes:
            return True
        for written in self.codes:
            if code == written.upper() or name == written.lower():
                self.used.add(written)
                return True
        return False


def find(text: str) -> list[Suppression]:
    """Find the suppression comments of a source text; none if it cannot be tokenized."""
    if not re.search(r"#.*(noqa|forklint)", text, re.IGNORECASE):
        return []
    return read(comments(text), text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def read(written: Iterable[Comment], lines: Sequence[str]) -> list[Suppression]:
    """Read the comments of a text that has these lines."""
    return [found for one in written for found in _read(one, alone=not lines[one.row - 1][: one.column].strip())]


def _read(comment: Comment, *, alone: bool) -> list[Suppression]:
    found = []
    for pattern, whole_file in ((NOQA, False), (IGNORE, False), (NOQA_FILE, True), (IGNORE_FILE, True)):
        look = re.match if whole_file else re.search
        match = look(pattern, comment.text)
        if match and (alone or not whole_file):
            codes = tuple(re.findall(r"[\w-]+", match["codes"] or ""))
            start, end = comment.column + match.start() + 1, comment.column + match.end() + 1
            above = alone and pattern == IGNORE
            found.append(Suppression(comment.row, start, end, codes, above, match[0], whole_file))
    return found


def by_row(suppressions: list[Suppression]) -> dict[int, list[Suppression]]:
    """Index suppressions by the rows that they speak of."""
    rows: dict[int, list[Suppression]] = {}
    for suppression in suppressions:
        if suppression.whole_file:
            continue
        rows.setdefault(suppression.row, []).append(suppression)
        if suppression.alone:
            rows.setdefault(suppression.row + 1, []).append(suppression)
    return rows


def of_file(suppressions: list[Suppression]) -> list[Suppression]:
    """Those that speak of the whole file."""
    return [suppression for suppression in suppressions if suppression.whole_file]


def silenced(finding: Finding, rows: dict[int, list[Suppression]], whole: list[Suppression]) -> bool:
    """Whether a comment, of a row or of the whole file, silences a finding; each one that does remembers it."""
    first, last = finding.comment_rows
    comments = [comment for row in range(first, last + 1) for comment in rows.get(row, ())]
    silencing = [one for one in (*comments, *whole) if one.silences(finding.code, finding.name)]  # each one is marked
    return bool(silencing)
