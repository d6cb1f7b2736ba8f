"""Suppression comments written into lines and taken out of them; everything else on the line stays as it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from forklint.model import Edit, Span
from forklint.source.suppressions import CODE, IGNORE, NOQA, Suppression

CODE_FIRST = re.compile(rf"{CODE}\b", re.IGNORECASE)


def line_end(line: str) -> str:
    """The characters that end a line; none on a last line without them."""
    return line[len(line.rstrip("\r\n")) :]


def without(lines: Sequence[str], comment: Suppression, codes: Collection[str]) -> Edit:
    """Take codes out of a comment of these lines (with their ends), and the comment away with its last code.

    Codes of other tools, other comments on the line and the reason stay; a line with nothing else on it goes.
    """
    line = lines[comment.row - 1]
    body, end = line.rstrip("\r\n"), line_end(line)
    before, after = body[: comment.column - 1], body[comment.end_column - 1 :]
    left = [code for code in comment.codes if code not in codes]
    if left:
        body = before + _with_codes(comment.text, left) + after
    else:
        rest = re.sub(r"^[\s:,-]+", "", after)
        rest = rest if rest.startswith("#") or not rest else f"# {rest}"
        body = (before + rest).rstrip()
    gone = not body.strip()
    return Edit(Span(comment.row, 1, comment.row + 1, 1), "" if gone else body + end)


def _with_codes(comment: str, codes: list[str]) -> str:
    """A comment with other codes in the place of its own, parted as its own are."""
    start, close = (comment.index("[") + 1, "]") if "[" in comment else (_codes_start(comment), "")
    old = comment[start : len(comment) - len(close)]
    mark = re.search(r"\w(\s*,\s*|\s+)\w", old)
    return comment[:start] + (mark[1] if mark else ", ").join(codes) + close


def _codes_start(comment: str) -> int:
    match = re.match(r".*noqa\s*:\s*", comment, re.IGNORECASE)
    return match.end() if match else len(comment)


def with_noqa(line: str, comment: int | None, codes: Collection[str], reason: str) -> str:
    """Add ``# noqa: CODES REASON`` to a line, or the codes to the first ``# noqa: ...`` of its comment, sorted.

    ``comment`` is the column, from 0, where the line's comment begins, if it has one: what looks like one before that
    stands in a string. A comment that has codes keeps what is written after them. A reason that begins like a code is
    set off by a dash, so that no reader takes it for one.
    """
    body, end = line.rstrip("\r\n"), line_end(line)
    match = re.compile(NOQA).search(body, comment) if comment is not None else None
    if match and match["codes"]:
        merged = sorted({*re.findall(CODE, match["codes"], re.IGNORECASE), *codes})
        return body[: match.start("codes")] + ", ".join(merged) + body[match.end("codes") :] + end
    words = f"- {reason}" if CODE_FIRST.match(reason) else reason
    return f"{body.rstrip()}  # noqa: {', '.join(sorted(codes))}{' ' if words else ''}{words}{end}"


def with_ignored(line: str, codes: Collection[str]) -> str | None:
    """Add codes to the ``# forklint: ignore[...]`` that stands alone on a line; None if none does."""
    match = re.match(IGNORE, line.lstrip(" \t\f"))
    if not match or not match["codes"]:
        return None
    start = len(line) - len(line.lstrip(" \t\f"))
    merged = sorted({*re.findall(r"[\w-]+", match["codes"]), *codes})
    return line[: start + match.start("codes")] + ", ".join(merged) + line[start + match.end("codes") :]
