"""What a stream holds through its methods: ``WebDataset(shards).map(f)``, ``load_dataset(name).with_transform(f)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.knowledge.unpicklable import Stream, stream
from forklint.project.index import External, Symbol
from forklint.project.nodes import is_before
from forklint.project.scopes import statements
from forklint.project.spelling import all_arguments, argument
from forklint.rules.unpicklable_payload.values import Culprit
from forklint.values.arithmetic import is_true
from forklint.values.model import NOTHING, Constant, Expression, Frame
from forklint.values.origins import behind

if TYPE_CHECKING:
    from forklint.rules.unpicklable_payload.unpicklable import Unpicklable

STREAMING = "streaming"
MOST_NAMES = 5
"""How many names are followed to the call that makes a stream."""


class Stages:
    """Answers for streams, for one payload."""

    def __init__(self, unpicklable: Unpicklable) -> None:
        self._unpicklable = unpicklable
        self._project = unpicklable.project
        self._rows: dict[tuple[ast.AST, Frame | None], Stream | None] = {}
        """What was found, by the expression that is asked about."""

    def added(self, given: Expression, node: ast.expr, depth: int) -> Culprit | None:
        """What is refused in the stages that a chain of methods has added to a stream, or in the stream."""
        calls, root = self._unwound(given, node)
        row = self._row(given, root) if root is not node else None
        if row is None:
            return None
        return self._first(given, calls, row.adding, depth) or self._unpicklable.of(given.part(root), depth - 1)

    def set_on(self, given: Expression, name: ast.Name, depth: int) -> Culprit | None:
        """What is refused in what ``dataset.set_transform(f)`` has set on a name's value before it is read."""
        calls = list(self._calls_on(given, name))
        row = self._row(given, name) if calls else None
        return self._first(given, calls, row.setting, depth) if row is not None else None

    def _first(self, given: Expression, calls: list[ast.Call], methods: frozenset[str], depth: int) -> Culprit | None:
        """What is refused first in the arguments of those calls that are of one of the methods."""
        parts = (
            part
            for call in calls
            if isinstance(call.func, ast.Attribute) and call.func.attr in methods
            for part in all_arguments(call)
        )
        return next((found for part in parts if (found := self._unpicklable.of(given.part(part), depth - 1))), None)

    def _unwound(self, given: Expression, node: ast.expr) -> tuple[list[ast.Call], ast.expr]:
        """The calls of methods in ``root.method(...)[item].method(...)``, and the root."""
        calls = []
        while True:
            if isinstance(node, ast.Subscript):
                node = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not self._made(given, node):
                calls.append(node)
                node = node.func.value
            else:
                return calls, node

    def _made(self, given: Expression, call: ast.Call) -> Symbol | None:
        return self._project.resolve(given.module, given.scope, call.func)

    def _row(self, given: Expression, node: ast.expr) -> Stream | None:
        """The row of the call that makes the stream which an expression is; None if it is none, or that is not seen."""
        root = given.part(self._unwound(given, node)[1])
        key = root.node, root.frame
        if key not in self._rows:
            self._rows[key] = self._find_row(root)
        return self._rows[key]

    def _find_row(self, root: Expression) -> Stream | None:
        """The same, found through one name after the other, each of them looked at once."""
        waiting, seen = [root], set[ast.AST]()
        for _ in range(MOST_NAMES + 1):
            nearer: list[Expression] = []
            for one in waiting:
                place = one.part(self._unwound(one, one.node)[1])
                if place.node in seen:
                    continue
                seen.add(place.node)
                symbol = self._made(place, place.node) if isinstance(place.node, ast.Call) else None
                row = stream(symbol.name) if isinstance(symbol, External) else None
                if row is not None:
                    return replace(row, adding=row.adding | row.streaming) if self._streams(place) else row
                if not isinstance(symbol, External):
                    nearer += behind(self._unpicklable.evaluator, place, perhaps=True)
            waiting = nearer
        return None

    def _streams(self, place: Expression) -> bool:
        """Whether a call asks for data that are read as they come."""
        given = argument(place.node, STREAMING, None) if isinstance(place.node, ast.Call) else None
        found = self._unpicklable.evaluator.find(place.part(given)) if given is not None else NOTHING
        return isinstance(found.value, Constant) and is_true(found.value)

    def _calls_on(self, given: Expression, name: ast.Name) -> Iterator[ast.Call]:
        """Calls, alone in their statements, of methods of a name or of its items, before the name is read."""
        for statement in statements(given.scope.node.body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and is_before(call, name):
                calls, root = self._unwound(given, call)
                if len(calls) == 1 and isinstance(root, ast.Name) and root.id == name.id:
                    yield call
