"""What must be done to a text before LibCST gets it."""

from __future__ import annotations

import re

from forklint.source.lines import apply_edits, edits_between, split_lines

__all__ = ["apply_edits", "edits_between", "split_lines", "without_blank_tail"]


def without_blank_tail(text: str) -> str:
    """Cut the blank lines at the end, of which LibCST drops some if there are spaces in them; no edit needs them."""
    end = re.compile(r"[ \t\f]*(?:\r\n|\r|\n)?").match(text, len(text.rstrip(" \t\f\r\n")))
    return text[: end.end()] if end else text
