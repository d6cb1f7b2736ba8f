"""Which variables of a file may be given a call of a class, read from its bytes: too many rather than too few."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

WORD = rb"[\w\x80-\xff]"
GAP = rb"(?:[\s\\(]|#[^\n]*\n)*"
OWNERS = rb"(?:" + WORD + rb"+\s*\.\s*)*"
CAPITAL = OWNERS + rb"_*[A-Z]" + WORD + rb"*"
GIVEN = re.compile(rb"=" + GAP + rb"(" + CAPITAL + rb")\s*\(")
AFTER_COMMA = re.compile(rb",[ \t]*" + CAPITAL + rb"\s*\(")
UNPACKED = re.compile(rb"\n[ \t(\[]*" + OWNERS + WORD + rb"+[ \t]*,[^=\n]*=(?!=)")
CALLEE = re.compile(rb"(" + OWNERS + WORD + rb"+)\s*\(")
TARGET = re.compile(rb"\s*(" + WORD + rb"+)\s*(?::.*)?", re.DOTALL)
ATTRIBUTE = re.compile(rb"\s*" + WORD + rb"+(?:\s*\.\s*" + WORD + rb"+)+\s*(?::.*)?", re.DOTALL)
QUOTED = re.compile(rb"'[^'\n]*'|\"[^\"\n]*\"")
NO_TARGETS = frozenset({b"else", b"try", b"finally"})
NAMES = re.compile(rb"(?<![.\w\x80-\xff])(?!\d)" + WORD + rb"+(?![.\w\x80-\xff])")
ANNOTATED = re.compile(rb"[ \t]*\*{0,2}(" + WORD + rb"+)[ \t]*:")
BRACKETS = re.compile(rb"[][(){}\"'#]")
GOES_ON = re.compile(rb"[ \t]*[.(\[]")
FARTHEST = 4000
"""Bytes of the longest assignment to several variables that is looked at."""


def constructions(data: bytes, classes: Collection[str]) -> dict[str, set[str]] | None:
    """Map each variable to the dotted names whose call may be its value; None if that cannot be told.

    Looked for are names with a capital, and those of ``classes``, which the file itself defines.
    """
    small = [name for name in classes if not name.lstrip("_")[:1].isupper()]
    patterns = [GIVEN]
    if small:
        patterns.append(re.compile(rb"=" + GAP + rb"(" + "|".join(map(re.escape, small)).encode() + rb")\s*\("))
    found: dict[str, set[str]] = {}
    places: set[int] = set()
    for pattern in patterns:
        for match in pattern.finditer(data):
            start, left = _left_of(data, match.start())
            variable = TARGET.fullmatch(left)
            if _goes_on(data, match.end()):
                continue
            if variable and variable[1] not in NO_TARGETS:
                found.setdefault(_text(variable[1]), set()).add(_text(match[1]))
            elif not _is_passed_on(left) and not ATTRIBUTE.fullmatch(left):
                places.add(start)
    places.update(_unpacked(data))
    for start in places:
        several = _several(data, start, classes)
        if several is None:
            return None
        for name in several[0]:
            found.setdefault(name, set()).update(several[1])
    return found


def may_be_alias(name: str, data: bytes) -> bool:
    """Whether a name may be another for something that has a name: ``name = other``, alone or among several."""
    for match in _assigned(name).finditer(data):
        _, left = _left_of(data, match.end())
        if match[1] is None or not (_is_passed_on(left.rstrip(b"=")) or _is_annotated(left)):
            return True
    return False


@cache
def _assigned(name: str) -> re.Pattern[bytes]:
    word = re.escape(name).encode()
    target = word + rb"(?<![.\w\x80-\xff]" + word + rb")"  # a pattern that begins with letters is found faster
    alone = (
        rb"[ \t]*(?::[^=\n]+)?=(?!=)" + GAP + rb"(?!None\b|True\b|False\b)" + OWNERS + WORD + rb"+[ \t]*[\r\n#;)\\,=]"
    )
    several = rb"[ \t)\]]*(?:,[^=\n(]*|[)\]][ \t]*)=(?!=)"
    one_call = rb"(?![ \t]*" + OWNERS + WORD + rb"+\([^()\n]*\)[ \t]*(?:#[^\n]*)?\r?\n)"
    return re.compile(target + rb"(?:" + alone + rb"|(" + several + rb")" + one_call + rb"|\\)")


def _is_annotated(left: bytes) -> bool:
    """Whether a line begins as a parameter or a variable with a type does, which is no target among several."""
    head = ANNOTATED.match(left)
    return head is not None and head[1] not in NO_TARGETS


def called_on(variable: str, data: bytes) -> frozenset[str]:
    """At least the names that a text calls as methods of a variable."""
    word = variable.encode() + b"."
    called, place = set(), data.find(word)
    while place >= 0:
        match = METHOD.match(data, place + len(word))
        if match and not WITHIN.match(data, place - 1 if place else len(data)):
            called.add(_text(match[1]))
        place = data.find(word, place + len(word))
    return frozenset(called)


WITHIN = re.compile(rb"[.\w\x80-\xff]")
METHOD = re.compile(rb"(" + WORD + rb"+)[ \t]*\(")


def _goes_on(data: bytes, place: int) -> bool:
    """Whether something is surely taken from what a call gives, or that is called; ``place`` is behind its bracket."""
    depth = 1
    for match in BRACKETS.finditer(data, place, place + FARTHEST):
        found = match[0]
        if found in b"([{":
            depth += 1
        elif found in b")]}":
            depth -= 1
            if not depth:
                return GOES_ON.match(data, match.end()) is not None
        else:  # a bracket in a string or in a comment is none
            return False
    return False


def _text(name: bytes) -> str:
    return b"".join(name.split()).decode(errors="replace")


def _left_of(data: bytes, place: int) -> tuple[int, bytes]:
    """Where the line of ``place`` begins, and what stands before ``place`` in it."""
    start = data.rfind(b"\n", 0, place) + 1
    return start, data[start:place]


def _is_passed_on(left: bytes) -> bool:
    """Whether the ``=`` behind this text is a comparison's, or stands in brackets that the line opened."""
    if left[-1:] in b"=!<>:+-*/%&|^@" and left:
        return True
    if b'"' in left or b"'" in left:
        left = QUOTED.sub(b"", left)
    opened = sum(map(left.count, (b"(", b"[", b"{"))) - sum(map(left.count, (b")", b"]", b"}")))
    return opened > 0 and b'"' not in left and b"'" not in left


def _unpacked(data: bytes) -> Iterator[int]:
    """Lines that may assign to several variables a tuple in which a later part is such a call."""
    for match in AFTER_COMMA.finditer(data):
        start, left = _left_of(data, match.start())
        targets, equals, _ = left.partition(b"=")
        if equals and b"," in targets and not _is_passed_on(targets):
            yield start
    for match in UNPACKED.finditer(data):
        _, left = _left_of(data, match.end() - 1)
        if not _is_passed_on(left):
            yield match.start() + 1


def _several(data: bytes, start: int, classes: Collection[str]) -> tuple[set[str], set[str]] | None:
    """The names on the left of the last ``=`` of a statement, and the classes that are called right of the first.

    None if the statement began in a line above, or is too long.
    """
    line = data[start : start + FARTHEST]
    end, depth = 0, 0
    for row in line.split(b"\n"):
        end += len(row) + 1
        depth += sum(map(row.count, (b"(", b"[", b"{"))) - sum(map(row.count, (b")", b"]", b"}")))
        if depth <= 0 and not row.rstrip().endswith(b"\\"):
            break
    else:
        if len(line) == FARTHEST:
            return None
    whole = line[:end]
    callees = {_text(name) for name in CALLEE.findall(whole)}
    made = {one for one in callees if one in classes or one.rpartition(".")[2].lstrip("_")[:1].isupper()}
    if not made:
        return set(), made
    left = whole.partition(b"=")[0]
    if left.count(b")") > left.count(b"(") or not left.strip():
        return None
    names = {_text(name) for part in whole.split(b"=")[:-1] for name in NAMES.findall(part)}
    return names, made
