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
    for place in chosen(evaluator, function, depth) if depth > 0 else ():
        node = place.node
        name = evaluator.project.qualified(place.module, place.scope, node)
        nearer: Iterable[Expression] = ()
        if not name and (module := _whose(node)) is not None:
            base = evaluator.project.qualified(place.module, place.scope, module)
            name = f"{base}.*" if base else ""
        elif not name and isinstance(node, ast.Attribute):
            nearer = behind(evaluator, place, perhaps=True)
        elif not name and isinstance(node, ast.Name):
            name = qualified(evaluator, place)
        elif not name and isinstance(node, ast.Call) and qualified(evaluator, place.part(node.func)) in PARTIAL:
            nearer = [place.part(one) for one in node.args[:1]]
        yield from [name] if name else []
        for one in nearer:
            yield from names_meant(evaluator, one, depth - 1)


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
