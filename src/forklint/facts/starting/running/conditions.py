"""Tests in an abstract run: which hold, and which tell the main process from a child."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forklint.facts.starting.running import evaluation
from forklint.facts.starting.running.values import (
    UNKNOWN,
    Const,
    Dictionary,
    Frame,
    Guard,
    MainName,
    PlatformTest,
    Sequence,
    Value,
    merge,
)
from forklint.facts.starting.workers import Positive

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

CHILD_NAME = "__mp_main__"
"""What ``__name__`` is in a child that imports the main module again."""


def truth(value: Value) -> bool | None:
    """Whether a test surely holds or surely fails; None if neither."""
    if isinstance(value, Const):
        return True if isinstance(value.value, Positive) else bool(value.value)
    if isinstance(value, (Sequence, Dictionary)) and value.complete:
        return bool(value.items)
    return None


def logic(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """Evaluate a comparison, ``and``, ``or``, ``not`` or a conditional expression."""
    if isinstance(node, ast.Compare):
        sides = [evaluation.evaluate(run, frame, side) for side in (node.left, *node.comparators)]
        return _compare(node.ops[0], *sides) if len(sides) == 2 else UNKNOWN
    if isinstance(node, ast.UnaryOp):
        return _opposite(evaluation.evaluate(run, frame, node.operand))
    if isinstance(node, ast.BoolOp):
        return _bool_op(run, frame, node)
    assert isinstance(node, ast.IfExp)  # noqa: S101 - what is left of the kinds that come here
    known = truth(evaluation.evaluate(run, frame, node.test))
    if known is not None:
        return evaluation.evaluate(run, frame, node.body if known else node.orelse)
    with run.muted():  # which of the two is evaluated is not known
        first = evaluation.evaluate(run, frame, node.body)
        return merge(first, evaluation.evaluate(run, frame, node.orelse))


def _opposite(value: Value) -> Value:
    if isinstance(value, Guard):
        return Guard(None if value.in_main is None else not value.in_main)
    known = truth(value)
    if known is not None:
        return Const(not known)
    return value if isinstance(value, PlatformTest) else UNKNOWN


def _bool_op(run: Execution, frame: Frame, node: ast.BoolOp) -> Value:
    """Judge ``and`` and ``or``: a guard that all else is added to with ``and`` stays one."""
    is_and = isinstance(node.op, ast.And)
    value: Value = UNKNOWN
    unsure: list[Value] = []
    for part in node.values:
        value = evaluation.evaluate(run, frame, part)
        if isinstance(value, Guard):
            return value if is_and and value.in_main else Guard(None)
        known = truth(value)
        if known is not None and known is not is_and:
            return UNKNOWN if unsure else value
        if known is None:
            unsure.append(value)
    if not unsure:
        return value
    return next((value for value in unsure if isinstance(value, PlatformTest)), UNKNOWN)


def _compare(sign: ast.cmpop, left: Value, right: Value) -> Value:
    if isinstance(left, PlatformTest) or isinstance(right, PlatformTest):
        return PlatformTest()
    if isinstance(left, MainName) or isinstance(right, MainName):
        return _compare_main(sign, right if isinstance(left, MainName) else left)
    if not isinstance(left, Const) or not isinstance(right, Const):
        return UNKNOWN
    if isinstance(left.value, Positive) or isinstance(right.value, Positive):
        above_zero = right.value == 0 and isinstance(sign, (ast.Gt, ast.NotEq))
        return Const(value=True) if above_zero else UNKNOWN
    compare = COMPARISONS.get(type(sign))
    numbers = isinstance(left.value, (int, float)) and isinstance(right.value, (int, float))
    sortable = numbers or isinstance(sign, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot))
    return Const(compare(left.value, right.value)) if compare is not None and sortable else UNKNOWN


COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.Is: operator.eq,
    ast.NotEq: operator.ne,
    ast.IsNot: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}


def _compare_main(sign: ast.cmpop, other: Value) -> Value:
    """Judge a comparison with ``__name__``; one that a child passes too is no guard."""
    names = other.items if isinstance(other, Sequence) else (other,)
    if Const(CHILD_NAME) in names and len(names) > 1:
        return UNKNOWN
    if isinstance(sign, (ast.Eq, ast.In, ast.Is)):
        return Guard(in_main=Const(CHILD_NAME) not in names)
    if isinstance(sign, (ast.NotEq, ast.NotIn, ast.IsNot)):
        return Guard(in_main=Const(CHILD_NAME) in names)
    return Guard(None)
