"""What operators give: numbers, conditions, and paths joined with ``/``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from forklint.knowledge import presets
from forklint.project.spelling import is_class_name
from forklint.values import numbers
from forklint.values.model import (
    NOTHING,
    Constant,
    Expression,
    Found,
    Instance,
    Lambda,
    Made,
    Ref,
    Row,
    Setting,
    Stream,
    Table,
    Text,
    Value,
    agreed,
    perhaps,
)
from forklint.values.numbers import POSITIVE, Number, Positive, Workers, verdict
from forklint.values.worlds import BY_MACHINE, EVERYWHERE, NOWHERE

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

FUNCTIONS = frozenset({"Open", "OpenEx", "OpenShared"})
"""Functions of gdal and others that are called like classes, and give None for what they cannot open."""
MOST_ITEMS = 64
"""Of a list that is made in a loop or repeated, and of which all are told."""
OBJECTS = (Instance, Lambda, Ref, Row, Stream, Table, Text)
"""Values of which it is known that they are not None, if nothing else."""


def number_of(found: Found) -> Number:
    """The number that was found; None where it is none, or not known."""
    value = found.value
    if isinstance(value, Setting):
        value = Constant(value.node.real.value)
    known = isinstance(value, Constant) and isinstance(value.value, (int, float, str, Positive))
    return value.value if known else None  # type: ignore[union-attr,return-value]


def joined(value: Constant, *parts: Found) -> Found:
    """Give what was worked out from several parts, with the places of all of them."""
    links = dict.fromkeys(link for part in parts for link in part.links)
    return Found(value, tuple(links), any(part.by_default for part in parts))


def in_turn(items: Sequence[Found]) -> Found:
    """What the variable of a loop over numbers holds: zero, one above it, or first the one; NOTHING for other items."""
    kinds = [verdict(number_of(one)) for one in items]
    if set(kinds) == {Workers.NONE}:
        return agreed(items)
    if Workers.SOME not in kinds or Workers.UNKNOWN in kinds:
        return NOTHING
    positive = agreed(one for one, kind in zip(items, kinds, strict=True) if kind is Workers.SOME)
    zero = [one for one, kind in zip(items, kinds, strict=True) if kind is Workers.NONE]
    return Found(options=(zero[0], positive), in_turn=True) if zero else positive


def _by_machine(found: Found) -> Found:
    """A number of accelerators: above zero where there are any, and zero elsewhere. What else is found stays."""
    value = found.value
    if not isinstance(value, Made) or not value.name.endswith(".device_count") or value.name not in presets.questions():
        return found
    worlds = NOWHERE.union(*(BY_MACHINE[one] for one in presets.questions()[value.name]))
    some, none = Found(Constant(POSITIVE)), Found(Constant(0))
    return Found(options=(some.within(worlds), none.within(EVERYWHERE - worlds)), is_all=True).within(found.worlds)


def of_each(parts: Sequence[Found], work_out: Callable[[list[Number]], Number]) -> Found:
    """What is worked out from numbers, also where one of them is one of several; NOTHING where nothing is known."""
    parts = [_by_machine(one) for one in parts]
    several = next((i for i, one in enumerate(parts) if one.options and (one.is_all or one.in_turn)), None)
    if several is None:
        number = work_out([number_of(one) for one in parts])
        return NOTHING if number is None else joined(Constant(number), *parts)
    one_each = [[*parts[:several], one, *parts[several + 1 :]] for one in parts[several].options]
    each = [of_each(these, work_out).within(these[several].worlds) for these in one_each]
    return in_turn(each) if parts[several].in_turn else agreed(each)


def binary(evaluator: Evaluator, source: Expression) -> Found:
    """What an arithmetic operator gives."""
    node = source.node
    assert isinstance(node, ast.BinOp)  # noqa: S101 - FINDERS says so
    left, right = evaluator.find(source.part(node.left)), evaluator.find(source.part(node.right))
    if isinstance(node.op, ast.Div) and isinstance(right.value, Constant) and isinstance(right.value.value, str):
        first = left.value.value if isinstance(left.value, Constant) and isinstance(left.value.value, str) else ""
        return joined(Constant(str(PurePosixPath(first) / right.value.value)), left, right)
    if isinstance(node.op, ast.Add) and isinstance(left.value, Row) and isinstance(right.value, Row):
        row = Row((*left.value.items, *right.value.items), left.value.complete and right.value.complete)
        return Found(row, by_default=left.by_default or right.by_default)
    if isinstance(node.op, ast.Mult) and isinstance(left.value, Row):
        return _repeated(left, left.value, right)
    if isinstance(node.op, (ast.Add, ast.Mod)) and isinstance(left.value, Constant):
        text = left.value.value if isinstance(left.value.value, str) else ""
        more = right.value.value if isinstance(right.value, Constant) else None
        if text and isinstance(node.op, ast.Add) and isinstance(more, str):
            return joined(Constant(text + more), left, right)
        start = text.partition("%")[0] if isinstance(node.op, ast.Mod) else text
        if start:
            return Found(Text(start))
    if isinstance(node.op, ast.BitOr) and isinstance(left.value, Table) and isinstance(right.value, Table):
        if not right.value.complete:
            return Found(Table(right.value.entries, complete=False))
        return Found(Table({**left.value.entries, **right.value.entries}, left.value.complete))
    return of_each([left, right], lambda both: numbers.binary(node.op, *both))


def _repeated(found: Found, row: Row, times: Found) -> Found:
    """What ``[item] * n`` gives: the items over again, if ``n`` is known, and else one time, with more to come.

    What is made of None is to be filled.
    """
    if all(isinstance(one, Expression) and getattr(one.node, "value", one) is None for one in row.items):
        return NOTHING
    count = times.value.value if isinstance(times.value, Constant) and not times.by_default else None
    if isinstance(count, int) and 0 <= count * len(row.items) <= MOST_ITEMS:
        return Found(Row(row.items * count, row.complete), by_default=found.by_default)
    return Found(Row(row.items, complete=False), by_default=found.by_default)


def unary(evaluator: Evaluator, source: Expression) -> Found:
    """What ``-x`` and ``not x`` give."""
    node = source.node
    assert isinstance(node, ast.UnaryOp)  # noqa: S101 - FINDERS says so
    found = evaluator.find(source.part(node.operand))
    if not isinstance(found.value, Constant):
        return NOTHING
    if isinstance(node.op, ast.Not):
        return joined(Constant(not is_true(found.value)), found)
    number = number_of(found)
    negative = isinstance(node.op, ast.USub) and isinstance(number, (int, float))
    return joined(Constant(-number), found) if negative else NOTHING  # type: ignore[operator]


def is_true(value: Constant) -> bool:
    """Whether a constant counts as true in a condition."""
    return isinstance(value.value, Positive) or bool(value.value)


def truth(found: Found) -> Found:
    """What ``bool(x)`` gives of a constant; NOTHING of anything else."""
    return joined(Constant(is_true(found.value)), found) if isinstance(found.value, Constant) else NOTHING


def logic(evaluator: Evaluator, source: Expression) -> Found:
    """What ``a or b`` and ``a and b`` give where each part that decides is known."""
    node = source.node
    assert isinstance(node, ast.BoolOp)  # noqa: S101 - FINDERS says so
    seen: list[Found] = []
    for part in node.values:
        found = evaluator.find(source.part(part))
        seen.append(found)
        if not isinstance(found.value, Constant):
            return _asking(node, [*seen, *(evaluator.find(source.part(one)) for one in node.values[len(seen) :])])
        if is_true(found.value) is isinstance(node.op, ast.Or):
            break
    last = seen[-1].value
    return joined(last, *seen) if isinstance(last, Constant) else NOTHING


def _asking(node: ast.BoolOp, parts: list[Found]) -> Found:
    """What a condition gives that asks for the machine, and for options that do not decide: ``available() and opt``."""
    decide = [one for one in parts if not isinstance(one.value, Constant)]
    others = [one.value for one in parts if isinstance(one.value, Constant)]
    is_neutral = all(is_true(one) is isinstance(node.op, ast.And) for one in others)
    if others and is_neutral and len(decide) == 1 and question_in(decide[0].value) is not None:
        return decide[0].after(by_default=any(one.by_default for one in parts))
    return perhaps(parts)


def question_in(value: Value) -> Expression | None:
    """The question that a value is the answer to, such as ``torch.cuda.is_available()``; None for another value."""
    return value.call if isinstance(value, Made) and value.name in presets.questions() else None


def comparison(evaluator: Evaluator, source: Expression) -> Found:
    """What a comparison of two values gives."""
    node = source.node
    assert isinstance(node, ast.Compare)  # noqa: S101 - FINDERS says so
    if len(node.ops) != 1:
        return NOTHING
    left, right = evaluator.find(source.part(node.left)), evaluator.find(source.part(node.comparators[0]))
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and right.value == Constant(None) and is_something(left):
        return joined(Constant(isinstance(node.ops[0], ast.IsNot)), left, *left.options)
    if not isinstance(left.value, Constant) or not isinstance(right.value, Constant):
        return NOTHING
    answer = _compared(node.ops[0], left.value.value, right.value.value)
    return NOTHING if answer is None else joined(Constant(answer), left, right)


def is_sure(found: Found) -> bool:
    """Whether it is known what a source holds: one value, or one of several of which all are known."""
    return found.known or (found.is_all and bool(found.options))


def is_something(found: Found) -> bool:
    """Whether it is surely not None, whichever of its options it is."""
    if isinstance(found.value, Constant):
        return found.value.value is not None
    if isinstance(found.value, OBJECTS) or (isinstance(found.value, Made) and _is_object(found.value.name)):
        return True
    return found.is_all and bool(found.options) and all(map(is_something, found.options))


def _is_object(name: str) -> bool:
    """Whether what a library makes under a name is an object of a class, rather than what a function may give."""
    owner, _, last = name.rpartition(".")
    return is_class_name(name) and not last.isupper() and last not in FUNCTIONS and not is_class_name(owner)


def _compared(operator: ast.cmpop, left: object, right: object) -> bool | None:
    if isinstance(operator, (ast.Is, ast.IsNot)) and right is None:
        return (left is None) is isinstance(operator, ast.Is)
    if isinstance(left, Positive) or isinstance(right, Positive):
        return _with_positive(operator, left, right)
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return (left == right) is isinstance(operator, ast.Eq)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return None
    if isinstance(operator, ast.Gt):
        return left > right
    if isinstance(operator, ast.GtE):
        return left >= right
    if isinstance(operator, ast.Lt):
        return left < right
    return left <= right if isinstance(operator, ast.LtE) else None


def _with_positive(operator: ast.cmpop, left: object, right: object) -> bool | None:
    """Compare a number that is only known to be above zero with zero."""
    if not isinstance(left, Positive) or right != 0:
        return None
    if isinstance(operator, (ast.Gt, ast.GtE, ast.NotEq)):
        return True
    return False if isinstance(operator, (ast.Eq, ast.Lt, ast.LtE)) else None
