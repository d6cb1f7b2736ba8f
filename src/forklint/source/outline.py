"""The outline of a Python file, without a tree of it: its classes, what they surely have, what is called on ``self``.

The compiler's own tables of symbols say which classes and functions there are, in which line each begins and which
names its body binds; that costs two thirds of a tree (see ``document.surely_parses``) and nothing of it stays. The rest
is read from the bytes by regular expressions, each of which errs on the side that is said beside it. So a screen may
conclude from an outline that nothing is wrong with a file, never that something is.
"""

from __future__ import annotations

import re
import symtable
import warnings
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property, lru_cache

from forklint.records import dataclass

WORD = rb"[\w\x80-\xff]"
"""A byte of a name: those of letters outside ASCII too."""
HEAD = re.compile(rb"\n([ \t]*)(?:class|(?:async[ \t]+)?def)[ \t]+(" + WORD + rb"+)")
TOP_HEAD = re.compile(rb"\n()(?:class|(?:async[ \t]+)?def)[ \t]+(" + WORD + rb"+)")
NESTED = re.compile(rb"\n[ \t]+class[ \t]")
GIVEN = re.compile(rb"\n[ \t]+(" + WORD + rb"+)[ \t]*(?::|=(?!=))")
BASES = re.compile(rb"\s*(?:\(([^()#]*)\))?\s*:")
BASE = re.compile(r"([^\W\d][\w.]*)(?:\[[^\[\]]*\])?")
CALLED = re.compile(rb"(?:self|cls)\.(" + WORD + rb"+)[ \t]*\(")
CALLED_ON_KEPT = re.compile(rb"self\.(" + WORD + rb"+)\.(" + WORD + rb"+)[ \t]*\(")
KEPT = re.compile(rb"self\.(" + WORD + rb"+)[ \t]*=[ \t]*((?:" + WORD + rb"+\.)*_*[A-Z]" + WORD + rb"*)\(")
STORED = re.compile(rb"self\.(" + WORD + rb"+)(?:[ \t]*:[^=\n]+)?[ \t]*=(?!=)")
IMPORT = re.compile(rb"import\b[ \t]*")
SOURCE = re.compile(rb"[ \t]*from\b[ \t]*([\w. \t\x80-\xff]+?)[ \t]*")
NAMES = re.compile(rb"\([^)#]*(?:#[^\n]*\n[^)#]*)*\)|[^\n;#]*")
ALIAS = re.compile(rb"(" + WORD + rb"[\w.\x80-\xff]*)(?:[ \t]+as[ \t]+(" + WORD + rb"+))?")
COMMENT = re.compile(rb"#[^\n]*")
NAMELESS = frozenset({"lambda", "genexpr", "listcomp", "setcomp", "dictcomp", "top"})
"""What the compiler calls scopes that no statement names."""


@dataclass(frozen=True)
class Import:
    """What one import binds to a name: a module, or an attribute of one."""

    module: str
    attribute: str = ""
    level: int = 0


@dataclass(frozen=True, eq=False)
class ClassOutline:
    """One class."""

    name: str
    column: int
    bases: tuple[str, ...] | None
    """Its bases as dotted names, ``Generic`` for ``Generic[T]``; None if they are written in another way."""
    names: frozenset[str]
    """Names that its body surely binds."""
    data: bytes = field(repr=False)
    start: int
    """Where in ``data`` it begins."""
    head: int
    """Where its body begins."""
    stop: int
    """Where it surely has ended."""

    @cached_property
    def called(self) -> frozenset[str]:
        """At least the names that are called on ``self`` and ``cls``."""
        return decoded(CALLED.findall(self.data, self.start, self.stop))

    @cached_property
    def stored(self) -> frozenset[str]:
        """At most the names that are plainly assigned through ``self``."""
        return decoded(STORED.findall(self.body))

    @cached_property
    def called_on_kept(self) -> dict[str, set[str]]:
        """At least the names that are called on what ``self`` keeps, by its attribute."""
        found: dict[str, set[str]] = {}
        for attribute, name in CALLED_ON_KEPT.findall(self.data, self.start, self.stop):
            found.setdefault(attribute.decode(errors="replace"), set()).add(name.decode(errors="replace"))
        return found

    @cached_property
    def kept(self) -> dict[str, set[str]]:
        """At least the callees with a capital whose call is plainly kept on ``self``, by the attribute."""
        found: dict[str, set[str]] = {}
        for attribute, callee in KEPT.findall(self.data, self.start, self.stop):
            found.setdefault(attribute.decode(errors="replace"), set()).add(callee.decode(errors="replace"))
        return found

    @cached_property
    def body(self) -> bytes:
        """Text of its body; may stop short of its end."""
        end = re.compile(rb"\n[ \t]{0,%d}[^ \t\r\n#]" % self.column).search(self.data, self.head, self.stop)
        return self.data[self.head : end.start() if end else self.stop]


@dataclass(frozen=True, eq=False)
class Outline:
    """One file."""

    data: bytes = field(repr=False)
    classes: tuple[ClassOutline, ...]
    """Every class, in the order of the text."""
    imports: dict[str, set[Import]]
    """What each name may be bound to by an import, anywhere: too much (imports in strings) rather than too little."""
    imported: frozenset[str]
    """Names that imports at the top level surely bind."""
    assigned: frozenset[str]
    """At least those names of bases that the top level gives a value which is neither a class nor imported."""
    mentioned: frozenset[str]
    """Every name that the top level binds or reads."""

    @property
    def has_star(self) -> bool:
        """Whether ``from module import *`` may stand in it."""
        return "*" in self.imports

    @cached_property
    def by_name(self) -> dict[str, list[ClassOutline]]:
        """The classes by name."""
        found: dict[str, list[ClassOutline]] = {}
        for one in self.classes:
            found.setdefault(one.name, []).append(one)
        return found


def decoded(names: list[bytes]) -> frozenset[str]:
    """Names as text."""
    return frozenset(name.decode(errors="replace") for name in set(names))


def read(text: str, data: bytes) -> Outline | None:
    """The outline of a source text, given also as bytes in UTF-8; None if it is refused or written unusually."""
    if b"\f" in data or (b"\r" in data and b"\r" in data.replace(b"\r\n", b"")):
        return None  # lines and columns would have to be counted as the compiler does
    if data.startswith((b"class", b"def", b"async")):
        return None  # heads are looked for behind the end of a line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            top = symtable.symtable(text, "", "exec")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return None
    is_nested = NESTED.search(data) is not None
    heads = list((HEAD if is_nested else TOP_HEAD).finditer(data)) if b"class" in data else []
    tables = {(t.get_name(), t.get_lineno()): t for t in _below(top, deep=is_nested)}
    confirmed = [(head, tables[key]) for head, key in _placed(data, heads) if key in tables]
    found = sum(table.get_type() == "class" for table in tables.values())
    classes = tuple(_classes(data, confirmed))
    if found != len(classes):
        return None
    imports = imports_of(data)
    names = frozenset(top.get_identifiers())
    imported = frozenset(name for name in imports if name in names and top.lookup(name).is_imported())
    roots = {base.partition(".")[0] for one in classes for base in one.bases or ()}
    assigned = frozenset(root for root in roots - imported if root in names and top.lookup(root).is_assigned())
    return Outline(data, classes, imports, imported, assigned, names)


def _below(top: symtable.SymbolTable, *, deep: bool) -> Iterator[symtable.SymbolTable]:
    """The tables of named classes and functions: those at the top level, or all."""
    for child in top.get_children():
        is_scope = child.get_type() in {"class", "function"}  # else one that holds the parameters of types
        if is_scope and child.get_name() not in NAMELESS:
            yield child
        if deep or not is_scope:
            yield from _below(child, deep=deep)


def _placed(data: bytes, heads: list[re.Match[bytes]]) -> Iterator[tuple[re.Match[bytes], tuple[str, int]]]:
    """Each head with the name and the line that its table would have."""
    row, place = 1, 0
    for head in heads:
        row, place = row + data.count(b"\n", place, head.start(1)), head.start(1)
        yield head, (head[2].decode(errors="replace"), row)


def _classes(data: bytes, heads: list[tuple[re.Match[bytes], symtable.SymbolTable]]) -> Iterator[ClassOutline]:
    """The classes among the heads; each reaches to the next head that stands no deeper."""
    for number, (head, table) in enumerate(heads):
        if table.get_type() != "class":
            continue
        column = len(head[1])
        later = (other.start() for other, _ in heads[number + 1 :] if len(other[1]) <= column)
        bases = BASES.match(data, head.end())
        stop = next(later, len(data))
        yield ClassOutline(
            name=table.get_name(),
            column=column,
            bases=_bases(bases[1] or b"") if bases else None,
            names=frozenset(_bound(table, decoded(GIVEN.findall(data, head.start(1), stop)))),
            data=data,
            start=head.start(1),
            head=bases.end() if bases else stop,
            stop=stop,
        )


def _bases(written: bytes) -> tuple[str, ...] | None:
    bases = []
    for part in re.sub(r"\[[^\[\]]*\]", "", written.decode(errors="replace")).split(","):
        base = part.strip()
        if BASE.fullmatch(base):
            bases.append(base)
        elif base and "=" not in base:
            return None
    return tuple(bases)


def _bound(table: symtable.SymbolTable, written: frozenset[str]) -> Iterator[str]:
    """Names that a class body binds: its functions, and those that are ``written`` as what is given a value."""
    assert isinstance(table, symtable.Class)  # noqa: S101 - its type was asked
    functions = {child.get_name() for child in table.get_children() if child.get_type() == "function"} - NAMELESS
    yield from functions
    for name in written.intersection(table.get_identifiers()) - functions:
        symbol = table.lookup(name)
        if (symbol.is_assigned() or symbol.is_imported()) and not symbol.is_declared_global():
            yield name


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
