"""Lists, dictionaries and the builtins that iterate, in an abstract run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.starting.running import calling, evaluation, iterating
from forklint.facts.starting.running.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Const,
    Dictionary,
    Foreign,
    Lazy,
    Method,
    Sequence,
    Spot,
    Stream,
    Value,
    merge_all,
)
from forklint.values.numbers import called

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

BUILTINS = {"builtins.next", "builtins.dict"}
"""Builtins beside those that starters.toml names which are followed here."""
COPIES = {"list", "tuple", "sorted", "reversed", "set", "frozenset"}


def call_builtin(run: Execution, spot: Spot, name: str, given: Arguments) -> Value:
    """Call a builtin that iterates its arguments at once, or ``next`` or ``dict``."""
    places = spot.node.args if isinstance(spot.node, ast.Call) else []
    at = [spot.at(place) for place in places] + [spot] * len(given.positional)
    if name == "dict":
        return _dict(given)
    if not given.positional:
        return Sequence(()) if name in COPIES else UNKNOWN
    first = given.positional[0]
    result: Value = UNKNOWN
    if name == "next":
        result = iterating.following(run, at[0], first)
    elif name == "zip":
        for where, value in zip(at, given.positional, strict=False):
            iterating.iterator(run, where, value)
        result = _zipped(given.positional)
    elif name in {"map", "filter"}:
        inner = [iterating.draw(run, spot, value) for value in given.positional[1:]]
        result = Sequence((calling.apply(run, spot, first, Arguments(tuple(inner))),), complete=False)
    elif name in {"iter", "cycle", "islice"}:
        result = iterating.iterator(run, at[0], first)
    elif name == "enumerate":
        result = Lazy((first,)) if isinstance(first, (Stream, Lazy)) else _numbered(run, at[0], first)
    elif name in COPIES and isinstance(first, Sequence):
        result = first
    else:
        item = iterating.draw(run, at[0], first)
        if name in COPIES or name == "deque":
            result = Sequence((item,), complete=False)
        else:
            count = called(name, [evaluation.number_of(value) for value in given.positional])
            result = Const(count) if count is not None else UNKNOWN
    return result


def _length(given: tuple[Value, ...]) -> Value:
    """The length of a list or dictionary; nothing is iterated for it."""
    value = given[0]
    is_known = isinstance(value, (Sequence, Dictionary)) and value.complete
    return Const(len(value.items)) if is_known else UNKNOWN  # type: ignore[union-attr]


def _is_instance(given: tuple[Value, ...]) -> Value:
    """Whether a text, a list or a dictionary is one of a builtin type; UNKNOWN for all else."""
    value, kinds = given[0], given[1:]
    kind = kinds[0].name.removeprefix("builtins.") if kinds and isinstance(kinds[0], Foreign) else ""
    if isinstance(value, Const) and isinstance(value.value, str):
        own = {"str"}
    elif isinstance(value, (Sequence, Dictionary)):
        own = {"dict"} if isinstance(value, Dictionary) else {"list", "tuple", "set"}
    else:
        return UNKNOWN
    if kind in own:
        return Const(value=True) if len(own) == 1 else UNKNOWN
    return Const(value=False) if kind in {"str", "dict", "list", "tuple", "set", "int", "float", "bool"} else UNKNOWN


LOOKING = {"builtins.len": _length, "builtins.isinstance": _is_instance}
"""Builtins that look at what they are given, and run nothing of it."""


def _dict(given: Arguments) -> Value:
    base = given.positional[0] if given.positional else Dictionary(())
    if not isinstance(base, Dictionary):
        return Dictionary(tuple(given.keywords.items()), complete=False)
    return base.updated(dict(given.keywords), complete=not given.open)


def _numbered(run: Execution, spot: Spot, value: Value) -> Value:
    iterating.iterator(run, spot, value)
    if not isinstance(value, Sequence):
        return UNKNOWN
    return Sequence(tuple(Sequence((UNKNOWN, item)) for item in value.items), value.complete)


def _zipped(values: tuple[Value, ...]) -> Value:
    columns = [value.items for value in values if isinstance(value, Sequence)]
    if len(columns) != len(values):
        return UNKNOWN
    return Sequence(tuple(Sequence(row) for row in zip(*columns, strict=False)))


def call_method(run: Execution, spot: Spot, method: Method, given: Arguments) -> Value:
    """Call a method of a list or dictionary; one that changes it binds anew the name that holds it."""
    owner = method.owner
    changed: Value | None = None
    result: Value = UNKNOWN
    if isinstance(owner, Dictionary):
        result, changed = _dictionary_method(owner, method.name, given)
    elif isinstance(owner, Sequence):
        result, changed = _sequence_method(owner, method.name, given)
    if changed is not None and isinstance(method.expression, (ast.Name, ast.Attribute)):
        run.bind(spot.frame, method.expression, changed)
    return result


def _dictionary_method(owner: Dictionary, name: str, given: Arguments) -> tuple[Value, Value | None]:
    """Give what a method of a dictionary gives, and what it leaves of it, if that differs."""
    result: Value = UNKNOWN
    changed: Value | None = None
    if name == "items":
        pairs = tuple(Sequence((evaluation.constant(key), value)) for key, value in owner.items)
        result = Sequence(pairs, owner.complete)
    elif name == "values":
        result = Sequence(tuple(value for _, value in owner.items), owner.complete)
    elif name == "copy":
        result = owner
    elif name == "get" and given.positional and isinstance(given.positional[0], Const):
        key = given.positional[0].value
        absent = key not in dict(owner.items) and owner.complete
        result = (given.positional[1] if len(given.positional) > 1 else NONE) if absent else owner.get(key)
    elif name == "update":
        more = given.positional[0] if given.positional else Dictionary(())
        entries: dict[object, Value] = dict(more.items) if isinstance(more, Dictionary) else {}
        entries.update(given.keywords.items())
        complete = isinstance(more, Dictionary) and more.complete and not given.open
        base = owner if isinstance(more, Dictionary) else Dictionary((), complete=False)
        changed = base.updated(entries, complete=complete)
    elif name in {"pop", "setdefault"} and given.positional and isinstance(given.positional[0], Const):
        key, default = given.positional[0].value, given.get("", 1)
        result = owner.get(key) if key in dict(owner.items) else UNKNOWN
        if name == "pop":
            changed = Dictionary(tuple(item for item in owner.items if item[0] != key), owner.complete)
        elif key not in dict(owner.items):
            changed = owner.updated({key: (default or NONE) if owner.complete else UNKNOWN})
    elif name in {"pop", "popitem", "clear", "setdefault"}:
        changed = UNKNOWN
    return result, changed


def _sequence_method(owner: Sequence, name: str, given: Arguments) -> tuple[Value, Value | None]:
    """Give what a method of a list gives, and what it leaves of it, if that differs."""
    if name == "extend" and given.positional:
        more = given.positional[0]
        items = more.items if isinstance(more, Sequence) else ()
        complete = owner.complete and isinstance(more, Sequence) and more.complete
        return NONE, Sequence(owner.items + items, complete)
    if name in {"append", "add", "insert"} and given.positional:
        return NONE, Sequence((*owner.items, given.positional[-1]), owner.complete)
    if name in {"pop", "remove", "clear"}:
        return merge_all(list(owner.items)), Sequence(owner.items, complete=False)
    return UNKNOWN, None
