"""A Python file cut into what its top level runs and what it defines there: bytes without strings and decorators.

The cut errs on the side of more: a definition's part goes on to the next definition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from forklint.source.outline import Import, imports_of

TOKEN = re.compile(
    rb"#[^\n]*"
    rb'|[A-Za-z]{0,2}(?:"""(?:[^\\]|\\[\s\S])*?"""|\'\'\'(?:[^\\]|\\[\s\S])*?\'\'\''
    rb'|"(?:[^"\\\n]|\\[\s\S])*"|\'(?:[^\'\\\n]|\\[\s\S])*\')'
)
DECORATOR = re.compile(
    rb"\n[ \t]*@[A-Za-z_][\w.]*[ \t]*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?[ \t\r]*"
    rb"(?=\n\s*(?:@|class\b|def\b|async\b))"
)
HEAD = re.compile(rb"\n(?:class|(?:async[ \t]+)?def)[ \t]+([\w\x80-\xff]+)")
DEFINITION = re.compile(rb"(?:async[ \t]+)?def\b")
BASES = re.compile(rb"\A[ \t]*\([^()]*\)[ \t]*:")
"""The bases of a class, if nothing is called for them."""
RUNS = re.compile(rb"\(|^(?:for|with|while|async)\b")
"""In a line of a class body: it may call something."""
OUTSIDE = re.compile(rb"\n[^ \t\r\n)\]}]")
IMPORTING = re.compile(rb"\n[ \t]*(?:from[ \t.][^\n;]*?\bimport\b[ \t]*(?:\([^)]*\)|[^\n;]*)|import[ \t][^\n;]*)")
WORDS = re.compile(rb"(?!\d)[\w\x80-\xff]+")


@dataclass(frozen=True, eq=False)
class Part:
    """Some text of a file, without comments and without strings in which no code can stand."""

    text: bytes = field(repr=False)

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(word.decode(errors="replace") for word in set(WORDS.findall(self.text)))


@dataclass(frozen=True, eq=False)
class Parts:
    """One file."""

    top: Part
    """What may run at the top level, imports apart."""
    defined: dict[str, list[Part]]
    """Classes and functions of the top level."""
    imports: dict[str, set[Import]]

    @cached_property
    def names(self) -> frozenset[str]:
        """What it defines or imports."""
        return frozenset(self.defined.keys() | self.imports.keys())


def parts_of(data: bytes) -> Parts | None:
    """Cut a file; None if its strings cannot be told from the rest."""
    if b"\r" in data.replace(b"\r\n", b"") or b"\f" in data:
        return None
    text = TOKEN.sub(_without, b"\n" + data)
    rest = KEPT.sub(b"", text)
    if b'"' in rest or b"'" in rest:
        return None
    text = DECORATOR.sub(b"", text)
    heads = list(HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)] if heads else []
    top = [text[: heads[0].start()] if heads else text]
    defined: dict[str, list[Part]] = {}
    for head, end in zip(heads, ends, strict=True):
        defined.setdefault(head[1].decode(errors="replace"), []).append(Part(text[head.start() : end]))
        if text.startswith(b"\nclass", head.start()):
            top.append(_body(text[head.end() : end]))
        behind = OUTSIDE.search(text, head.end(), end)
        if behind:
            top.append(text[behind.start() : end])
    return Parts(Part(IMPORTING.sub(b"\n", b"".join(top))), defined, imports_of(text))


KEPT = re.compile(
    rb'[A-Za-z]{0,2}(?:"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\[\s\S])*"|\'(?:[^\'\\\n]|\\[\s\S])*\')'
)


def _body(text: bytes) -> bytes:
    """What may start something when a class is made: lines of its body that call something, outside its methods."""
    kept: list[bytes] = []
    depth: int | None = None
    for line in BASES.sub(b"", text, count=1).split(b"\n"):
        code = line.lstrip(b" \t")
        if not code.strip():
            continue
        indent = len(line) - len(code)
        if depth is not None and (indent > depth or code[:1] in b")]}"):
            continue
        depth = indent if DEFINITION.match(code) else None
        if depth is None and RUNS.search(code):
            kept.append(line)
    return b"\n" + b"\n".join(kept)


def _without(match: re.Match[bytes]) -> bytes:
    """Nothing for a comment, and for a string in which no braces hold code; its line ends stay out too."""
    found = match[0]
    return found if found[:1] != b"#" and (b"{" in found or b"}" in found) and b"f" in found[:2].lower() else b""
