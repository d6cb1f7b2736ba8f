"""Which way a test goes while handles are followed, and what surely holds nothing behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.handles.claims import Claims, claims_of
from forklint.handles.held import Frame
from forklint.project.constructors import CONSTRUCTORS
from forklint.project.module import ClassFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import first_parameter, is_name
from forklint.values import arithmetic
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOT_KNOWN, Constant, Expression


class Conditions:
    """Answers for the methods of one class."""

    def __init__(self, evaluator: Evaluator, facts: ClassFacts | None) -> None:
        self._evaluator = evaluator
        self._facts = facts

    def truth(self, frame: Frame, test: ast.expr) -> bool | None:
        """How a test comes out, by the arguments of the calls on the way there; None where that is open.

        Of an object that anyone makes, it is what all calls in the project agree on.
        """
        if any(self._may_change(frame, node) for node in nodes_below(test)):
            return None
        found = self._evaluator.find(frame.expression(test))
        if not found.known and frame.context.given is NOT_KNOWN and frame.context.function.node.name in CONSTRUCTORS:
            found = self._evaluator.find(Expression(frame.module, frame.scope, test))  # all that make it may agree
        decided = isinstance(found.value, Constant) and not found.by_default
        return arithmetic.is_true(found.value) if decided and isinstance(found.value, Constant) else None

    def texts(self, frame: Frame, node: ast.expr) -> tuple[str, ...]:
        """The texts that an expression may be, one of several where a loop goes over them."""
        found = (one.value for one in self._evaluator.find(frame.expression(node)).possible)
        return tuple(one.value for one in found if isinstance(one, Constant) and isinstance(one.value, str))

    def claims(self, frame: Frame, test: ast.expr, *, truth: bool) -> Claims:
        """What is known of the object's attributes where a test came out like this; what a property gives is not."""
        found = claims_of(test, frame.me, truth=truth) if self._facts is not None and frame.me else ()
        return frozenset(one for one in found if not any(self._is_made(name) for name in one.attributes))

    def _is_made(self, name: str) -> bool:
        return self._facts is None or self._evaluator.project.method(self._facts, name) is not None

    def _may_change(self, frame: Frame, node: ast.AST) -> bool:
        """Whether a node reads an attribute of the object that not only the constructor sets."""
        if self._facts is None or not isinstance(node, ast.Attribute) or frame.key(node) == "":
            return False
        owners = self._evaluator.project.ancestry(self._facts).classes
        return any(node.attr in self._changing(owner) for owner in owners)

    def _changing(self, owner: ClassFacts) -> frozenset[str]:
        """The attributes that methods of a class set besides its constructor, or that its body gives a value."""
        answer = self._evaluator.project.answer
        return answer("attributes that change", owner, lambda: frozenset(_find_changing(owner)))


def _find_changing(owner: ClassFacts) -> Iterator[str]:
    yield from owner.scope.bindings
    for name, method in owner.methods.items():
        me = first_parameter(method)
        for node in nodes_below(method) if name not in CONSTRUCTORS else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_name(node.value, me):
                yield node.attr


def emptied(frame: Frame, test: ast.expr, *, truth: bool) -> Iterator[str]:
    """Give the names in the state that surely hold no handle where a test came out like this.

    ``self.file is not None`` and ``self.file``, where they do not hold; ``hasattr(self, "file")`` as well.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from emptied(frame, test.operand, truth=not truth)
    elif isinstance(test, ast.BoolOp):
        parts = [set(emptied(frame, part, truth=truth)) for part in test.values]
        yield from set().union(*parts) if isinstance(test.op, ast.And) is truth else set.intersection(*parts)
    elif isinstance(test, ast.Compare):
        yield from _compared(frame, test, truth=truth)
    elif isinstance(test, ast.NamedExpr):
        yield from emptied(frame, test.target, truth=truth)
        yield from emptied(frame, test.value, truth=truth)
    elif not truth:
        key = _asked(frame, test) if isinstance(test, ast.Call) else frame.key(test)
        yield from [key] if key else []


def _compared(frame: Frame, test: ast.Compare, *, truth: bool) -> Iterator[str]:
    """``x is None`` where it holds, ``x is not None`` where it does not."""
    with_none = len(test.ops) == 1 and getattr(test.comparators[0], "value", ...) is None
    same = isinstance(test.ops[0], (ast.Is, ast.Eq))
    if with_none and (same or isinstance(test.ops[0], (ast.IsNot, ast.NotEq))) and same is truth:
        yield from emptied(frame, test.left, truth=False)


def _asked(frame: Frame, call: ast.Call) -> str:
    """The attribute that ``hasattr(self, "x")`` and ``getattr(self, "x", None)`` ask for."""
    name = call.args[1] if len(call.args) > 1 else None
    asks = isinstance(call.func, ast.Name) and call.func.id in {"hasattr", "getattr"}
    if not asks or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return ""
    return frame.key(ast.Attribute(call.args[0], name.value, ast.Load()))
