"""What an expression holds in an abstract run, with all that evaluating it starts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import calling, conditions, iterating, names
from forklint.project.values import (
    NONE,
    UNKNOWN,
    Const,
    Dictionary,
    Foreign,
    Frame,
    Lambda,
    Sequence,
    Value,
    merge_all,
)
from forklint.project.workers import Number, Positive, compute

if TYPE_CHECKING:
    from forklint.project.execution import Execution


def evaluate(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """Evaluate an expression in a frame."""
    run.step()
    if isinstance(node, ast.Constant):
        return Const(node.value) if node.value is not ... else UNKNOWN
    if isinstance(node, ast.Name):
        return names.name(run, frame, node.id)
    if isinstance(node, ast.Attribute):
        return names.attribute(run, frame, evaluate(run, frame, node.value), node)
    if isinstance(node, ast.Call):
        return calling.call(run, frame, node)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return _sequence(run, frame, node.elts)
    if isinstance(node, ast.Dict):
        return _dictionary(run, frame, node)
    if isinstance(node, ast.Subscript):
        return _item(evaluate(run, frame, node.value), evaluate(run, frame, node.slice))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return _comprehension(run, frame, node, 0)
    if isinstance(node, (ast.Compare, ast.BoolOp, ast.IfExp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return conditions.logic(run, frame, node)
    return _other(run, frame, node)


def _other(run: Execution, frame: Frame, node: ast.expr) -> Value:
    if isinstance(node, ast.Lambda):
        return Lambda(node, frame)
    if isinstance(node, ast.NamedExpr):
        value = evaluate(run, frame, node.value)
        run.bind(frame, node.target, value)
        return value
    if isinstance(node, ast.Yield):
        frame.yields.append(evaluate(run, frame, node.value) if node.value else NONE)
        return UNKNOWN
    if isinstance(node, ast.YieldFrom):
        frame.yields.append(iterating.draw(run, frame, node.value, evaluate(run, frame, node.value)))
        return UNKNOWN
    if isinstance(node, (ast.Await, ast.Starred)):
        return evaluate(run, frame, node.value)
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        left = evaluate(run, frame, node.left if isinstance(node, ast.BinOp) else node.operand)
        if isinstance(node, ast.BinOp) and isinstance(left, (Dictionary, Sequence)):
            return _joined(node.op, left, evaluate(run, frame, node.right))
        return number(run, frame, node)
    for child in ast.iter_child_nodes(node):  # f-strings, slices: only what they start counts
        if isinstance(child, ast.expr):
            evaluate(run, frame, child)
    return UNKNOWN


def number(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """The number that an arithmetic expression or a call of a counting function gives."""

    def value_of(part: ast.expr) -> Number:
        value = evaluate(run, frame, part)
        plain = isinstance(value, Const) and isinstance(value.value, (int, float, str, Positive))
        return value.value if plain else None  # type: ignore[union-attr,return-value]

    def qualified(function: ast.expr) -> str:
        value = evaluate(run, frame, function)
        return value.name if isinstance(value, Foreign) else ""

    result = compute(node, value_of, qualified)
    return UNKNOWN if result is None else Const(result)


def _joined(operator: ast.operator, left: Dictionary | Sequence, right: Value) -> Value:
    if isinstance(left, Dictionary) and isinstance(right, Dictionary) and isinstance(operator, ast.BitOr):
        return left.updated(dict(right.items), complete=right.complete)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and isinstance(operator, ast.Add):
        return Sequence(left.items + right.items, left.complete and right.complete)
    if isinstance(left, Sequence) and isinstance(operator, ast.Mult):
        return Sequence(left.items, complete=False)
    return UNKNOWN


def augmented(run: Execution, frame: Frame, node: ast.AugAssign) -> Value:
    """What ``x += y`` leaves in ``x``."""
    target = evaluate(run, frame, node.target)
    if isinstance(target, (Sequence, Dictionary)):
        return _joined(node.op, target, evaluate(run, frame, node.value))
    return UNKNOWN


def _item(owner: Value, key: Value) -> Value:
    if isinstance(owner, Dictionary):
        if isinstance(key, Const):
            return owner.get(key.value)
        return merge_all([value for _, value in owner.items]) if owner.complete else UNKNOWN
    if isinstance(owner, Sequence):
        if isinstance(key, Const) and isinstance(key.value, int) and owner.complete:
            return owner.items[key.value] if -len(owner.items) <= key.value < len(owner.items) else UNKNOWN
        return merge_all(list(owner.items))
    return UNKNOWN


def _sequence(run: Execution, frame: Frame, elements: list[ast.expr]) -> Value:
    found: list[Value] = []
    complete = True
    for element in elements:
        value = evaluate(run, frame, element)
        if not isinstance(element, ast.Starred):
            found.append(value)
        elif isinstance(value, Sequence):
            found += value.items
            complete &= value.complete
        else:
            iterating.draw(run, frame, element.value, value)
            complete = False
    return Sequence(tuple(found), complete)


def _dictionary(run: Execution, frame: Frame, node: ast.Dict) -> Value:
    entries: dict[object, Value] = {}
    complete = True
    for key, expression in zip(node.keys, node.values, strict=True):
        value = evaluate(run, frame, expression)
        if key is None:
            entries.update(dict(value.items) if isinstance(value, Dictionary) else {})
            complete &= isinstance(value, Dictionary) and value.complete
            continue
        known = evaluate(run, frame, key)
        if isinstance(known, Const):
            entries[known.value] = value
        complete &= isinstance(known, Const)
    return Dictionary(tuple(entries.items()), complete)


def _comprehension(
    run: Execution,
    frame: Frame,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    depth: int,
) -> Value:
    generator = node.generators[depth]
    iterated = evaluate(run, frame, generator.iter)
    complete = isinstance(iterated, (Sequence, Dictionary)) and iterated.complete and not generator.ifs
    found: list[Value] = []
    table = Dictionary(())
    for item in iterating.items(run, frame, generator.iter, iterated):
        run.bind(frame, generator.target, item)
        for test in generator.ifs:
            evaluate(run, frame, test)
        if depth + 1 < len(node.generators):
            complete = False
            inner = _comprehension(run, frame, node, depth + 1)
            found += inner.items if isinstance(inner, Sequence) else ()
        elif isinstance(node, ast.DictComp):
            key, value = evaluate(run, frame, node.key), evaluate(run, frame, node.value)
            table = table.updated(
                {key.value: value} if isinstance(key, Const) else {},
                complete=isinstance(key, Const) and complete,
            )
        else:
            found.append(evaluate(run, frame, node.elt))
    return table if isinstance(node, ast.DictComp) else Sequence(tuple(found), complete)
