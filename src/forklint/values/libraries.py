"""Which classes and functions of libraries a call may mean that gets at them by a name, a table or a choice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.project.spelling import is_name
from forklint.values.calls import PARTIAL, qualified
from forklint.values.model import Expression, Source, Table
from forklint.values.origins import behind

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

MAX_DEPTH = 4
"""Through how many names and choices a class is followed."""
FIRST = "get"


def names_meant(evaluator: Evaluator, function: Expression, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Give the qualified names that an expression may mean; ``module.*`` for something of a module, by any name."""
    node = function.node
    if depth <= 0:
        return
    name = evaluator.project.qualified(function.module, function.scope, node)
    if name:
        yield name
    elif isinstance(node, (ast.Name, ast.IfExp, ast.Attribute)):
        nearer = behind(evaluator, function, perhaps=True)
        for choice in nearer:
            yield from names_meant(evaluator, choice, depth - 1)
        if not nearer and isinstance(node, ast.Name):
            builtin = qualified(evaluator, function)
            yield from [builtin] if builtin else []
    elif (module := _whose(node)) is not None:
        base = evaluator.project.qualified(function.module, function.scope, module)
        if base:
            yield f"{base}.*"
    elif (table := _looked_up_in(node)) is not None:
        tables = (one.value for one in evaluator.find(function.part(table)).possible)
        for source in (source for table in tables if isinstance(table, Table) for source in table.values):
            if isinstance(source, Expression):
                yield from names_meant(evaluator, source, depth - 1)
    elif isinstance(node, ast.Call) and node.args and qualified(evaluator, function.part(node.func)) in PARTIAL:
        yield from names_meant(evaluator, function.part(node.args[0]), depth - 1)


def chosen(evaluator: Evaluator, function: Expression, depth: int = MAX_DEPTH) -> Iterator[Expression]:
    """Give the expressions that one may stand for by a name, a choice or a table: ``run = trainer.fit; run()``."""
    node = function.node
    nearer: Iterable[Source] = ()
    if isinstance(node, (ast.Name, ast.IfExp)):
        nearer = behind(evaluator, function, perhaps=True)
    elif (table := _looked_up_in(node)) is not None:
        tables = (one.value for one in evaluator.find(function.part(table)).possible)
        nearer = [source for table in tables if isinstance(table, Table) for source in table.values]
    places = [one for one in nearer if isinstance(one, Expression)]
    if not places or depth <= 0:
        yield function
    for one in places if depth > 0 else ():
        yield from chosen(evaluator, one, depth - 1)


def _looked_up_in(node: ast.expr) -> ast.expr | None:
    """The ``table`` of ``table[key]`` and ``table.get(key)``."""
    if isinstance(node, ast.Subscript):
        return node.value
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == FIRST
    return node.func.value if is_get else None  # type: ignore[attr-defined]


def _whose(node: ast.expr) -> ast.expr | None:
    """The ``m`` of ``getattr(m, name)``, ``m.__dict__[name]`` and ``vars(m)[name]``."""
    if isinstance(node, ast.Call):
        return node.args[0] if is_name(node.func, "getattr") and len(node.args) > 1 else None
    table = node.value if isinstance(node, ast.Subscript) else None
    if isinstance(table, ast.Attribute):
        return table.value if table.attr == "__dict__" else None
    if isinstance(table, ast.Call) and is_name(table.func, "vars") and len(table.args) == 1:
        return table.args[0]
    return None
