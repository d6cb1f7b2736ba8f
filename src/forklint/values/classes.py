"""Which classes of the project an expression may be, where a table, a condition or a function chooses one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import scopes
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.scopes import Kind
from forklint.values.model import Expression, Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forklint.values.evaluator import Evaluator

DEPTH = 6
"""How many names, tables and functions are followed for one expression."""


def choices(evaluator: Evaluator, source: Expression, depth: int = DEPTH) -> tuple[ClassFacts, ...]:
    """The classes that an expression may be, as far as they are told; not what it is an object of."""
    symbol = evaluator.project.resolve(source.module, source.scope, source.node)
    if isinstance(symbol, ClassFacts):
        return (symbol,)
    if depth <= 0:
        return ()
    found = evaluator.find(source).value
    if isinstance(found, Ref):
        return (found.symbol,) if isinstance(found.symbol, ClassFacts) else ()
    ways = _ways(evaluator, source)
    return tuple(dict.fromkeys(facts for way in ways for facts in choices(evaluator, way, depth - 1)))


def _ways(evaluator: Evaluator, source: Expression) -> Iterator[Expression]:
    """Give the expressions of which one has the value."""
    node = source.node
    if isinstance(node, ast.Subscript):
        yield from _entries(evaluator, source.part(node.value))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"get", "pop"}:
        yield from _entries(evaluator, source.part(node.func.value))
        yield from map(source.part, node.args[1:])
    elif isinstance(node, ast.Call):
        symbol = evaluator.project.resolve(source.module, source.scope, node.func)
        for statement in scopes.statements(symbol.node.body) if isinstance(symbol, FunctionFacts) else ():
            if isinstance(statement, ast.Return) and statement.value is not None:
                assert isinstance(symbol, FunctionFacts)  # noqa: S101 - its statements are looked at
                yield Expression(symbol.module, symbol.scope, statement.value)
    elif isinstance(node, ast.IfExp):
        yield from map(source.part, (node.body, node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from map(source.part, node.values)
    elif isinstance(node, ast.Name):
        home, bindings = source.scope.find(node.id) or (source.scope, [])
        for binding in bindings:
            if binding.kind is Kind.VALUE and binding.value is not None:
                yield Expression(source.module, home, binding.value)


def _entries(evaluator: Evaluator, table: Expression) -> Iterator[Expression]:
    found = evaluator.table(table)
    yield from (one for one in found.entries.values() if isinstance(one, Expression)) if found is not None else ()
