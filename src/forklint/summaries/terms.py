"""The names by which a file is found when it is asked who defines, calls, derives from or renames something."""

from __future__ import annotations

from collections.abc import Mapping

from forklint.summaries.stores import given_names
from forklint.summaries.summary import Summary, last_name

WORD, CLASS, BASE, CALL, RENAMED, IMPORTED = "word", "class", "base", "call", "renamed", "imported"
BOUND, GIVEN, PATH_ROOT, ANY = "bound", "given", "path root", "any"
"""Kinds of term: any word of the text; a class that is defined; part of a base; the last name of what is called; the
last name of what is given another name, by ``as``, by assignment or by ``partial``; a name in an import, of a module
or of what is taken from one. BOUND is a name that the top level binds, or that ``__all__`` lists, GIVEN an attribute
that the file stores on an object from outside its class, PATH_ROOT ANY folder that it makes modules importable from."""
KINDS = (CLASS, BASE, CALL, RENAMED, IMPORTED, BOUND, GIVEN, PATH_ROOT)
"""The kinds that a summary tells; words are cut from bytes."""
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" + bytes(range(128, 256))
ONLY_LETTERS = bytes(byte if byte in LETTERS else ord(" ") for byte in range(256))
PARTIAL = "partial("
Terms = Mapping[str, frozenset[str]]


def words(data: bytes) -> frozenset[str]:
    """Every word of a text, those in strings and comments included."""
    return frozenset(data.translate(ONLY_LETTERS).decode(errors="replace").split())


def terms(summary: Summary) -> Terms:
    """The terms of a file by their kind, but for words."""
    calls: set[str] = set()
    renamed: set[str] = set()
    for scope in summary.scopes:
        for call in scope.calls:
            calls.add(last_name(call))
        for given in scope.given:
            name = renamed_by(given.value)
            if name:
                renamed.add(name)
    renamed.update(last_name(one.attribute or one.module) for one in summary.imports if one.is_renamed)
    imported = (part for one in summary.imports for part in (*one.module.split("."), one.attribute))
    classes = [scope for scope in summary.scopes if scope.kind == CLASS]
    return {
        CLASS: frozenset(scope.name for scope in classes),
        BASE: frozenset(part for scope in classes for base in scope.bases for part in base.split(".")),
        CALL: frozenset(calls),
        RENAMED: frozenset(renamed),
        IMPORTED: frozenset(imported) - {""},
        BOUND: summary.top.binds | (summary.exports or frozenset()),
        GIVEN: frozenset(given_names(summary)),
        PATH_ROOT: frozenset({ANY} if summary.path_roots else ()),
    }


def renamed_by(value: str) -> str:
    """The last name of what a value stands for, if giving it to a name renames it: a dotted name, or a partial of it.

    Empty for any other value, such as what a call returns.
    """
    start = value.find(PARTIAL)
    if start >= 0 and value.endswith(")") and "." not in value[value.rfind(")") :]:
        return last_name(value[start + len(PARTIAL) : -1])
    return last_name(value) if "(" not in value and "[" not in value else ""
