"""What is drawn from something that is iterated: items of lists, of generators, of what a progress bar wraps."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.knowledge.starters import iteration, starters
from forklint.project.spelling import argument, is_name
from forklint.values import arithmetic, calls
from forklint.values.model import (
    NOTHING,
    Constant,
    Expression,
    Found,
    Made,
    Row,
    Source,
    Stream,
    Table,
    Value,
    agreed,
    of_each,
    perhaps,
)
from forklint.values.numbers import POSITIVE, Number, Positive, Workers, verdict

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

RANGE, REPEAT = "builtins.range", "itertools.repeat"


def of_dict(evaluator: Evaluator, source: Expression) -> Found:
    """What a dictionary that is written out holds."""
    node = source.node
    assert isinstance(node, ast.Dict)  # noqa: S101 - FINDERS says so
    entries: dict[str, Source] = {}
    others: list[Source] = []
    complete = True
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = evaluator.table(source.part(value))
            complete &= inner is not None and inner.complete
            entries = {**entries, **inner.entries} if inner is not None else {}
            continue
        name = evaluator.find(source.part(key)).value
        if isinstance(name, Constant) and isinstance(name.value, str):
            entries[name.value] = source.part(value)
        else:
            others.append(source.part(value))
            complete &= isinstance(name, Constant)
    return Found(Table(entries, complete, tuple(others)))


def of_display(evaluator: Evaluator, source: Expression) -> Found:
    """What a list, tuple or set that is written out holds."""
    items: list[Source] = []
    complete = True
    for part in source.node.elts:  # type: ignore[attr-defined]
        if not isinstance(part, ast.Starred):
            items.append(source.part(part))
            continue
        inner = evaluator.find(source.part(part.value)).value
        items += inner.items if isinstance(inner, Row) else ()
        complete &= isinstance(inner, Row) and inner.complete
    return Found(Row(tuple(items), complete))


def dict_of_each(_evaluator: Evaluator, source: Expression) -> Found:
    """What a comprehension makes of keys and values."""
    return Found(Table({}, complete=False, others=(source.part(source.node.value),)))  # type: ignore[attr-defined]


def of_loop(_evaluator: Evaluator, source: Expression) -> Found:
    """What a comprehension makes: something of items like its element, nobody knows how many."""
    return Found(Row((source.part(source.node.elt),), complete=False))  # type: ignore[attr-defined]


def made_in_loop(evaluator: Evaluator, source: Expression) -> Found:
    """A list made by a comprehension: ``[make(i) for i in range(n)]`` has as many items as the range."""
    node = source.node
    assert isinstance(node, ast.ListComp)  # noqa: S101 - FINDERS says so
    loop, *more = node.generators
    ranged = loop.iter
    is_plain = not more and not loop.ifs and isinstance(ranged, ast.Call) and len(ranged.args) == 1
    if is_plain and calls.qualified(evaluator, source.part(ranged.func)) == RANGE:  # type: ignore[attr-defined]
        number = evaluator.find(source.part(ranged.args[0]))  # type: ignore[attr-defined]
        count = number.value.value if isinstance(number.value, Constant) and not number.by_default else None
        if isinstance(count, int) and 0 <= count <= arithmetic.MOST_ITEMS:
            return Found(Row((source.part(node.elt),) * count))
    return of_loop(evaluator, source)


def any_item(evaluator: Evaluator, source: Expression) -> Found:
    """What an item of an expression may be, where it is not known which."""
    return item_of(evaluator, evaluator.find(source))


def item_of(evaluator: Evaluator, found: Found) -> Found:
    """What an item of something may be."""
    value = found.value
    if isinstance(value, Row):
        items = [evaluator.find(item).after(by_default=found.by_default) for item in value.items]
        numbers = arithmetic.in_turn(items) if value.complete else NOTHING
        return numbers if numbers.possible else _one_of(items, whole=value.complete)
    if isinstance(value, Table):
        return _one_of(_keys(value))
    if isinstance(value, Stream):
        key = (value.frame.function.node, value.frame)
        return evaluator.ask("an item of a generator", key, lambda: yielded(evaluator, value), NOTHING)
    if isinstance(value, Made) and value.name == RANGE:
        of_call = value.call.node, value.call.frame
        return evaluator.ask("a number of a range", of_call, lambda: _of_range(evaluator, value.call), NOTHING)
    if isinstance(value, Made) and value.name == REPEAT:
        repeated = argument(value.call.node, "object", 0)  # type: ignore[arg-type]
        return evaluator.find(value.call.part(repeated)) if repeated is not None else NOTHING
    if isinstance(value, Made):
        inner = wrapped(value)
        if inner is None:
            return NOTHING
        return evaluator.ask("an item", (inner.node, inner.frame), lambda: any_item(evaluator, inner), NOTHING)
    return perhaps(item_of(evaluator, one) for one in found.options)


def _of_range(evaluator: Evaluator, call: Expression) -> Found:
    """What a loop over ``range(...)`` takes that counts up; NOTHING where that may be none."""
    given = call.node.args  # type: ignore[attr-defined]
    if not 1 <= len(given) <= 3 or any(isinstance(one, ast.Starred) for one in given):
        return NOTHING
    limits = [evaluator.find(call.part(one)) for one in given]
    first, last, *rest = map(arithmetic.number_of, limits if len(limits) > 1 else [Found(Constant(0)), *limits])
    step = rest[0] if rest else 1
    if verdict(step) is not Workers.SOME or (_is_plain(first, last) and last <= first):  # type: ignore[operator]
        return NOTHING
    positive = arithmetic.joined(Constant(POSITIVE), *limits)
    if verdict(first) is Workers.SOME:
        return positive
    reaches_more = isinstance(last, Positive) or (_is_plain(last, step) and last > step)  # type: ignore[operator]
    is_zero = first == 0 and not isinstance(first, bool)
    zero = arithmetic.joined(Constant(0), *limits)
    return arithmetic.in_turn([zero, positive]) if is_zero and reaches_more else NOTHING


def _is_plain(*values: Number) -> bool:
    return all(isinstance(one, (int, float)) for one in values)


def _keys(table: Table) -> list[Found]:
    return [Found(Constant(key)) for key in table.entries] if table.complete else []


def needs_other_key(owner: Value, key: Found) -> bool:
    """Whether a mapping lacks the key that is asked for by default: then the user of the program says another."""
    if not key.by_default or not isinstance(key.value, Constant) or not isinstance(owner, Table):
        return False
    return owner.complete and key.value.value not in list(owner.entries)


def wrapped(made: Made) -> Expression | None:
    """What is iterated when an object of a library is, if its items are the same."""
    node = made.call.node
    if made.name not in iteration().same_items or not isinstance(node, ast.Call) or not node.args:
        return None
    return None if isinstance(node.args[0], ast.Starred) else made.call.part(node.args[0])


def yielded(evaluator: Evaluator, stream: Stream) -> Found:
    """What a generator gives."""
    function = stream.frame.function
    here = Expression(function.module, function.scope, ast.Constant(None), stream.frame)
    found = []
    for one in calls.yields(function.node):
        if isinstance(one, ast.YieldFrom):
            found.append(any_item(evaluator, here.part(one.value)))
        elif one.value is not None:
            found.append(evaluator.find(here.part(one.value)))
    return _one_of(found)


def _one_of(found: list[Found], *, whole: bool = False) -> Found:
    """One of several; ``whole`` says that it is none but these."""
    if len(found) == 1:
        return found[0]
    return agreed(found) if whole else perhaps(found)


def drawn(evaluator: Evaluator, iterated: Expression, target: ast.expr, name: str) -> Found:
    """What a name of the target holds in ``for target in iterated``."""
    if is_name(target, name):
        return any_item(evaluator, iterated)
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    index = next((i for i, part in enumerate(parts) if _binds(part, name)), None)
    if index is None or any(isinstance(part, ast.Starred) for part in parts):
        return NOTHING
    node = iterated.node
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
        called = calls.qualified(evaluator, iterated.part(node.func))
        if called == "builtins.zip" and index < len(node.args):
            return drawn(evaluator, iterated.part(node.args[index]), parts[index], name)
        if called == "builtins.enumerate":
            return drawn(evaluator, iterated.part(node.args[0]), parts[index], name) if index == 1 else NOTHING
        if called in iteration().same_items:
            return drawn(evaluator, iterated.part(node.args[0]), target, name)
    if not is_name(parts[index], name):
        return NOTHING
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
        owner = evaluator.find(iterated.part(node.func.value)).value
        if not isinstance(owner, Table):
            return NOTHING
        return _one_of(list(map(evaluator.find, owner.values)) if index == 1 else _keys(owner))
    return part_of(evaluator, any_item(evaluator, iterated), index, len(parts))


def part_of(evaluator: Evaluator, found: Found, index: int, number: int) -> Found:
    """What one name holds where something is unpacked into a number of them."""
    if isinstance(found.value, Row):
        row = found.value
        if not row.complete and len(row.items) != number:
            return item_of(evaluator, found)
        whole = evaluator.find(row.items[index]) if len(row.items) == number else NOTHING
        return whole.after(by_default=found.by_default)
    return of_each(found, lambda one: part_of(evaluator, one, index, number))


def unpacked(evaluator: Evaluator, found: Found, target: ast.expr, name: str) -> Found:
    """What a name holds where something is unpacked into a target, also within others: ``(a, b), c = build()``."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    index = next((i for i, part in enumerate(parts) if _binds(part, name)), None)
    if index is None or any(isinstance(part, ast.Starred) for part in parts):
        return NOTHING
    part = part_of(evaluator, found, index, len(parts))
    return part if is_name(parts[index], name) else unpacked(evaluator, part, parts[index], name)


def written_part(target: ast.expr, whole: ast.expr, name: str) -> ast.expr | None:
    """What ``(model, self.loader), steps = build()`` assigns to an attribute, written as ``build()[0][1]``."""
    if isinstance(target, ast.Attribute):
        return whole if target.attr == name else None
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if any(isinstance(part, ast.Starred) for part in parts):
        return None
    found = [
        inner
        for number, part in enumerate(parts)
        if (inner := written_part(part, _item_written(whole, number), name)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _item_written(whole: ast.expr, number: int) -> ast.Subscript:
    index = ast.copy_location(ast.Constant(number), whole)
    return ast.copy_location(ast.Subscript(whole, index, ast.Load()), whole)


def is_part(place: Expression) -> bool:
    """Whether an expression stands nowhere in the text: see ``written_part``."""
    return isinstance(place.node, ast.Subscript) and place.node not in place.module.parents


def are_like(name: str) -> bool:
    """Whether what a library gave, by its name, has parts of its own kind: of a dataset, or an unknown file."""
    row = starters().get(name)
    is_chained = row is not None and bool(row.chained)
    return is_chained or name in listed("datasets", "wrappers") or name in listed("files", "readers")


def as_written(place: Expression) -> Expression:
    """What stands in the text of an expression of ``written_part``; any other as it is."""
    while isinstance(place.node, ast.Subscript) and is_part(place):
        place = place.part(place.node.value)
    return place


def _binds(target: ast.expr, name: str) -> bool:
    return any(is_name(part, name) for part in ast.walk(target))
