"""Which of the branches that bind a name a call takes: ``if workers is None: workers = 4``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from forklint.project.nodes import start_of
from forklint.project.scopes import Binding
from forklint.project.spelling import is_name
from forklint.values import arithmetic
from forklint.values.model import MOST_OPTIONS, Constant, Expression, Found

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator


def taken(
    evaluator: Evaluator, read: Expression, bindings: Sequence[Binding], *, unless_asked: bool = False
) -> Sequence[Binding]:
    """Of the bindings that a name may have where it is read, in order, those that the call at hand comes to.

    None of a branch that is surely not taken, and none that one of a branch replaces that surely is; with
    ``unless_asked`` also by options that nobody sets. Where no call is at hand, its function would be looked for
    wherever it is called, once for each time that the name is read, so only flags of the object itself decide; the code
    of a module runs once.
    """
    if not 1 < len(bindings) <= MOST_OPTIONS:
        return bindings
    left: list[Binding] = []
    for one in bindings:
        is_taken = _is_taken(evaluator, read, one, unless_asked=unless_asked)
        if is_taken is None:
            left.append(one)
        elif is_taken:
            left = [one]
    return left or bindings


def is_passed_over(evaluator: Evaluator, place: Expression) -> bool:
    """Whether the call at hand does not come to a place in its function, by an ``if`` around it."""
    tests = _tests(evaluator, place) if place.frame is not None else ()
    return any(is_against and not test.by_default for test, is_against in tests)


def is_asked_for(evaluator: Evaluator, place: Expression) -> bool:
    """Whether a place is in a branch of its function, or of its module, that only an option chooses.

    Unless the user of the program gives one, or as the code is written, another branch is taken.
    """
    return any(is_against for _, is_against in _tests(evaluator, place))


def is_off_by_default(evaluator: Evaluator, place: Expression) -> bool:
    """Whether a place is in a branch that only an option of the program chooses: ``if args.debug: ...``."""
    return any(is_against and test.by_default for test, is_against in _tests(evaluator, place))


def _tests(evaluator: Evaluator, place: Expression) -> Iterator[tuple[Found, bool]]:
    """Each condition of an ``if`` around a place that has one value, and whether that leads elsewhere."""
    chain = [place.node, *place.module.above(place.node)]
    for inner, around in pairwise(chain):
        if around is place.scope.node:
            return
        if isinstance(around, ast.If) and inner is not around.test:
            test = evaluator.find(place.part(around.test))
            if isinstance(test.value, Constant):
                yield test, arithmetic.is_true(test.value) is not (inner in around.body)


def _is_taken(evaluator: Evaluator, read: Expression, binding: Binding, *, unless_asked: bool) -> bool | None:
    """Whether the ``if`` around a binding come to it; None where that is not known, or there are none."""
    module, answer = read.module, None
    is_called = read.frame is not None or isinstance(read.scope.node, ast.Module)
    chain = [binding.node, *module.above(binding.node)]
    if isinstance(binding.node, ast.arg) or read.node in chain or start_of(binding.node) > start_of(read.node):
        return None
    for inner, around in pairwise(chain):
        if around is read.scope.node:
            break
        if not isinstance(around, ast.If) or inner is around.test:
            return None
        if not (is_called or _is_own_flag(around.test)) or any(one is read.node for one in ast.walk(around.test)):
            return None
        test = evaluator.find(Expression(module, read.scope, around.test, read.frame))
        if not isinstance(test.value, Constant) or (test.by_default and not unless_asked):
            return None
        if arithmetic.is_true(test.value) is not (inner in around.body):
            return False
        answer = True
    return answer


def _is_own_flag(test: ast.expr) -> bool:
    """Whether a condition is an attribute of the object itself: ``self.padded``, ``not self.padded``."""
    flag = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    return isinstance(flag, ast.Attribute) and is_name(flag.value, "self")
