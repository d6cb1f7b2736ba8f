"""What a method or an expression plainly is, by its look."""

from __future__ import annotations

import ast

from forklint.project.scopes import Function
from forklint.project.spelling import last_name

CONTAINER_METHODS = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "appendleft"})
READING_METHODS = frozenset({"extend", "update"})
"""Those that take what they are given apart."""
BOX_VIEWS = frozenset({"values", "items", "copy"})
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


def is_name(expression: ast.expr, name: str) -> bool:
    """Whether an expression is just this name."""
    return isinstance(expression, ast.Name) and expression.id == name


def is_closing(expression: ast.expr) -> bool:
    """Whether an expression is ``contextlib.closing(...)``."""
    function = expression.func if isinstance(expression, ast.Call) else None
    return last_name(function) == "closing"
