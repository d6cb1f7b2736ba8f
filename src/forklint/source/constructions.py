"""Which variables of a file may be given a call of a class, read from its bytes: too many rather than too few."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from forklint.knowledge.torch_api import RETURN_SELF

WORD = rb"[\w\x80-\xff]"
GAP = rb"(?:[\s\\(]|#[^\n]*\n)*"
CLOSED = rb"(?:[\s\\)]|#[^\n]*\n)*"
"""What may stand behind a name, before the dot or the bracket that belongs to it."""
OWNERS = rb"(?:" + WORD + rb"+" + CLOSED + rb"\.(?:[\s\\]|#[^\n]*\n)*)*"
CAPITAL = OWNERS + rb"_*[A-Z]" + WORD + rb"*"
GIVEN = re.compile(rb"=" + GAP + rb"(" + CAPITAL + rb")" + CLOSED + rb"\(")
AFTER_COMMA = re.compile(rb",[ \t]*" + CAPITAL + CLOSED + rb"\(")
SEVERAL = (
    re.compile(rb"\n[^=\n#,]*,[^=\n#]*=(?!=)"),  # x, y =
    re.compile(rb"\n[^=\n#(]*=[^=\n#(]*,[^=\n#(]*=(?!=)"),  # both = x, y =
    re.compile(rb"\n[^=\n#,]*[)\]][ \t]*=(?!=)"),  # the end of (x, y) =, if it began in a line above
    re.compile(rb"\\\r?\n[^=\n#]*=(?!=)"),
)
"""Lines that may assign to several variables what begins or ends in another line."""
CALLEE = re.compile(rb"(" + OWNERS + WORD + rb"+)" + CLOSED + rb"\(")
CALLED_CLASS = re.compile(rb"[A-Z\x80-\xff]" + WORD + rb"*" + CLOSED + rb"\(")
TARGET = re.compile(rb"\s*(" + WORD + rb"+)\s*(?::[^=;]*)?")
ATTRIBUTE = re.compile(rb"\s*" + WORD + rb"+(?:\s*\.\s*" + WORD + rb"+)+\s*(?::[^=;]*)?")
QUOTED = re.compile(rb"'[^'\n]*'|\"[^\"\n]*\"")
COMMENT = re.compile(rb"#[^\n]*")
NO_TARGETS = frozenset({b"else", b"try", b"finally", b"except"})
NAMES = re.compile(rb"(?<![.\w\x80-\xff])(?!\d)" + WORD + rb"+(?![.\w\x80-\xff])")
ANNOTATED = re.compile(rb"[ \t]*\*{0,2}(" + WORD + rb"+)[ \t]*:")
BRACKETS = re.compile(rb"[][(){}\"'#]")
TAKEN = re.compile(rb"[ \t]*(?:[(\[]|\.[ \t]*(" + WORD + rb"+)([ \t]*\()?)")
SELVES = frozenset(name.encode() for name in RETURN_SELF)
WITHIN = re.compile(rb"[.\w\x80-\xff]")
ALONE = rb"[ \t]*(?::[^=\n]+)?=(?!=)" + GAP + rb"(?!None\b|True\b|False\b)" + OWNERS + WORD + rb"+[ \t]*[\r\n#;)\\,=]"
AMONG = rb"[ \t)\]]*(?:,[^=\n(]*|[)\]][ \t]*)=(?!=)"
ONE_CALL = rb"(?![ \t]*" + OWNERS + WORD + rb"+\([^()\n]*\)[ \t]*(?:#[^\n]*)?\r?\n)"
ASSIGNED = re.compile(ALONE + rb"|(" + AMONG + rb")" + ONE_CALL + rb"|\\")
"""What stands behind a name that is given another's value."""
FARTHEST = 4000
"""Bytes of the longest assignment to several variables that is looked at."""


def constructions(data: bytes, classes: Collection[str]) -> dict[str, set[str]] | None:
    """Map each variable to the dotted names whose call may be its value; None if that cannot be told.

    Looked for are names with a capital, and those of ``classes``, which the file itself defines.
    """
    small = [name for name in classes if not name.lstrip("_")[:1].isupper()]
    patterns = [GIVEN]
    if small:
        patterns.append(
            re.compile(rb"=" + GAP + rb"(" + "|".join(map(re.escape, small)).encode() + rb")" + CLOSED + rb"\(")
        )
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
    places.update(_unpacked(data, plain=not small))
    for start in places:
        several = _several(data, start, classes)
        if several is None:
            return None
        for name in several[0]:
            found.setdefault(name, set()).update(several[1])
    return found


def may_be_alias(name: str, data: bytes) -> bool:
    """Whether a name may be another for something that has a name: ``name = other``, alone or among several."""
    word = name.encode()
    place = data.find(word)
    while place >= 0:
        match = ASSIGNED.match(data, place + len(word))
        if match and not WITHIN.match(data, place - 1 if place else len(data)):
            _, left = _left_of(data, match.end())
            if match[1] is None or not (_is_passed_on(left.rstrip(b"=")) or _is_annotated(left)):
                return True
        place = data.find(word, place + len(word))
    return False


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


METHOD = re.compile(rb"(" + WORD + rb"+)[ \t]*\(")


def _goes_on(data: bytes, place: int) -> bool:
    """Whether something is surely taken from what a call gives, or that is called; ``place`` is behind its bracket.

    It does not go on where all that is taken is the object itself, moved: ``Net(4).to(device)``.
    """
    while True:
        end = _closing(data, place)
        taken = TAKEN.match(data, end) if end else None
        if taken is None:
            return False
        if taken[1] not in SELVES:
            return True
        if not taken[2]:
            return False
        place = taken.end()


def _closing(data: bytes, place: int) -> int:
    """The place behind the bracket that closes the one before ``place``; 0 if that is not certain."""
    depth = 1
    for match in BRACKETS.finditer(data, place, place + FARTHEST):
        found = match[0]
        if found in b"([{":
            depth += 1
        elif found in b")]}":
            depth -= 1
            if not depth:
                return match.end()
        else:  # a bracket in a string or in a comment is none
            return 0
    return 0


def _text(name: bytes) -> str:
    if b"#" in name:
        name = COMMENT.sub(b"", name)
    return name.translate(None, b" \t\r\n\v\\)").decode(errors="replace")


def _left_of(data: bytes, place: int) -> tuple[int, bytes]:
    """Where the line of ``place`` begins, with those that backslashes join to it, and what stands before ``place``."""
    start = data.rfind(b"\n", 0, place) + 1
    while start > 1 and data[start - 2 : start - 1] in b"\\\r" and data[:start].endswith((b"\\\n", b"\\\r\n")):
        start = data.rfind(b"\n", 0, start - 1) + 1
    return start, data[start:place]


def _is_passed_on(left: bytes) -> bool:
    """Whether the ``=`` behind this text is a comparison's, or stands in brackets that the line opened."""
    if left[-1:] in b"=!<>:+-*/%&|^@" and left:
        return True
    if b'"' in left or b"'" in left:
        left = QUOTED.sub(b"", left)
    return _depth(left) > 0 and not any(mark in left for mark in (b'"', b"'", b";"))


def _unpacked(data: bytes, *, plain: bool) -> Iterator[int]:
    """Lines that may assign to several variables a tuple in which a later part is such a call.

    ``plain`` is said where all classes have a capital: then a line without one matters only if it goes on.
    """
    for match in AFTER_COMMA.finditer(data):
        start, left = _left_of(data, match.start())
        if b"=" in left and any(b"," in targets and not _is_passed_on(targets) for targets in _before_equals(left)):
            yield start
    for pattern in SEVERAL:
        for match in pattern.finditer(data):
            if plain and not _may_call_class(data, match.end()):
                continue
            start, left = _left_of(data, match.end() - 1)
            if not _is_passed_on(left) and (b"," in left or b"\\" in left or _depth(left) < 0):
                yield start


def _may_call_class(data: bytes, place: int) -> bool:
    """Whether the rest of a line has a capital, or goes on in the next."""
    stop = data.find(b"\n", place)
    rest = data[place:stop] if stop >= 0 else data[place:]
    return rest.lower() != rest or not rest.isascii() or _depth(rest) > 0 or any(mark in rest for mark in b"\\\"'")


def _before_equals(line: bytes) -> Iterator[bytes]:
    place = line.find(b"=")
    while place >= 0:
        yield line[:place]
        place = line.find(b"=", place + 1)


def _depth(text: bytes) -> int:
    """How many brackets a text opens and does not close; below zero if it closes more."""
    return sum(map(text.count, (b"(", b"[", b"{"))) - sum(map(text.count, (b")", b"]", b"}")))


def _several(data: bytes, start: int, classes: Collection[str]) -> tuple[set[str], set[str]] | None:
    """The names on the left of the last ``=`` of a statement, and the classes that are called right of the first.

    None if the statement began in a line above, or is too long.
    """
    whole = _statement(data, start)
    if whole is None:
        return None
    if CALLED_CLASS.search(whole) is None and not any(name.encode() in whole for name in classes):
        return set(), set()  # nine of ten: the names of all that is called take ten times as long
    callees = {_text(name) for name in CALLEE.findall(whole)}
    made = {one for one in callees if one in classes or one.rpartition(".")[2].lstrip("_")[:1].isupper()}
    if not made:
        return set(), made
    left = whole.partition(b"=")[0]
    if _depth(left) < 0 or not left.strip():
        return None
    names = {_text(name) for part in whole.split(b"=")[:-1] for name in NAMES.findall(part)}
    return names, made


def _statement(data: bytes, start: int) -> bytes | None:
    """The statement that begins at a place, or goes on there, to the end of its last line; None if it is too long."""
    end, depth = start, max(0, -_depth(data[start : data.find(b"=", start)]))  # what was opened above does not count
    while end < start + FARTHEST:
        stop = data.find(b"\n", end)
        row = data[end:stop] if stop >= 0 else data[end:]
        end = stop + 1 if stop >= 0 else len(data)
        plain = QUOTED.sub(b"", row) if b'"' in row or b"'" in row else row
        depth += _depth(plain.partition(b"#")[0])
        if stop < 0 or (depth <= 0 and not row.rstrip().endswith(b"\\")):
            return data[start:end]
    return None
