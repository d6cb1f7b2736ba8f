"""`while` loops that yield samples, and what they read their samples from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge.streams import stream_words
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, bodies
from forklint.project.spelling import is_name, last_name

READING = frozenset({"readline", "read", "readlines", "fetchone", "fetchmany"})
"""Methods that return the next part of what an object holds."""


def stepped(loop: ast.While) -> list[ast.expr]:
    """What a loop reads step by step until nothing is left; empty if it may go on, or if that is not plain.

    It reads by ``next(lines)``, by ``file.readline()``, or by ``self.rows[i]`` while ``i < len(self.rows)``. A loop
    that starts a source again when it ends is not one of these.
    """
    if isinstance(loop.test, ast.Constant) and not is_left(loop):
        return []
    stored = {node.id for node in nodes_below(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = [*_advanced(loop), *_counted(loop, stored)]
    if any(isinstance(one, ast.Name) and one.id in stored for one in read):
        return []
    return read


def is_left(loop: ast.While | ast.For) -> bool:
    """Whether a loop may end by ``break`` of its own or by ``return``."""
    waiting: list[tuple[ast.stmt, bool]] = [(statement, True) for statement in loop.body]
    for statement, is_own in waiting:
        if isinstance(statement, ast.Return) or (is_own and isinstance(statement, ast.Break)):
            return True
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            inner = is_own and not isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
            waiting += [(one, inner) for block in bodies(statement) for one in block]
    return False


def _advanced(loop: ast.While) -> Iterator[ast.expr]:
    """Give the iterators and files that the loop takes the next part of."""
    for node in nodes_below(loop):
        if not isinstance(node, ast.Call):
            continue
        if is_name(node.func, "next") and node.args:
            yield node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in READING:
            yield node.func.value


def _counted(loop: ast.While, stored: set[str]) -> Iterator[ast.expr]:
    """Give the sequence whose length ends the loop, if the loop counts up to it and draws no positions."""
    test = loop.test
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name)):
        return
    limit = test.comparators[0]
    is_length = isinstance(limit, ast.Call) and is_name(limit.func, "len") and bool(limit.args)
    counts = any(isinstance(node, ast.AugAssign) and is_name(node.target, test.left.id) for node in nodes_below(loop))
    names = {last_name(node).lower() for node in nodes_below(loop)}
    draws = any(word in name for name in names for word in stream_words().random)
    if is_length and counts and test.left.id in stored and not draws:
        yield limit.args[0]  # type: ignore[attr-defined]
