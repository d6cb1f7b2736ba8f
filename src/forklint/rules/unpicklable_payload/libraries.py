"""Which classes and functions of libraries a call may mean that chooses among them while the program runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.spelling import is_name
from forklint.values.model import Expression, Table
from forklint.values.origins import behind

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

MAX_DEPTH = 4
"""Through how many names and choices a class is followed."""


def names_meant(evaluator: Evaluator, function: Expression, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Give the qualified names that an expression may mean; ``module.*`` for something of a module, by any name."""
    node = function.node
    if depth <= 0:
        return
    name = evaluator.project.qualified(function.module, function.scope, node)
    if name:
        yield name
    elif isinstance(node, (ast.Name, ast.IfExp)):
        for choice in behind(evaluator, function, perhaps=True):
            yield from names_meant(evaluator, choice, depth - 1)
    elif (module := _whose(node)) is not None:
        base = evaluator.project.qualified(function.module, function.scope, module)
        if base:
            yield f"{base}.*"
    elif isinstance(node, ast.Subscript):
        tables = (one.value for one in evaluator.find(function.part(node.value)).possible)
        for source in (source for table in tables if isinstance(table, Table) for source in table.values):
            if isinstance(source, Expression):
                yield from names_meant(evaluator, source, depth - 1)


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
