"""What ``from module import *`` may take from a file, judged by bytes: by its ``__all__``, or by what it may bind."""

from __future__ import annotations

import re
from functools import cache

ALL = b"__all__"
WRITTEN_OUT = re.compile(
    rb"^__all__[ \t]*=[ \t]*[\[(]((?:[\s,]|#[^\n]*|\"\w+\"|'\w+')*)[\])][ \t]*(?:#[^\n]*)?\r?$", re.M
)
COMMENT = re.compile(rb"#[^\n]*")
QUOTED = re.compile(rb"[\"'](\w+)[\"']")
STAR = re.compile(rb"import[\s\\]*\*")


def may_have_star(data: bytes) -> bool:
    """Whether a text may say ``from module import *``."""
    return b"*" in data and STAR.search(data) is not None


def may_give(data: bytes, name: str) -> bool:
    """Whether a text may give a name to who imports all that it has; one that itself imports so may give any.

    A list ``__all__`` decides; without one, every name without a leading underscore is given (the Python language
    reference, "The import statement").
    """
    if not name.isascii():
        return True
    word = name.encode()
    if ALL in data:
        listed = written_out(data)
        if listed is not None:
            return word in listed
    elif name.startswith("_"):
        return False
    return (word in data and _binding(word).search(data) is not None) or may_have_star(data)


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
    """Matches a name where it may be bound: it is no attribute, and neither `as` nor another word follows."""
    whole = rb"(?<![.\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(word)
    package = rb"\bimport\b(?:\\\r?\n|[^#\n])*" + whole + rb"[ \t]*\."
    return re.compile(whole + rb"(?![ \t]*(?:\.|(?!in\b|if\b)\w))|" + package)
