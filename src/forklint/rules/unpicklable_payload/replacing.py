"""What replaces an argument that is not given: ``transform or (lambda x: x)``, ``t if t is not None else identity``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.values import parameters
from forklint.values.arithmetic import is_something, is_true
from forklint.values.model import Constant, Expression

if TYPE_CHECKING:
    from forklint.project.module import Module
    from forklint.values.evaluator import Evaluator
    from forklint.values.model import Found

MAX_NAMES = 3
"""Through so many names an argument is followed to where it is made."""


def parts_of(evaluator: Evaluator, given: Expression) -> tuple[Expression, ...]:
    """The parts of ``a or b`` and ``a if test else b`` that count: what replaces an argument that is given does not."""
    node = given.node
    asked = _asked(node)
    if asked is not None and _is_given(evaluator, given, asked[0]):
        return (given.part(asked[1]),)
    if isinstance(node, ast.BoolOp):
        return tuple(map(given.part, node.values))
    return (given.part(node.body), given.part(node.orelse)) if isinstance(node, ast.IfExp) else ()


def is_replacement(module: Module, node: ast.AST) -> bool:
    """Whether an expression stands for an argument where that is not given."""
    above = module.parents.get(node)
    asked = _asked(above) if isinstance(above, ast.expr) else None
    return asked is not None and asked[1] is not node


def _asked(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The name that decides, and what the whole is where that is given."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and isinstance(node.values[0], ast.Name):
        return node.values[0].id, node.values[0]
    if not isinstance(node, ast.IfExp):
        return None
    test, body, other = node.test, node.body, node.orelse
    if isinstance(test, ast.Name):
        return test.id, body
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        is_none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if is_none and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return test.left.id, other if isinstance(test.ops[0], ast.Is) else body
    return None


def _counts_as_given(whole: ast.expr, found: Found) -> bool:
    """Whether what an argument is makes ``whole`` choose it: ``if x is not None`` asks for less than ``if x``."""
    is_compared = isinstance(whole, ast.IfExp) and isinstance(whole.test, ast.Compare)
    is_refused = isinstance(found.value, Constant) and not is_true(found.value) and not is_compared
    return is_something(found) and not is_refused


def _is_given(evaluator: Evaluator, given: Expression, name: str) -> bool:
    """Whether the call that the code runs in passes an argument that is surely something: what another call makes."""
    frame = given.frame
    if frame is None or frame.function.scope is not given.scope:
        return False
    source = parameters.source_in(frame, name)
    if source is not None and _counts_as_given(given.node, evaluator.find(source)):
        return True
    for _ in range(MAX_NAMES):
        if not isinstance(source, Expression) or not isinstance(source.node, ast.Name):
            break
        bound = source.scope.bound(source.node.id)
        value = bound[0].value if len(bound) == 1 else None
        source = Expression(source.module, source.scope, value) if isinstance(value, ast.expr) else None
    return isinstance(source, Expression) and isinstance(source.node, (ast.Call, ast.Lambda, ast.List, ast.Dict))
