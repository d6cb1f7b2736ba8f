"""What an expression holds in an abstract run, with all that evaluating it starts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forklint.facts.starting.running import calling, conditions, iterating, names
from forklint.facts.starting.running.values import (
    NONE,
    UNKNOWN,
    Const,
    Dictionary,
    Frame,
    Lambda,
    Sequence,
    Spot,
    Value,
    merge_all,
)
from forklint.values.numbers import Number, Positive, binary

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution


def evaluate(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """Evaluate an expression in a frame."""
    run.step()
    evaluator = EVALUATORS.get(type(node), _parts)
    return evaluator(run, frame, node)


def constant(value: object) -> Value:
    """Give the value that a constant of the text has."""
    known = value is None or isinstance(value, (str, int, float, bytes, bool, complex, Positive))
    return Const(value) if known else UNKNOWN  # type: ignore[arg-type]


def number_of(value: Value | None) -> Number:
    """Give the number that a value is; None if that is not known."""
    known = isinstance(value, Const) and isinstance(value.value, (int, float, str, Positive))
    return value.value if known else None  # type: ignore[union-attr,return-value]


def _parts(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """Evaluate the parts of what is itself not followed, such as an f-string, for what they start."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(run, frame, child)
    return UNKNOWN


def _named(run: Execution, frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(run, frame, node.value)
    run.bind(frame, node.target, value)
    return value


def _yielded(run: Execution, frame: Frame, node: ast.Yield | ast.YieldFrom) -> Value:
    value = evaluate(run, frame, node.value) if node.value is not None else NONE
    if isinstance(node, ast.YieldFrom):
        value = iterating.draw(run, Spot(frame, node.value), value)
    frame.yields.append(value)
    return UNKNOWN


def _arithmetic(run: Execution, frame: Frame, node: ast.BinOp) -> Value:
    left, right = evaluate(run, frame, node.left), evaluate(run, frame, node.right)
    if isinstance(left, (Dictionary, Sequence)):
        return _joined(node.op, left, right)
    result = binary(node.op, number_of(left), number_of(right))
    return UNKNOWN if result is None else Const(result)


def _unary(run: Execution, frame: Frame, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return conditions.logic(run, frame, node)
    operand = number_of(evaluate(run, frame, node.operand))
    negative = isinstance(node.op, ast.USub) and isinstance(operand, (int, float))
    return Const(-operand) if negative else UNKNOWN  # type: ignore[operator]


def _joined(operator: ast.operator, left: Dictionary | Sequence, right: Value) -> Value:
    if isinstance(left, Dictionary) and isinstance(right, Dictionary) and isinstance(operator, ast.BitOr):
        return left.updated(dict(right.items), complete=right.complete)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and isinstance(operator, ast.Add):
        return Sequence(left.items + right.items, left.complete and right.complete)
    if isinstance(left, Sequence) and isinstance(operator, ast.Mult):
        return Sequence(left.items, complete=False)
    return UNKNOWN


def augmented(run: Execution, frame: Frame, node: ast.AugAssign) -> Value:
    """Evaluate what ``x += y`` leaves in ``x``."""
    left, right = evaluate(run, frame, node.target), evaluate(run, frame, node.value)
    if isinstance(left, (Sequence, Dictionary)):
        return _joined(node.op, left, right)
    result = binary(node.op, number_of(left), number_of(right))
    return UNKNOWN if result is None else Const(result)


def _subscript(run: Execution, frame: Frame, node: ast.Subscript) -> Value:
    owner, key = evaluate(run, frame, node.value), evaluate(run, frame, node.slice)
    if isinstance(owner, Dictionary):
        if isinstance(key, Const):
            return owner.get(key.value)
        return merge_all([value for _, value in owner.items]) if owner.complete else UNKNOWN
    if isinstance(owner, Sequence):
        if isinstance(key, Const) and isinstance(key.value, int) and owner.complete:
            return owner.items[key.value] if -len(owner.items) <= key.value < len(owner.items) else UNKNOWN
        return merge_all(list(owner.items))
    return UNKNOWN


def _sequence(run: Execution, frame: Frame, node: ast.Tuple | ast.List | ast.Set) -> Value:
    found: list[Value] = []
    complete = True
    for element in node.elts:
        value = evaluate(run, frame, element)
        if not isinstance(element, ast.Starred):
            found.append(value)
        elif isinstance(value, Sequence):
            found += value.items
            complete &= value.complete
        else:
            iterating.draw(run, Spot(frame, element.value), value)
            complete = False
    return Sequence(tuple(found), complete)


def _dictionary(run: Execution, frame: Frame, node: ast.Dict) -> Value:
    entries: dict[object, Value] = {}
    complete = True
    for key, expression in zip(node.keys, node.values, strict=True):
        value = evaluate(run, frame, expression)
        if key is None:
            entries = {**entries, **dict(value.items)} if isinstance(value, Dictionary) else {}
            complete &= isinstance(value, Dictionary) and value.complete
            continue
        known = evaluate(run, frame, key)
        if isinstance(known, Const):
            entries[known.value] = value
        complete &= isinstance(known, Const)
    return Dictionary(tuple(entries.items()), complete)


Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def _comprehension(run: Execution, frame: Frame, node: Comprehension, depth: int = 0) -> Value:
    generator = node.generators[depth]
    iterated = evaluate(run, frame, generator.iter)
    complete = isinstance(iterated, (Sequence, Dictionary)) and iterated.complete and not generator.ifs
    found: list[Value] = []
    entries: dict[object, Value] = {}
    for item in iterating.items(run, Spot(frame, generator.iter), iterated):
        run.bind(frame, generator.target, item)
        for test in generator.ifs:
            evaluate(run, frame, test)
        if depth + 1 < len(node.generators):
            complete = False
            inner = _comprehension(run, frame, node, depth + 1)
            found += inner.items if isinstance(inner, Sequence) else ()
        elif isinstance(node, ast.DictComp):
            key = evaluate(run, frame, node.key)
            value = evaluate(run, frame, node.value)
            complete &= isinstance(key, Const)
            if isinstance(key, Const):
                entries[key.value] = value
        else:
            found.append(evaluate(run, frame, node.elt))
    if isinstance(node, ast.DictComp):
        return Dictionary(tuple(entries.items()), complete)
    return Sequence(tuple(found), complete)


def _logic(run: Execution, frame: Frame, node: ast.expr) -> Value:
    return conditions.logic(run, frame, node)


def _call(run: Execution, frame: Frame, node: ast.Call) -> Value:
    return calling.call(run, frame, node)


def _attribute(run: Execution, frame: Frame, node: ast.Attribute) -> Value:
    return names.attribute(run, frame, node)


Evaluator = Callable[["Execution", Frame, Any], Value]
EVALUATORS: dict[type[ast.expr], Evaluator] = {
    ast.Constant: lambda _run, _frame, node: constant(node.value),
    ast.Name: lambda run, frame, node: names.name(run, frame, node.id),
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Lambda: lambda _run, frame, node: Lambda(node, frame),
    ast.Await: lambda run, frame, node: evaluate(run, frame, node.value),
    ast.Starred: lambda run, frame, node: evaluate(run, frame, node.value),
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dictionary,
    ast.Subscript: _subscript,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Compare: _logic,
    ast.BoolOp: _logic,
    ast.IfExp: _logic,
    ast.UnaryOp: _unary,
    ast.BinOp: _arithmetic,
    ast.NamedExpr: _named,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
}
"""What evaluates each kind of expression; of all others only the parts are evaluated."""
