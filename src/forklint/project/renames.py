"""What else a project calls something: subclasses, imports as another name, assignments, judged by text alone.

Enough to pass over the calls, and the files, that cannot mean it. It gives too many names rather than too few.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

CALL = rb"(?:[\s)\\]*\(|\s*,)"
"""What follows a name that is called, or given to a partial."""
AS = re.compile(rb"[ \t]+as[ \t]+([\w\x80-\xff]+)")
WORD = re.compile(rb"[\w\x80-\xff]+")
TARGET = re.compile(rb"(?:^|[;:=(])[ \t]*([\w\x80-\xff]+)[ \t]*(?::[^=\n]*)?$")
SEVERAL = re.compile(rb"^[ \t(\[]*([\w\x80-\xff]+[ \t]*,[\w\x80-\xff, \t]*)[)\]]*[ \t]*=[^=]")
DOTTED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_." + bytes(range(128, 256))
OPENING = b" \t\r\n\\("
ENDS = (b"\n", b"\r", b"#", b";", b"=", b",", b")", b"\\")
"""What may follow a name that is given another: not the call, the attribute or the operator that begins a value."""
LONGEST = 200
"""So many bytes are looked at for what an assignment gives a name."""
GRAM = 5
"""Words are looked for by parts of so many letters that several of them share."""


def names_for(project: Project, words: frozenset[str]) -> frozenset[str]:
    """Some names and all that the project may call the same: a subclass, ``as``, ``x = Name``, or a partial of it."""
    memory = project.memory("other names")
    if words not in memory:
        known: set[str] = set()
        new = set(words)
        while new:
            known |= new
            classes = {name for word in new for _, name in project.families.with_base(word)}
            new = (classes | _renamed(project, {word.encode() for word in new})) - known
        memory[words] = frozenset(known)
    names: frozenset[str] = memory[words]
    return names


def may_call(project: Project, words: frozenset[str], data: bytes) -> bool:
    """Whether a text may call one of some names, or what the project calls the same, or give it to a partial.

    The other files of the project are read only if the text calls none of the names themselves.
    """
    memory = project.memory("texts that may call")
    if (words, data) not in memory:
        memory[words, data] = _calls(words, data) or _calls(names_for(project, words) - words, data)
    return bool(memory[words, data])


def _calls(names: frozenset[str], data: bytes) -> bool:
    return any(
        _begins(data, match.start())
        for part, patterns in _patterns(names)
        if part in data  # found faster than a pattern, and a pattern that begins with letters faster than others
        for name, pattern in patterns
        if name in data
        for match in pattern.finditer(data)
    )


@cache
def _patterns(names: frozenset[str]) -> list[tuple[bytes, list[tuple[bytes, re.Pattern[bytes]]]]]:
    groups = by_part(name.encode() for name in names).items()
    return [(part, [(word, re.compile(word + CALL)) for word in words]) for part, words in groups]


def _begins(data: bytes, at: int) -> bool:
    """Whether a name begins at a place, and not the one of a function or class that is defined there."""
    near = max(0, at - 6)
    return WORD.match(data, max(near, at - 1), at) is None and not data.endswith((b"def ", b"class "), near, at)


def _renamed(project: Project, words: set[bytes]) -> set[str]:
    """What the files of a project call some words by ``as`` and by assignment."""
    found: set[bytes] = set()
    groups = by_part(words).items()
    for path in project.files:
        data = project.data(path)
        for part, some in groups:
            for word in some if part in data else ():
                found.update(_given_in(data, word))
    return {name.decode(errors="replace") for name in found}


def by_part(words: Iterable[bytes]) -> dict[bytes, list[bytes]]:
    """Some words by a few texts that several of them hold: ``oader`` for DataLoader, create_loader and GraphLoader."""
    left = set(words)
    found: dict[bytes, list[bytes]] = {}
    while left:
        grams = Counter(word[at : at + GRAM] for word in left for at in range(len(word) - GRAM + 1))
        best, count = max(sorted(grams.items()), key=lambda item: item[1], default=(b"", 0))
        if count < 2:
            return found | {word: [word] for word in sorted(left)}
        found[best] = sorted(word for word in left if best in word)
        left.difference_update(found[best])
    return found


def _given_in(data: bytes, word: bytes) -> Iterator[bytes]:
    """Give what a text calls a word by ``as`` and by assignment."""
    for match in _whole(word).finditer(data):
        if WORD.match(data, max(0, match.start() - 1), match.start()) is None:
            yield from _given(data, match.start(), match.end())


@cache
def _whole(word: bytes) -> re.Pattern[bytes]:
    return re.compile(word + rb"(?![\w\x80-\xff])")


def _given(data: bytes, start: int, end: int) -> Iterator[bytes]:
    """Give the names that ``as`` or an assignment gives to the word at a place, or to a partial of it."""
    alias = AS.match(data, end)
    if alias is not None:
        yield alias[1]
    rest = data[end : end + LONGEST].lstrip(b" \t")
    if (rest and not rest.startswith(ENDS)) or rest.startswith(b"=="):
        return
    before = data[max(0, start - LONGEST) : start].rstrip(DOTTED)
    head = before.rstrip(OPENING)
    if head.endswith(b"partial"):
        before, rest = head.rstrip(DOTTED), b""
        head = before.rstrip(OPENING)
    line = head.rpartition(b"\n")[2]
    if line.endswith(b"=") and not rest.startswith(b",") and (b"(" in before[len(head) :] or not rest.startswith(b")")):
        target = TARGET.search(line[:-1].rstrip(b" \t:"))
        if target is not None:
            yield target[1]
    several = SEVERAL.match(line + b" ")
    if several is not None:
        yield from WORD.findall(several[1])
