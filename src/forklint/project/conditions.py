"""Tests in an abstract run: which hold, and which tell the main process from a child."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import evaluation
from forklint.project.values import (
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
from forklint.project.workers import Positive

if TYPE_CHECKING:
    from forklint.project.execution import Execution

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
    if isinstance(node, ast.Compare):
        return _compare(
            node, [evaluation.evaluate(run, frame, side) for side in (node.left, *node.comparators)]
        )
    if isinstance(node, ast.UnaryOp):
        value = evaluation.evaluate(run, frame, node.operand)
        if isinstance(value, Guard):
            return Guard(None if value.in_main is None else not value.in_main)
        known = truth(value)
        return value if isinstance(value, PlatformTest) else UNKNOWN if known is None else Const(not known)
    if isinstance(node, ast.IfExp):
        test = evaluation.evaluate(run, frame, node.test)
        known = truth(test)
        if known is not None:
            return evaluation.evaluate(run, frame, node.body if known else node.orelse)
        with run.muted():  # which of the two is evaluated is not known
            return merge(
                evaluation.evaluate(run, frame, node.body), evaluation.evaluate(run, frame, node.orelse)
            )
    assert isinstance(node, ast.BoolOp)  # noqa: S101 - what is left of the kinds that come here
    return _bool_op(run, frame, node)


def _bool_op(run: Execution, frame: Frame, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)
    values: list[Value] = []
    for part in node.values:
        value = evaluation.evaluate(run, frame, part)
        if isinstance(value, Guard):
            return value if is_and and value.in_main else Guard(None)
        known = truth(value)
        if known is not None and known is not is_and:
            return value if not values else UNKNOWN
        if known is None:
            values.append(value)
    if not values:
        return value
    platform = next((value for value in values if isinstance(value, PlatformTest)), None)
    return platform or (values[0] if len(values) == 1 and isinstance(values[0], Guard) else UNKNOWN)


def _compare(node: ast.Compare, sides: list[Value]) -> Value:
    if any(isinstance(side, PlatformTest) for side in sides):
        return PlatformTest()
    if len(sides) != 2:
        return UNKNOWN
    left, right = sides
    operator = node.ops[0]
    if any(isinstance(side, MainName) for side in sides):
        return _compare_main(operator, right if isinstance(left, MainName) else left)
    if isinstance(left, Const) and isinstance(right, Const) and not isinstance(left.value, Positive):
        if isinstance(operator, (ast.Eq, ast.Is)):
            return Const(left.value == right.value) if not isinstance(right.value, Positive) else UNKNOWN
        if isinstance(operator, (ast.NotEq, ast.IsNot)):
            return Const(left.value != right.value) if not isinstance(right.value, Positive) else UNKNOWN
        if isinstance(left.value, (int, float)) and isinstance(right.value, (int, float)):
            table = {ast.Gt: left.value > right.value, ast.Lt: left.value < right.value,
                     ast.GtE: left.value >= right.value, ast.LtE: left.value <= right.value}  # fmt: skip
            return Const(table[type(operator)]) if type(operator) in table else UNKNOWN  # type: ignore[index]
    positive = isinstance(left, Const) and isinstance(left.value, Positive) and right == Const(0)
    return Const(value=True) if positive and isinstance(operator, (ast.Gt, ast.NotEq)) else UNKNOWN


def _compare_main(operator: ast.cmpop, other: Value) -> Value:
    """Judge a comparison with ``__name__``; one that a child passes too is no guard."""
    names = other.items if isinstance(other, Sequence) else (other,)
    if Const(CHILD_NAME) in names and len(names) > 1:
        return UNKNOWN
    if isinstance(operator, (ast.Eq, ast.In, ast.Is)):
        return Guard(in_main=Const(CHILD_NAME) not in names)
    if isinstance(operator, (ast.NotEq, ast.NotIn, ast.IsNot)):
        return Guard(in_main=Const(CHILD_NAME) in names)
    return Guard(None)
