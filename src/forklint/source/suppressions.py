"""Comments that silence findings: of a line, or of a whole file.

``# noqa[: codes]`` and ``# forklint: ignore[codes]`` speak of a line; ``# flake8: noqa[: codes]`` and
``# forklint: ignore-file[codes]``, alone on a line anywhere, of the file. Ruff's ``# ruff: noqa`` is for Ruff alone: a
project that switches Ruff off in a file does not say that its workers are safe there.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

from forklint.model import Finding

CODE = r"[A-Z]+[0-9]+"
NOQA = re.compile(rf"#\s*noqa(?::\s*(?P<codes>{CODE}(?:[\s,]+{CODE})*))?", re.IGNORECASE)
IGNORE = re.compile(r"#\s*forklint:\s*ignore(?![\w-])(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
NOQA_FILE = re.compile(rf"#\s*flake8[:=]\s*noqa(?::\s?(?P<codes>{CODE}(?:[\s,]+{CODE})*))?", re.IGNORECASE)
IGNORE_FILE = re.compile(r"#\s*forklint:\s*ignore-file(?![\w-])(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
TOKENS = re.compile(rb"noqa|forklint", re.IGNORECASE)
"""A file without a match holds no suppression."""


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
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found.extend(read_comment(token.string, token.start[0], token.start[1], alone=alone))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def read_comment(comment: str, row: int, column: int, *, alone: bool) -> list[Suppression]:
    """Read one comment that starts in a row, at a column counted from 0."""
    found = []
    for pattern, whole_file in ((NOQA, False), (IGNORE, False), (NOQA_FILE, True), (IGNORE_FILE, True)):
        match = pattern.match(comment) if whole_file else pattern.search(comment)
        if match and (alone or not whole_file):
            codes = tuple(re.findall(r"[\w-]+", match["codes"] or ""))
            start, end = column + match.start() + 1, column + match.end() + 1
            above = alone and pattern is IGNORE
            found.append(Suppression(row, start, end, codes, above, match[0], whole_file))
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
