"""The nodes of an ``ast`` tree: as ``ast.walk`` gives them but for operators and contexts, and faster."""

from __future__ import annotations

import ast
from collections.abc import Iterator

WITHOUT_NODES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "level", "module", "kind", "type_comment", "simple", "is_async"}
    | {"conversion", "asname", "rest", "kwd_attrs", "tag", "type_ignores", "str"}
)
"""Fields that hold text, numbers, operators or contexts. An operator is asked of its expression, never met alone."""
PLAIN = ("Constant", "Name", "MatchSingleton", "Global", "Nonlocal", "Pass", "Break", "Continue")
"""Nodes with no node below them that is looked for."""
BLOCKS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})
"""Fields of statements in which statements stand."""
Position = tuple[int, int]
"""A row and a column. It moves with the code, so no answer that is remembered may hold one."""
_fields: dict[type, tuple[str, ...]] = {}


def _fields_of(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node in which others may stand; a list there holds nodes and None alone."""
    kept = {"name"} if kind.__name__ == "TypeAlias" else set()
    names: tuple[str, ...] = () if kind.__name__ in PLAIN else getattr(kind, "_fields", ())
    found = _fields[kind] = tuple(name for name in names if name in kept or name not in WITHOUT_NODES)
    return found


def nodes_below(root: ast.AST) -> Iterator[ast.AST]:
    """Give a node and all below it, level by level, in source order on each."""
    known, waiting = _fields.get, [root]
    for node in waiting:
        if node is None:  # a default that is left out, the key of `**other`
            continue
        yield node
        fields = known(node.__class__)
        for name in _fields_of(node.__class__) if fields is None else fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                waiting += value
            elif value is not None:
                waiting.append(value)


def definitions_below(root: ast.AST) -> Iterator[ast.AST]:
    """Give the classes and functions below a node in source order: that in which summaries number them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is not root and isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        blocks = (getattr(node, name) for name in node._fields if name in BLOCKS)
        waiting.extend(reversed([child for block in blocks for child in block]))


def parents_below(root: ast.AST) -> dict[ast.AST, ast.AST]:
    """The node above each node of a tree."""
    found: dict[ast.AST, ast.AST] = {}
    known, waiting = _fields.get, [root]
    for node in waiting:
        fields = known(node.__class__)
        for name in _fields_of(node.__class__) if fields is None else fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                waiting += value
                for one in value:
                    found[one] = node
            elif value is not None:
                waiting.append(value)
                found[value] = node
    found.pop(None, None)  # type: ignore[call-overload]
    return found


def share_lines(root: ast.AST, numbers: dict[int, int]) -> None:
    """Let the nodes of a tree have the same objects as the numbers of their lines, those of ``numbers``.

    ``ast`` makes two for each node, an eighth of the memory that a tree takes (measured with CPython 3.11).
    """
    for node in nodes_below(root):
        place = node.__dict__
        if "lineno" in place:
            for name in ("lineno", "end_lineno"):
                place[name] = numbers.setdefault(place[name], place[name])


def start_of(node: ast.AST) -> Position:
    """Where a statement or an expression begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> Position:
    """Where a statement or an expression ends."""
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def is_before(node: ast.AST, other: ast.AST) -> bool:
    """Whether a node ends before another begins, wherever the lines are broken."""
    return end_of(node) <= start_of(other)
