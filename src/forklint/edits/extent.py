"""What a fix changes besides what it edits: the trees before and after are compared, as black compares its own.

A fix says what it edits by its edits, and the finding says where that is: in the statements of its place and of its
chain. Everything else must mean what it meant: a statement outside of the edited lines is the same, in the same block,
and an edited statement that has nothing to do with the finding may at most be moved as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any

from forklint.records import dataclass

Place = tuple[int, int]
"""Row and column where a statement starts."""
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Chain = tuple[tuple[str, str, str] | None, ...]
"""The statements around a statement: kind, name and branch of each, None for one that is edited itself."""


@dataclass(frozen=True, order=True)
class Stretch:
    """Rows ``start`` to ``end``, exclusive, that are replaced by ``count`` others; none if both are equal."""

    start: int
    end: int
    count: int

    def touches(self, first: int, last: int) -> bool:
        """Whether it replaces one of these rows, or puts others between them."""
        if self.start == self.end:
            return first < self.start <= last
        return self.start <= last and self.end > first


@dataclass(frozen=True)
class Edited:
    """Two trees of a program, and the rows of the first that are edited."""

    before: ast.Module
    after: ast.Module
    stretches: Sequence[Stretch]

    def changed_beyond(self, own_rows: Collection[int]) -> ast.stmt | None:
        """The first statement of ``before`` that is changed although it should not be, if there is one.

        ``own_rows`` are the places of the findings that are fixed.
        """
        moves = list(accumulate((one.count - (one.end - one.start) for one in sorted(self.stretches)), initial=0))
        ends = [one.end for one in sorted(self.stretches)]
        places = {(one.lineno, one.col_offset): (one, chain) for one, chain in self._statements(self.after, ())}
        untouched: set[ast.stmt] = set()
        elsewhere: list[ast.stmt] = []
        for statement, chain in self._statements(self.before, self.stretches):
            first, last = _rows(statement)
            if any(one.touches(first, last) for one in self.stretches):
                if not chain and not _is_own(statement, own_rows):
                    elsewhere.append(statement)
                continue
            row = statement.lineno + moves[sum(end <= first for end in ends)]
            same, others = places.get((row, statement.col_offset), (None, ()))
            if same is not None and _fits(chain, others) and equal(statement, same):
                untouched.add(same)
            elif same is not None and statement.lineno in own_rows and self._has_grown(statement, same):
                continue
            elif None in chain:  # a line that is alike stands in its place now
                elsewhere.append(statement)
            else:
                return statement
        return self._lost(elsewhere, untouched)

    def _has_grown(self, before: ast.stmt, after: ast.stmt) -> bool:
        """Whether statements were added at the end of a definition, and nothing else was."""
        is_added = any(one.start == one.end == _rows(before)[1] + 1 for one in self.stretches)
        if not is_added or not isinstance(before, DEFINITIONS) or not isinstance(after, DEFINITIONS):
            return False
        fields: dict[str, Any] = {name: getattr(after, name, None) for name in after._fields}
        fields["body"] = after.body[: len(before.body)]
        return equal(before, type(after)(**fields))

    def _lost(self, statements: Sequence[ast.stmt], untouched: Collection[ast.stmt]) -> ast.stmt | None:
        """The first of some statements that is not among the edited ones of ``after``, if only at another place."""
        kinds: dict[type, list[ast.stmt]] = {}
        for one in _edited(self.after, untouched) if statements else ():
            kinds.setdefault(type(one), []).append(one)
        taken: set[ast.stmt] = set()
        for statement in statements:
            there = kinds.get(type(statement), [])
            parts = next((parts for one in there if (parts := _parts_of(one, statement, taken))), None)
            if parts is None:
                return statement
            taken.update(parts)
        return None

    def _statements(self, tree: ast.Module, stretches: Sequence[Stretch]) -> Iterator[tuple[ast.stmt, Chain]]:
        """Give each statement of a tree with those around it; with ``stretches``, those below edited ones only."""
        waiting: list[tuple[ast.AST, Chain]] = [(statement, ()) for statement in reversed(tree.body)]
        while waiting:
            node, chain = waiting.pop()
            below = list(_below(node))
            if isinstance(node, ast.stmt):
                yield node, chain
                first, last = _rows(node)
                if stretches and not any(one.touches(first, last) for one in stretches):
                    continue
            is_edited = bool(below) and _is_header_edited(node, below, stretches)
            for child, name in reversed(below):
                link = None if is_edited else (type(node).__name__, str(getattr(node, "name", "")), name)
                waiting.append((child, (*chain, link)))


def _edited(tree: ast.Module, untouched: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements of a tree but for some and what is below them."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if node not in untouched:
            if isinstance(node, ast.stmt):
                yield node
            waiting += [child for child, _ in _below(node)][::-1]


def _is_own(statement: ast.stmt, own_rows: Collection[int]) -> bool:
    """Whether a fix may edit a statement: it is an import, or a finding stands in it."""
    first, last = _rows(statement)
    return isinstance(statement, (ast.Import, ast.ImportFrom)) or any(first <= row <= last for row in own_rows)


def _parts_of(new: ast.stmt, old: ast.stmt, taken: Collection[ast.stmt]) -> list[ast.stmt]:
    """The statements of which another is made up now, if none of them is taken: the new one itself, ...

    ... or, of a block under the same condition, those that are all of the other's, in order.
    """
    if new not in taken and equal(new, old):
        return [new, *(new.body if isinstance(new, ast.If) else ())]
    if not (isinstance(new, ast.If) and isinstance(old, ast.If) and equal(new.test, old.test)):
        return []
    left = (one for one in new.body if one not in taken)
    found = [next((other for other in left if equal(one, other)), None) for one in old.body]
    parts = [one for one in found if one is not None]
    return parts if not (new.orelse or old.orelse) and len(parts) == len(found) else []


def _rows(node: ast.AST) -> tuple[int, int]:
    """The first and the last row of a statement, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])  # type: ignore[attr-defined]
    return first, node.end_lineno or first  # type: ignore[attr-defined]


def _below(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Give the statements, handlers and cases right below a node, each with the name of the branch that it is in."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        below = getattr(node, name, None)
        if isinstance(below, list):
            yield from ((child, name) for child in below)


def _is_header_edited(node: ast.AST, below: Sequence[tuple[ast.AST, str]], stretches: Sequence[Stretch]) -> bool:
    """Whether one of the rows of a node is replaced in which nothing that stands below it is."""
    if not stretches or not hasattr(node, "lineno"):
        return False
    first, last = _rows(node)
    taken: set[int] = set()
    for child, _ in below:
        if isinstance(child, ast.match_case):
            start, end = child.pattern.lineno, child.body[-1].end_lineno or child.pattern.lineno
        else:
            start, end = _rows(child)
        taken.update(range(start, end + 1))
    replaced = (row for one in stretches for row in range(max(one.start, first), min(one.end, last + 1)))
    return any(row not in taken for row in replaced)


def _fits(chain: Chain, others: Chain) -> bool:
    """Whether a statement stands where it stood: what is edited around it may have become something else."""
    return len(chain) == len(others) and all(
        one is None or one == other for one, other in zip(chain, others, strict=True)
    )


def equal(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are the same but for their places."""
    waiting: list[tuple[object, object]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.AST):
            waiting += [(getattr(left, name, None), getattr(right, name, None)) for name in left._fields]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            waiting += zip(left, right, strict=True)
        elif repr(left) != repr(right) if isinstance(left, (float, complex)) else left != right:
            return False  # by their spelling, nan is nan, and 0.0 is not -0.0
    return True
