"""Tests in an abstract run: which hold, and which tell the main process from a child."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forklint.facts.starting.running import evaluation, iterating, names
from forklint.facts.starting.running.values import (
    UNKNOWN,
    Arguments,
    Const,
    Dictionary,
    Frame,
    Guard,
    Instance,
    Lazy,
    Loader,
    MainName,
    PlatformTest,
    Sequence,
    Spot,
    Stream,
    Value,
    merge,
)
from forklint.values.numbers import Positive

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

CATCHES_RUNTIME_ERROR = {"RuntimeError", "Exception", "BaseException"}
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
        if len(sides) > 2:
            return UNKNOWN
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            _search(run, Spot(frame, node.comparators[0]), sides[1])
        return _compare(node.ops[0], *sides)
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


def _search(run: Execution, spot: Spot, value: Value) -> None:
    """``x in value``: what has no ``__contains__`` of its own is iterated."""
    if isinstance(value, Instance):
        contains = run.method_of(value, "__contains__")
        if contains is not None:
            run.invoke(spot, contains, Arguments(open=True))
            return
    if isinstance(value, (Instance, Loader, Lazy, Stream)):
        iterating.draw(run, spot, value)


def cases_of_main_name(node: ast.Match) -> list[ast.stmt]:
    """Write ``match __name__`` as the chain of ``if`` that means the same."""
    rest: list[ast.stmt] = []
    for case in reversed(node.cases):
        tests = [test for test in (_equal(node.subject, case.pattern), case.guard) if test is not None]
        if tests:
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            rest = [ast.If(test, case.body, rest)]
        else:
            rest = case.body
    return rest


def _equal(subject: ast.expr, pattern: ast.pattern) -> ast.expr | None:
    """Write a pattern as a comparison; None if everything matches it."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchOr):
        tests = [_equal(subject, part) for part in pattern.patterns]
        values = [test.comparators[0] for test in tests if isinstance(test, ast.Compare)]
        return ast.Compare(subject, [ast.In()], [ast.Tuple(values)]) if len(values) == len(tests) else None
    return _equal(subject, pattern.pattern) if isinstance(pattern, ast.MatchAs) and pattern.pattern else None


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
    asks_notebook = isinstance(left, Const) and left.value in names.NOTEBOOK_NAMES
    if asks_notebook or isinstance(left, PlatformTest) or isinstance(right, PlatformTest):
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
    main_names = other.items if isinstance(other, Sequence) else (other,)
    if Const(CHILD_NAME) in main_names and len(main_names) > 1:
        return UNKNOWN
    if isinstance(sign, (ast.Eq, ast.In, ast.Is)):
        return Guard(in_main=Const(CHILD_NAME) not in main_names)
    if isinstance(sign, (ast.NotEq, ast.NotIn, ast.IsNot)):
        return Guard(in_main=Const(CHILD_NAME) in main_names)
    return Guard(None)


def catches_runtime_error(handler: ast.ExceptHandler) -> bool:
    """Whether an ``except`` catches a RuntimeError."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in CATCHES_RUNTIME_ERROR for kind in kinds)
