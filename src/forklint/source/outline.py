"""The imports of a Python file, read from its bytes: too many (those in strings) rather than too few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from forklint.records import dataclass

WORD = rb"[\w\x80-\xff]"
"""A byte of a name: those of letters outside ASCII too."""
IMPORT = re.compile(rb"import\b[ \t]*")
SOURCE = re.compile(rb"[ \t]*from\b[ \t]*([\w. \t\x80-\xff]+?)[ \t]*")
NAMES = re.compile(rb"\((?:[^)#]+|#[^\n]*)*\)|[^\n;#]*")
ALIAS = re.compile(rb"(" + WORD + rb"[\w.\x80-\xff]*)(?:[ \t]+as[ \t]+(" + WORD + rb"+))?")
COMMENT = re.compile(rb"#[^\n]*")


@dataclass(frozen=True)
class Import:
    """What one import binds to a name: a module, or an attribute of one."""

    module: str
    attribute: str = ""
    level: int = 0


def decoded(names: list[bytes]) -> frozenset[str]:
    """Names as text."""
    return frozenset(name.decode(errors="replace") for name in set(names))


def imports_of(data: bytes) -> dict[str, set[Import]]:
    """What each name may be bound to by an import anywhere in a text; stars under ``*``."""
    found: dict[str, set[Import]] = {}
    text = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ") if b"\\" in data else data
    for match in IMPORT.finditer(text):
        head = text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip()
        if head:
            head = head[max(head.rfind(b":"), head.rfind(b";")) + 1 :]
        source = SOURCE.fullmatch(head) if head else None
        names = NAMES.match(text, match.end())
        if names is None or (head and source is None):
            continue  # only looks like an import
        for alias, one in _bound_by(source[1] if source else None, names[0]):
            found.setdefault(alias, set()).add(one)
    return found


@lru_cache(maxsize=4096)
def _bound_by(source: bytes | None, names: bytes) -> tuple[tuple[str, Import], ...]:
    """What an import statement binds; many a file has the same one."""
    found = _plain(names) if source is None else _from(source, names)
    return tuple((alias.decode(errors="replace"), one) for alias, one in found)


def _from(written: bytes, names: bytes) -> Iterator[tuple[bytes, Import]]:
    source = b"".join(written.split()).decode(errors="replace")
    module = source.lstrip(".")
    level = len(source) - len(module)
    if b"#" in names:
        names = COMMENT.sub(b"", names)
    if b"*" in names:
        yield b"*", Import(module, "*", level)
    for name, alias in ALIAS.findall(names):
        yield alias or name, Import(module, name.decode(errors="replace"), level)


def _plain(names: bytes) -> Iterator[tuple[bytes, Import]]:
    for part in names.split(b","):
        one = ALIAS.match(part.strip())
        if one:
            target = one[1] if one[2] else one[1].partition(b".")[0]
            yield one[2] or target, Import(target.decode(errors="replace"))
