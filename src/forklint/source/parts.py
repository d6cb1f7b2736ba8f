"""A Python file cut into what its top level runs and what it defines there: bytes without strings and decorators.

The cut errs on the side of more: a definition's part goes on to the next definition. Nothing is cut before it is asked
for, and strings are looked for only in what is left: of most files that is a hundredth.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from pathlib import Path

from forklint.records import dataclass
from forklint.source.document import BOM
from forklint.source.outline import Import, decoded, imports_of

TOKEN = re.compile(
    rb'#[^\n]*|"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""|\'\'\'[^\'\\]*(?:(?:\\[\s\S]|\'(?!\'\'))[^\'\\]*)*\'\'\''
    rb'|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"|\'[^\'\\\n]*(?:\\[\s\S][^\'\\\n]*)*\'|["\']'
)
"""A comment, a string, or a quote that opens none. Each begins with a plain byte, which is quickly looked for."""
QUOTES = (b'"""', b"'''")
DECORATOR = re.compile(
    rb"\n[ \t]*@[A-Za-z_][\w.]*[ \t]*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?[ \t\r]*"
    rb"(?=\n\s*(?:@|class\b|def\b|async\b))"
)
HEAD = re.compile(rb"\n(?:class|(?:async[ \t]+)?def)[ \t]+[\w\x80-\xff]")
BLOCK = rb"[^\n]*(?:\n(?:[ \t\r)\]}#][^\n]*|(?=\n)))*"
"""The rest of a line, and those below it that are indented, blank, a comment or begin with a closing bracket."""
DEFINITION = re.compile(rb"\n(?:class|(?:async[ \t]+)?def)[ \t]+([\w\x80-\xff]+)" + BLOCK)
METHOD = re.compile(
    rb"\n([ \t]+)(?:async[ \t]+)?def[ \t]+[\w\x80-\xff][^\n]*(?:\n(?:\1[ \t\r)\]}][^\n]*|[ \t\r]*(?:(?=\n)|#[^\n]*)))*"
)
GUARD = re.compile(rb"\nif[ \t]+__name__[ \t]*==[ \t]*__main__[ \t]*:" + BLOCK)
MAIN = b"__main__"
BASES = re.compile(rb"\nclass[ \t]+[\w\x80-\xff]+[ \t]*\([^()]*\)[ \t]*:")
"""The head of a class, if nothing is called for its bases."""
RUNS = re.compile(rb"^(?:[^\n(]*\(|[ \t]*(?:for|with|while|async)\b)[^\n]*", re.MULTILINE)
"""A line of a class body that may call something."""
IMPORTING = re.compile(rb"\n[ \t]*(?:from[ \t.][^\n;]*?\bimport\b[ \t]*(?:\([^)]*\)|[^\n;]*)|import[ \t][^\n;]*)")
WORDS = re.compile(r"\.\s*\w+|[^\W\d]\w*")
BOUND = re.compile(rb"(?:\n|^)[ \t]*([\w\x80-\xff]+)[ \t]*[=,:]")
STATEMENT = re.compile(rb"\n(?=[^ \t\r\n)\]}])")
OPENING, CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
COMMON = frozenset([*keyword.kwlist, *dir(builtins), "self", "cls"])
"""Words that name nothing of a project, or it would be no project that people write."""


class UnclearTextError(Exception):
    """The strings of a text cannot be told from the rest."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some text of a file, without comments and without strings in which no code can stand."""

    text: bytes = field(repr=False)

    @cached_property
    def bare(self) -> frozenset[str]:
        """The names in it that stand for themselves: none behind a dot."""
        return frozenset(word for word in self._words if word[0] != ".") - COMMON

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names in it behind a dot."""
        return frozenset(word.lstrip(". \t\r\n") for word in self._words if word[0] == ".")

    @cached_property
    def _words(self) -> set[str]:
        return set(WORDS.findall(self.text.decode(errors="replace")))


@dataclass(frozen=True)
class Cut:
    """A text, cut at its left margin."""

    text: bytes = field(repr=False)
    top: bytes = field(repr=False)
    """What is left without functions and methods; of a class, the lines that call something."""
    heads: dict[str, list[int]]
    """Where classes and functions begin, and what looks like them in strings, by name."""


class Parts:
    """One file. What is asked of it raises UnclearTextError."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self._data = data.removeprefix(BOM)
        self._known: dict[str, tuple[Part, ...]] = {}

    @cached_property
    def top(self) -> Part:
        """What may run at the top level when a child imports the file: imports and the main guard apart."""
        text = IMPORTING.sub(b"\n", self._cut.top)
        return Part(GUARD.sub(b"\n", text) if MAIN in text else text)

    @cached_property
    def imports(self) -> dict[str, set[Import]]:
        """What each name may be bound to by an import, anywhere, in a string too."""
        return imports_of(self._data)

    @cached_property
    def names(self) -> frozenset[str]:
        """What it may define, give a value at the top level, or import."""
        return self.top.bare.union(self._cut.heads, self.imports)

    def under(self, name: str) -> tuple[Part, ...]:
        """The classes and functions of the top level that have a name, and the statements there that mention it."""
        if name not in self._known:
            try:
                defined = self._defined(name)
            except UnclearTextError:
                self._cut = _cut(_strip(b"\n" + self._data))
                defined = self._defined(name)
            self._known[name] = (*defined, *self.mentioning.get(name, ()))
        return self._known[name]

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that classes and functions of the top level may have."""
        return frozenset(self._cut.heads)

    @cached_property
    def mentioning(self) -> dict[str, list[Part]]:
        """The statements of the top level by the names in them; by a name that is imported, if they may change it."""
        found: dict[str, list[Part]] = {}
        imported = self.imports.keys()
        for text in _statements(self.top.text):
            part = Part(text)
            for name in part.bare - imported | imported & decoded(BOUND.findall(text)):
                found.setdefault(name, []).append(part)
        return found

    @cached_property
    def _cut(self) -> Cut:
        data = self._data
        if b"\f" in data or (b"\r" in data and b"\r" in data.replace(b"\r\n", b"")):
            raise UnclearTextError
        try:
            return _cut(b"\n" + data)
        except UnclearTextError:
            return _cut(_strip(b"\n" + data))

    def _defined(self, name: str) -> list[Part]:
        cut = self._cut
        return [Part(_undecorated(_strip(_definition(cut.text, place)))) for place in cut.heads.get(name, ())]


def _cut(text: bytes) -> Cut:
    classes: list[bytes] = []
    heads: dict[str, list[int]] = {}

    def cut(definition: re.Match[bytes]) -> bytes:
        heads.setdefault(definition[1].decode(errors="replace"), []).append(definition.start())
        found = _whole(definition[0])
        if found.startswith(b"\nclass"):
            classes.append(METHOD.sub(_cut_method, found))
        return b"\ndef"

    outside = _undecorated(_strip(DEFINITION.sub(cut, text)))
    inside = BASES.sub(b"", _undecorated(_strip(b"".join(classes))))
    return Cut(text, outside + b"\n" + b"\n".join(RUNS.findall(inside)), heads)


def _cut_method(method: re.Match[bytes]) -> bytes:
    _whole(method[0])
    return b"\ndef"


def _whole(text: bytes) -> bytes:
    """The text, unless a string of several lines seems to begin or end in it; raises UnclearTextError."""
    if text.count(b'"""') % 2 or text.count(b"'''") % 2:
        raise UnclearTextError
    return text


def _definition(text: bytes, place: int) -> bytes:
    """What stands from a place on up to the next definition that is in no string."""
    end = place
    counts = [0, 0]
    for head in HEAD.finditer(text, place + 1):
        counts = [n + text.count(quotes, end, head.start()) for n, quotes in zip(counts, QUOTES, strict=True)]
        end = head.start()
        if not any(count % 2 for count in counts):
            return text[place:end]
    return text[place:]


def _strip(text: bytes) -> bytes:
    """The text without comments and strings; raises UnclearTextError."""
    return TOKEN.sub(_without, text)


def _undecorated(text: bytes) -> bytes:
    return DECORATOR.sub(b"", text) if b"@" in text else text


def _statements(text: bytes) -> Iterator[bytes]:
    """Give the statements of a text: what stands in brackets or is indented belongs to the one above."""
    waiting: list[bytes] = []
    depth = 0
    for piece in STATEMENT.split(text):
        waiting.append(piece)
        depth += sum(map(piece.count, OPENING)) - sum(map(piece.count, CLOSING))
        if depth <= 0:
            yield b"\n".join(waiting)
            waiting, depth = [], 0
    yield b"\n".join(waiting)


def _without(match: re.Match[bytes]) -> bytes:
    """Nothing for a comment, and for a string in which no braces hold code; its line ends stay out too."""
    found = match[0]
    if len(found) == 1 and found != b"#":
        raise UnclearTextError
    if b"{" in found and found[:1] != b"#":
        start = match.start()
        if b"f" in match.string[max(start - 2, 0) : start].lower():
            return found.replace(b"\n", b" ")
    return MAIN if found[1:-1] == MAIN else b""
