"""Comments that silence findings: ``# noqa[: codes]`` and ``# forklint: ignore[codes]``."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

CODE = r"[A-Z]+[0-9]+"
NOQA = re.compile(rf"#\s*noqa(?::\s*(?P<codes>{CODE}(?:[\s,]+{CODE})*))?", re.IGNORECASE)
IGNORE = re.compile(r"#\s*forklint:\s*ignore(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
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
                found.extend(_read_comment(token.string, token.start[0], token.start[1], alone=alone))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _read_comment(comment: str, row: int, column: int, *, alone: bool) -> list[Suppression]:
    found = []
    for pattern, may_stand_above in ((NOQA, False), (IGNORE, True)):
        match = pattern.search(comment)
        if match:
            codes = tuple(re.findall(r"[\w-]+", match["codes"] or ""))
            start, end = column + match.start() + 1, column + match.end() + 1
            found.append(Suppression(row, start, end, codes, alone and may_stand_above, match[0]))
    return found


def by_row(suppressions: list[Suppression]) -> dict[int, list[Suppression]]:
    """Index suppressions by the rows that they speak of."""
    rows: dict[int, list[Suppression]] = {}
    for suppression in suppressions:
        rows.setdefault(suppression.row, []).append(suppression)
        if suppression.alone:
            rows.setdefault(suppression.row + 1, []).append(suppression)
    return rows
