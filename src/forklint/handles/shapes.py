"""What a method or an expression plainly is, by its look."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.project.scopes import Function
from forklint.project.spelling import is_name, last_name

CONTAINER_METHODS = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "appendleft"})
READING_METHODS = frozenset({"extend", "update"})
"""Those that take what they are given apart."""
BOX_VIEWS = frozenset({"values", "items", "copy", "__enter__"})
UNBOXING = frozenset({"get", "pop"})
CLOSING_METHODS = frozenset({"close", "release", "dispose", "__exit__"})
BOX_FUNCTIONS = frozenset({"list", "tuple", "dict", "set", "zip", "enumerate", "reversed", "sorted", "iter"})


def is_property(function: Function) -> bool:
    """Whether a method is read like an attribute."""
    names = {last_name(decorator) for decorator in function.decorator_list}
    return bool(names & {"property", "cached_property", "lazy_property"})


def is_cached(function: Function) -> bool:
    """Whether a property runs once and its value is kept on the object."""
    return bool({last_name(decorator) for decorator in function.decorator_list} & {"cached_property", "lazy_property"})


def last_return(function: Function) -> ast.Return | None:
    """The statement at the end of a function that gives its value."""
    last = function.body[-1]
    return last if isinstance(last, ast.Return) else None


def closes_alone(body: list[ast.stmt]) -> bool:
    """Whether a block is one call that closes something: whether it raises or not, that is gone."""
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CLOSING_METHODS


def pairs(display: ast.Dict) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """Give the keys and values of a display of a dictionary; None for the key of ``**other``."""
    return zip(display.keys, display.values, strict=True)


def is_closing(expression: ast.expr) -> bool:
    """Whether an expression is ``contextlib.closing(...)``."""
    function = expression.func if isinstance(expression, ast.Call) else None
    return last_name(function) == "closing"


def columns(iterable: ast.expr) -> list[ast.expr | None]:
    """What the parts of each element come from, of ``enumerate``, ``zip`` and ``items``; None for a number or key."""
    if not isinstance(iterable, ast.Call) or any(isinstance(argument, ast.Starred) for argument in iterable.args):
        return []
    if is_name(iterable.func, "zip"):
        return [*iterable.args]
    if is_name(iterable.func, "enumerate") and iterable.args:
        return [None, iterable.args[0]]
    is_view = isinstance(iterable.func, ast.Attribute) and iterable.func.attr == "items"
    return [None, iterable] if is_view else []
