"""What a Python file defines, cut out of its bytes: for screens that look at every file of a project.

No tree is made, and no table of symbols: a file takes a tenth of a millisecond. What stands in a string or comment
counts as well, so there is too much rather than too little; nothing may be concluded from it but that something is
nowhere. Where a class or function ends is not known exactly: it reaches to the next head that stands no deeper, and in
no string.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

DEFINES = (b"def ", b"class ")
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" + bytes(range(128, 256))
ONLY_LETTERS = bytes(byte if byte in LETTERS else ord(" ") for byte in range(256))
LETTER = rb"[\w\x80-\xff]"
"""A byte of a name: those of letters outside ASCII too."""
WORD = re.compile(LETTER + rb"+")
NAME = re.compile(rb" *(" + LETTER + rb"+)")
ALIAS = re.compile(rb" *(" + LETTER + rb"+) *(?=[,)\n;#]|\Z)")
"""What an import calls something, after ``as``; prose goes on with another word."""
BASES = re.compile(rb"\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*:|:|(?=[\[(]))")
"""What follows the name of a class: its bases, none, or something that is not read in detail."""
END = re.compile(rb":\s*(?:#[^\n]*)?\n")
GIVEN = re.compile(rb"= *(?:" + LETTER + rb"+\.)*(" + LETTER + rb"+) *(?=[\n#;]|\Z)")
"""A name, dotted or not, that is all that something is given."""
ALONE = re.compile(rb"= *([a-zA-Z_\x80-\xff][\w\x80-\xff.]*) *(?:[\n#;]|\Z)")
"""The same, roughly, and faster: the dotted name."""
TARGETS = re.compile(rb"(?:^|[\n;=]) *((?:" + LETTER + rb"+ *= *)*" + LETTER + rb"+) *(?::[^=\n]*)?$")
BLANKS = bytes.maketrans(b"\t\f\r", b"  \n")
QUOTES = (b'"""', b"'''")
CLASS, FUNCTION = b"class ", b"def "
NONE: frozenset[bytes] = frozenset()
LONGEST_HEAD = 4_000
"""Bytes of the longest head of a class of which more is read than its name."""
LONGEST_NAME = 80
BEFORE_CALL = b" \t\r\f\v\n\\)"
"""What may stand between a name and the parenthesis of its call."""
ENDING = 6
"""Letters at the end of a name by which calls of it are found."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a class or function."""

    name: bytes
    indent: int
    start: int
    """Where it begins in the file: at its name."""
    stop: int
    """Where it surely has ended."""
    bases: frozenset[bytes] = frozenset()
    """Every word of a class's list of bases."""

    def holds(self, other: Head) -> bool:
        """Whether another head may stand in its body."""
        return self.start < other.start < self.stop and self.indent < other.indent


def normal(data: bytes) -> bytes:
    """The same text with plain blanks and line ends, and continued lines joined; each byte keeps its place."""
    if b"\r" in data or b"\t" in data or b"\f" in data:
        data = data.replace(b"\\\r\n", b"   ").translate(BLANKS)
    return data.replace(b"\\\n", b"  ") if b"\\\n" in data else data


def classes(data: bytes) -> tuple[Head, ...]:
    """The classes of a text that ``normal`` gave."""
    return tuple(_ended(data, list(_heads(data, CLASS))))


def methods(data: bytes, owners: Collection[Head], names: tuple[bytes, ...]) -> dict[bytes, set[bytes]]:
    """Which of some names the classes of a text may define as methods: the names of classes with them."""
    found: dict[bytes, set[bytes]] = {}
    for one in _heads(data, FUNCTION, names):
        for owner in owners if one.name in names else ():
            if owner.holds(one):
                found.setdefault(owner.name, set()).add(one.name)
    return found


def functions(data: bytes) -> tuple[Head, ...]:
    """The functions of a text that ``normal`` gave, but for methods."""
    owners = classes(data)
    heads = _ended(data, list(_heads(data, FUNCTION)), owners)
    return tuple(head for head in heads if not any(owner.holds(head) for owner in owners))


def words(data: bytes) -> frozenset[bytes]:
    """Every word of a text."""
    return frozenset(data.translate(ONLY_LETTERS).split())  # four times faster than a pattern


def call_endings(data: bytes) -> set[bytes]:
    """How the names end that a text calls: the last bytes before each parenthesis."""
    return {part.rstrip(BEFORE_CALL)[-ENDING:] for part in data.split(b"(")}


def by_ending(names: Collection[bytes], known: Iterable[bytes]) -> dict[bytes, list[bytes]]:
    """Some names by those endings of calls with which they may be meant, of those that are known."""
    found: dict[bytes, list[bytes]] = {}
    for name in names:
        if len(name) >= ENDING:
            found.setdefault(name[-ENDING:], []).append(name)
    short = tuple(name for name in names if len(name) < ENDING)
    for ending in known if short else ():
        if ending.endswith(short):
            found.setdefault(ending, []).extend(name for name in short if ending.endswith(name))
    return found


def calls(data: bytes, name: bytes) -> Iterator[int]:
    """Give the places where a name stands that is called; what is defined by it is no call."""
    return (place for place in openings(data, name) if not data.endswith(DEFINES, max(0, place - 6), place))


def openings(data: bytes, name: bytes) -> Iterator[int]:
    """Give the places where a name stands before a parenthesis."""
    for match in _call_of(name).finditer(data):
        place = match.start()
        if not (place and data[place - 1] in LETTERS):
            yield place


@cache
def _call_of(name: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(name) + rb"[\s\\)]*\(")  # begins with letters: ten times faster than a look behind


def called(data: bytes) -> set[bytes]:
    """All names that a text calls."""
    parts = (part.rstrip(BEFORE_CALL) for part in data.split(b"("))
    owners = ((part, part.rstrip(LETTERS)) for part in parts)
    return {part[len(owner) :] for part, owner in owners if not owner.endswith(DEFINES)}


def owners(data: bytes) -> set[bytes]:
    """The words of whose methods a text calls some: ``Store`` of ``Store.open(path)``."""
    parts = (part.rstrip(BEFORE_CALL).rstrip(LETTERS).rstrip(BEFORE_CALL) for part in data.split(b"("))
    found = (part[:-1].rstrip(BEFORE_CALL) for part in parts if part.endswith(b"."))
    return {part[len(part.rstrip(LETTERS)) :] for part in found}


def renamed(data: bytes) -> frozenset[bytes]:
    """The names to which a text may give others: ``a`` of ``import a as b`` and of ``b = module.a``."""
    given = (name.rpartition(b".")[2] for name in ALONE.findall(data))
    return frozenset(given).union(map(_last_word, data.split(b" as ")[:-1]))


def new_names(data: bytes, old: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Give those of some names to which a text gives others, each with the other."""
    parts = data.split(b" as ")
    for before, after in pairwise(parts):
        new = ALIAS.match(after)
        if new and _last_word(before) in old:
            yield _last_word(before), new[1]
    for match in GIVEN.finditer(data):
        if match[1] in old:
            place = match.start()
            new = TARGETS.search(data, max(data.rfind(b"\n", 0, place), 0), place)
            yield from ((match[1], name) for name in WORD.findall(new[1] if new else b""))


def _last_word(text: bytes) -> bytes:
    parts = text[-LONGEST_NAME:].rsplit(None, 1)
    found = WORD.findall(parts[-1]) if parts else []
    return found[-1] if found else b""


def _heads(data: bytes, keyword: bytes, names: tuple[bytes, ...] = ()) -> Iterator[Head]:
    """Give what follows a keyword that begins a line, one of some names if there are any; it has no end yet."""
    parts = data.split(keyword)
    place = 0
    for before, after in pairwise(parts):
        place += len(before) + len(keyword)
        if names and not after.startswith(names) and after[:1] != b" ":
            continue
        line = before[before.rfind(b"\n") + 1 :].removeprefix(b"\xef\xbb\xbf")
        if line and not line.isspace() and line.strip(b" ") != b"async":
            continue
        name = NAME.match(after)
        bases = _bases(after, name.end()) if name and keyword is CLASS else NONE
        if name and bases is not None:
            yield Head(name[1], len(line) - len(line.lstrip(b" ")), place + name.start(1), len(data), bases)


def _bases(text: bytes, place: int) -> frozenset[bytes] | None:
    """The words between the name of a class and its body; None if it is no class that is named there."""
    found = BASES.match(text, place)
    if found is None:
        return None
    words = (found[1] or b"") if found.group() else _until_body(text, found.end())
    return frozenset(WORD.findall(words)) if words else NONE


def _ended(data: bytes, heads: list[Head], others: Collection[Head] = ()) -> Iterator[Head]:
    """Give the heads with their ends: where the next one begins that stands no deeper, and in no string."""
    marks = sorted([*heads, *others], key=lambda head: head.start)
    if len(marks) > 1:
        marks = [mark for mark, is_text in zip(marks, _are_in_strings(data, marks), strict=True) if not is_text]
    for head in heads:
        later = (mark.start for mark in marks if mark.start > head.start and mark.indent <= head.indent)
        yield Head(head.name, head.indent, head.start, next(later, len(data)), head.bases)


def _are_in_strings(data: bytes, marks: Collection[Head]) -> Iterator[bool]:
    """Say of each place whether it may stand in a string of several lines, by the quotes above it."""
    used = [quotes for quotes in QUOTES if quotes in data]
    counts, place = [0] * len(used), 0
    for mark in marks:
        counts = [count + data.count(quotes, place, mark.start) for count, quotes in zip(counts, used, strict=True)]
        place = mark.start
        yield any(count % 2 for count in counts)


def _until_body(data: bytes, place: int) -> bytes:
    end = END.search(data, place, place + LONGEST_HEAD)
    return data[place : end.start() if end else place + LONGEST_HEAD]
