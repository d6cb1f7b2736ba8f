"""Texts as lines, and the edits that turn one text into another."""

from __future__ import annotations

import re

from forklint.model import Edit, Span


def split_lines(text: str) -> list[str]:
    """Cut a text into lines with their ends, where Python cuts them (``str.splitlines`` also cuts at form feeds)."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def edits_between(old: str, new: str) -> tuple[Edit, ...]:
    """The edits, by whole lines, that turn one text into another."""
    import difflib  # noqa: PLC0415 - most runs change nothing

    before, after = split_lines(old), split_lines(new)
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    matcher = difflib.SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False
    )
    edits = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            span = Span(start + i1 + 1, 1, start + i2 + 1, 1)
            edits.append(Edit(span, "".join(after[start + j1 : start + j2])))
    return tuple(edits)


def common(one: list[str], other: list[str]) -> int:
    """How many lines at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def apply_edits(text: str, edits: tuple[Edit, ...]) -> str:
    """Apply edits by whole lines, as ``edits_between`` makes them."""
    lines = split_lines(text)
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        lines[edit.span.row - 1 : edit.span.end_row - 1] = [edit.content]
    return "".join(lines)
