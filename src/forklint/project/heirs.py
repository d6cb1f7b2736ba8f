"""Which classes of a project may inherit from one of a name, read from the headers of classes without parsing.

It names too many rather than too few: a header in a string counts. Followed is what the file itself calls a base
otherwise (``import Words as Base``, ``Base = words.Words``); what other files call it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

LETTER = rb"[\w\x80-\xff]"
CLASS = re.compile(rb"class[ \t]+(%b+)[ \t]*(?:\[[^\]]*\][ \t]*)?\(" % LETTER)
WORD = re.compile(rb"%b+" % LETTER)
NAME = re.compile(rb"(\.?)[ \t]*(%b+)(?![ \t]*\.|%b)" % (LETTER, LETTER))
BEFORE = re.compile(rb"\.|%b" % LETTER)
COMMENT = re.compile(rb"#[^\n]*")
VALUE = re.compile(rb"[ \t]*(?::[^=\n]*)?=[\s(\\]*((?:%b|\.)+)" % LETTER)
SIGNS = (b" ", b"=", b":", b"\t")
"""What may follow a name that is assigned to."""
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" + bytes(range(128, 256))
LONGEST_NAME = 80
LONGEST = 1000
"""So many bytes are looked at for the bases of a class that has a comment among them."""

Heir = tuple[Path, str]
"""A file, and the name of a class in it."""


def heirs(project: Project, name: str) -> list[Heir]:
    """The classes with a base that is called by a name, in the order of the files."""
    memory = project.memory("classes by the names of their bases")
    if not memory:
        memory[""] = []
        for path in project.files:
            for heir, bases in _headers(project.data(path)):
                for base in bases:
                    memory.setdefault(base, []).append((path, heir))
    found: list[Heir] = memory.get(name, [])
    return found


def _headers(data: bytes) -> Iterator[tuple[str, set[str]]]:
    """Give the classes of a text that have bases, with the names by which these may be meant."""
    aliases: dict[bytes, set[bytes]] | None = None
    for header in CLASS.finditer(data):
        names = NAME.findall(_bases(data, header.end()))
        if names and aliases is None:
            aliases = _imported(data)
        found = {name for _, name in names}
        waiting = [name for dot, name in names if not dot]  # what is dotted is another file's
        while waiting and aliases is not None:
            name = waiting.pop()
            if name not in aliases:
                aliases[name] = set()
            if b"" not in aliases[name]:
                aliases[name] |= {b"", *_assigned(data, name)}
            new = aliases[name] - found - {b""}
            found |= new
            waiting += new
        if found:
            yield header[1].decode(errors="replace"), {name.decode(errors="replace") for name in found}


def _bases(data: bytes, start: int) -> bytes:
    """What stands between the parentheses of a header, and perhaps more."""
    bases = data[start : data.find(b":", start, start + LONGEST)]
    return COMMENT.sub(b"", data[start : start + LONGEST]).partition(b":")[0] if b"#" in bases else bases


def _imported(data: bytes) -> dict[bytes, set[bytes]]:
    """For each name that ``as`` gives, what it is given to."""
    found: dict[bytes, set[bytes]] = {}
    at = data.find(b" as ")
    while at >= 0:
        alias, named = WORD.match(data, at + 4), data[max(0, at - LONGEST_NAME) : at].rstrip()
        if alias is not None and named:
            found.setdefault(alias[0], set()).add(named[len(named.rstrip(LETTERS)) :])
        at = data.find(b" as ", at + 4)
    return found


def _assigned(data: bytes, name: bytes) -> Iterator[bytes]:
    """Give the last names of what is assigned to a name."""
    at = data.find(name)
    while at >= 0:
        end = at + len(name)
        if data[end : end + 1] in SIGNS and BEFORE.match(data, max(0, at - 1), at) is None:
            value = VALUE.match(data, end)
            if value is not None:
                yield value[1].rpartition(b".")[2]
        at = data.find(name, end)
