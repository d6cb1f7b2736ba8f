"""What ``from module import *`` takes from a file, judged by bytes: what ``__all__`` lists, else what it may bind.

Without ``__all__`` every name without a leading underscore is taken (the Python language reference, "The import
statement").
"""

from __future__ import annotations

import re
from functools import cache

ALL = b"__all__"
WRITTEN_OUT = re.compile(
    rb"^__all__[ \t]*=[ \t]*[\[(]((?:[\s,]|#[^\n]*|\"\w+\"|'\w+')*)[\])][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE
)
COMMENT = re.compile(rb"#[^\n]*")
QUOTED = re.compile(rb"[\"'](\w+)[\"']")
STAR = re.compile(rb"import[\s\\]*\*")


def may_have_star(data: bytes) -> bool:
    """Whether a text may say ``from module import *``."""
    return b"*" in data and STAR.search(data) is not None


def hides(data: bytes, name: str) -> bool:
    """Whether a text without a known ``__all__`` surely keeps a name to itself."""
    return name.startswith("_") and ALL not in data


def may_bind(data: bytes, name: str) -> bool:
    """Whether a text may bind a name other than by a star."""
    word = name.encode()
    return not name.isascii() or (word in data and _binding(word).search(data) is not None)


def written_out(data: bytes) -> frozenset[bytes] | None:
    """The names of ``__all__``; None if they are not all written in one list, or changed elsewhere."""
    found = WRITTEN_OUT.search(data) if data.count(ALL) == 1 else None
    if found is None:
        return None
    names = COMMENT.sub(b"", found[1])
    shape = b"".join(QUOTED.sub(b"_", names).split())
    return None if b"__" in shape else frozenset(QUOTED.findall(names))  # strings without a comma are one


@cache
def _binding(word: bytes) -> re.Pattern[bytes]:
    """Matches a name where it may be bound: it is no attribute, and neither ``as`` nor another word follows."""
    whole = rb"(?<![.\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(word)
    package = rb"\bimport\b(?:\\\r?\n|[^#\n])*" + whole + rb"[ \t]*\."
    return re.compile(whole + rb"(?![ \t]*(?:\.|(?!in\b|if\b)\w))|" + package)
