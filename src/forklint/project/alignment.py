"""Which statements of the top level of a file an edit leaves as they are."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forklint.project.answers import Fact
from forklint.project.nodes import definitions_below, nodes_below
from forklint.project.scopes import Scope
from forklint.project.top_level import (
    BINDING,
    FLOW,
    RUNS,
    STARS,
    TREE,
    USES,
    does_run,
    is_of_flow,
    untold,
    used_name,
)
from forklint.project.trees import Kept, is_same_tree, shape
from forklint.summaries.parts import NUMBERS

DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
Pairs = list[tuple[ast.stmt, ast.stmt]]
"""The same statements in two trees."""


class Alignment(NamedTuple):
    """The statements of two trees of one file, at the top level."""

    same: Pairs
    """Those that differ in positions alone, in an order that both trees have."""
    gone: Sequence[ast.stmt]
    """The others of the first tree."""
    new: Sequence[ast.stmt]
    """The others of the second."""
    renumbers: bool
    """Whether a definition that both trees have stands behind more others, or fewer, than before."""
    kept: Kept | None = None
    """The lines that both texts have in common, if that was asked."""

    def facts(self, name: str) -> Iterator[Fact]:
        """Give the facts of a file of that name that the two trees tell differently.

        Raises RecursionError where a statement nests too deeply for a ``Scope``, so that there is no module either.
        """
        if not self.gone and not self.new:
            return
        yield TREE, name
        if self.renumbers:
            yield NUMBERS, name
        bound: dict[str, None] = {}
        used: dict[str, None] = {}
        for statements in (self.gone, self.new):
            scope = Scope(ast.Module(body=[], type_ignores=[]), None)
            scope.refill(list(statements), untold, has_walrus=True)
            bound |= dict.fromkeys((*scope.bindings, *scope.elsewhere))
            used |= dict.fromkeys(used_name(node) for one in statements for node in nodes_below(one))
            if scope.stars:
                yield STARS, name
            scope.dissolve()
            if any(map(is_of_flow, statements)):
                yield FLOW, name
            if any(map(does_run, statements)):
                yield RUNS, name
        yield from ((BINDING, name, one) for one in bound)
        yield from ((USES, name, one) for one in used if one)


def align(before: ast.Module, after: ast.Module, kept: Kept | None = None) -> Alignment:
    """Find the statements that two trees of one file have in common."""
    was, now = before.body, after.body
    top = _common(was, now, kept)
    bottom = _common(was[top:][::-1], now[top:][::-1], kept)
    was_end, now_end = len(was) - bottom, len(now) - bottom
    between = _matched(was[top:was_end], now[top:now_end])
    same = [*zip(was[:top], now[:top], strict=True), *between, *zip(was[was_end:], now[now_end:], strict=True)]
    mine, its = {one for one, _ in between}, {one for _, one in between}
    gone = [one for one in was[top:was_end] if one not in mine]
    numbers, fresh = _numbers(was), _numbers(now)
    renumbers = any(numbers.get(one) != fresh.get(other) for one, other in same)
    return Alignment(same, gone, [one for one in now[top:now_end] if one not in its], renumbers, kept)


def _numbers(body: Sequence[ast.stmt]) -> dict[ast.stmt, int]:
    """How many definitions stand above each statement in which there are any."""
    found: dict[ast.stmt, int] = {}
    above = 0
    for statement in body:
        own = isinstance(statement, DEFINITIONS) + sum(1 for _ in definitions_below(statement))
        if own:
            found[statement] = above
        above += own
    return found


def _common(was: Sequence[ast.stmt], now: Sequence[ast.stmt], kept: Kept | None) -> int:
    """How many statements are the same at the beginning."""
    pairs = enumerate(zip(was, now, strict=False))
    differs = (number for number, (one, other) in pairs if not is_same_tree(one, other, kept))
    return next(differs, min(len(was), len(now)))


def _matched(was: Sequence[ast.stmt], now: Sequence[ast.stmt]) -> Pairs:
    """Statements that are the same, each further down than the one before it."""
    if len(was) <= 1 and len(now) <= 1:
        return []  # the one differs, or it would be among those at the beginning
    where: dict[tuple[object, ...], list[int]] = {}
    for number, one in enumerate(was):
        where.setdefault(shape(one), []).append(number)
    found: Pairs = []
    start = 0
    for one in now:
        numbers = where.get(shape(one), [])
        place = bisect_left(numbers, start)
        if place < len(numbers):
            found.append((was[numbers[place]], one))
            start = numbers[place] + 1
    return found
