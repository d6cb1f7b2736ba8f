"""How many workers a loader is given: none, some, or not to be known from the text.

``workers_of`` answers for a call of a loader's constructor, ``count`` for any expression. What cannot be known
(a command-line argument, a parameter, two branches that differ) is UNKNOWN: neither none nor some.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from forklint.knowledge.starters import Starter, iteration, starters
from forklint.project.index import Value
from forklint.project.module import ClassFacts
from forklint.project.scopes import Kind, Scope

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module


class Workers(Enum):
    """What is known of a number of workers."""

    NONE = "none"
    """Zero: everything is loaded in the process that asks."""
    SOME = "some"
    """At least one on the machines that train: a positive number, or the number of processors."""
    UNKNOWN = "unknown"


class Positive:
    """A number that is not known but surely above zero, such as ``os.cpu_count()``."""


POSITIVE = Positive()
Number = int | float | bool | str | Positive | None
"""A constant, POSITIVE, or None where nothing is known."""
MAX_DEPTH = 12
"""How many names are followed for one number."""


@dataclass(frozen=True)
class LoaderArguments:
    """The arguments of a starter's call that decide what it starts; None where the call does not give them."""

    workers: ast.expr | None
    context: ast.expr | None
    threads: ast.expr | None
    unpacked: tuple[ast.expr, ...]
    """What is given as ``**kwargs``."""
    starred: bool
    """Whether ``*args`` hides what stands at which position."""


def arguments(call: ast.Call, row: Starter) -> LoaderArguments:
    """Pick the arguments of a call that ``row`` says matter."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)

    def pick(name: str, position: int | None) -> ast.expr | None:
        for keyword in call.keywords:
            if name and keyword.arg == name:
                return keyword.value
        placed = not starred and position is not None and position < len(call.args)
        return call.args[position] if placed and position is not None else None

    return LoaderArguments(
        workers=pick(row.workers, row.workers_position),
        context=pick(row.context, row.context_position),
        threads=pick(row.threads, row.threads_position),
        unpacked=tuple(keyword.value for keyword in call.keywords if keyword.arg is None),
        starred=starred,
    )


def loader_row(project: Project, module: Module, scope: Scope, call: ast.Call) -> Starter | None:
    """Find the row of starters.toml for a call that makes a loader; None if it makes none.

    A project class counts by the library loader that it inherits from, unless its own ``__init__`` may choose
    the number of workers.
    """
    known = starters(project.settings.starters)
    symbol = project.resolve(module, scope, call.func)
    if isinstance(symbol, ClassFacts) and project.method(symbol, "__init__") is None:
        names = project.ancestry(symbol).external
    else:
        names = (getattr(symbol, "name", ""),) if not isinstance(symbol, ClassFacts) else ()
    rows = (known[name] for name in names if name in known)
    return next((row for row in rows if row.how == "iterated"), None)


def workers_of(project: Project, module: Module, scope: Scope, call: ast.Call) -> Workers | None:
    """How many workers a loader starts when it is iterated; None if the call makes no loader.

    ``scope`` is the one in which the call stands.
    """
    row = loader_row(project, module, scope, call)
    if row is None:
        return None
    given = arguments(call, row)
    if given.threads is not None and verdict(number(project, module, scope, given.threads)) is not Workers.NONE:
        return Workers.UNKNOWN
    if given.workers is not None:
        return count(project, module, scope, given.workers)
    for unpacked in given.unpacked:
        found = _entry(project, module, scope, unpacked, row.workers)
        if found is not ABSENT:
            return verdict(found)  # type: ignore[arg-type]
    if given.starred and row.workers_position is not None:
        return Workers.UNKNOWN
    return verdict(row.workers_default)


def count(project: Project, module: Module, scope: Scope, expression: ast.expr) -> Workers:
    """Say what is known of the number that an expression gives in a scope."""
    return verdict(number(project, module, scope, expression))


def verdict(value: Number) -> Workers:
    """Sort a number into none, some and unknown."""
    if isinstance(value, Positive) or (isinstance(value, (int, float)) and value > 0):
        return Workers.SOME
    if isinstance(value, (int, float)) and value == 0:
        return Workers.NONE
    return Workers.UNKNOWN


def number(project: Project, module: Module, scope: Scope, expression: ast.expr, depth: int = MAX_DEPTH) -> Number:
    """Work out a number made of constants, names assigned once and numbers of processors; None if not known."""

    def inner(part: ast.expr) -> Number:
        return number(project, module, scope, part, depth - 1)

    result: Number = None
    if isinstance(expression, ast.Constant) and isinstance(expression.value, (int, float, str)):
        result = expression.value
    elif isinstance(expression, (ast.Name, ast.Attribute)) and depth > 0:
        result = _assigned_once(project, project.resolve(module, scope, expression), depth)
    elif isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        operand = inner(expression.operand)
        result = -operand if isinstance(operand, (int, float)) else None
    elif isinstance(expression, ast.BinOp):
        result = binary(expression.op, inner(expression.left), inner(expression.right))
    elif isinstance(expression, ast.IfExp):
        first, second = inner(expression.body), inner(expression.orelse)
        result = first if first == second and type(first) is type(second) else None
    elif isinstance(expression, ast.Call):
        plain = isinstance(expression.func, ast.Name) and scope.find(expression.func.id) is None
        name = expression.func.id if plain else project.qualified(module, scope, expression.func)  # type: ignore[attr-defined]
        result = called(name, [inner(argument) for argument in expression.args])
    return result


def _assigned_once(project: Project, symbol: object, depth: int) -> Number:
    if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE or symbol.binding.value is None:
        return None
    return number(project, symbol.module, symbol.scope, symbol.binding.value, depth - 1)


def binary(operator: ast.operator, left: Number, right: Number) -> Number:
    """Combine two numbers. Half of the processors, or all but one, still counts as positive where training is done."""
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        try:
            return _plain(operator, left, right)
        except (ZeroDivisionError, OverflowError):
            return None
    if isinstance(left, Positive) and isinstance(right, (int, float, Positive)):
        if isinstance(operator, ast.Sub):
            return POSITIVE if right == 1 else None
        shrinks = isinstance(operator, (ast.FloorDiv, ast.Div)) and right in {1, 2, 4}
        grows = isinstance(operator, (ast.Add, ast.Mult)) and verdict(right) is Workers.SOME
        return POSITIVE if shrinks or grows else None
    if isinstance(right, Positive) and isinstance(operator, (ast.Add, ast.Mult)):
        return POSITIVE if verdict(left) is Workers.SOME else None
    return None


def _plain(operator: ast.operator, left: float, right: float) -> Number:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.FloorDiv):
        return left // right
    return left / right if isinstance(operator, ast.Div) else None


def called(name: str, values: list[Number]) -> Number:
    """Work out what a counting function gives, by its qualified name, or plain name of a builtin."""
    result: Number = None
    if name in iteration().positive_counts:
        result = POSITIVE
    elif name in {"int", "len", "abs", "round"} and len(values) == 1:
        value = values[0]
        if isinstance(value, (int, float)) and math.isfinite(value) and name != "len":
            result = int(value)
        result = POSITIVE if isinstance(value, Positive) else result
    elif name in {"min", "max"} and values:
        verdicts = [verdict(value) for value in values]
        decisive = Workers.SOME if name == "max" else Workers.NONE
        if decisive in verdicts:
            result = POSITIVE if name == "max" else 0
        elif Workers.UNKNOWN not in verdicts:
            result = 0 if name == "max" else POSITIVE
    return result


class _Absent:
    """Stands for a key that a mapping does not have."""


ABSENT = _Absent()


def _entry(project: Project, module: Module, scope: Scope, mapping: ast.expr, key: str) -> Number | _Absent:
    """Value of a key in a mapping given as ``**mapping``; None if that cannot be known."""
    if isinstance(mapping, ast.Name):
        symbol = project.resolve(module, scope, mapping)
        value = symbol.binding.value if isinstance(symbol, Value) else None
        if isinstance(symbol, Value) and isinstance(value, (ast.Dict, ast.Call)):
            return _entry(project, symbol.module, symbol.scope, value, key)
        return None
    table: dict[object, ast.expr] = {}
    if isinstance(mapping, ast.Dict) and all(isinstance(name, ast.Constant) for name in mapping.keys):
        table = {name.value: value for name, value in zip(mapping.keys, mapping.values, strict=True)}  # type: ignore[union-attr]
    elif isinstance(mapping, ast.Call) and _is_plain_dict(mapping):
        table = {keyword.arg: keyword.value for keyword in mapping.keywords}
    else:
        return None
    return number(project, module, scope, table[key]) if key in table else ABSENT


def _is_plain_dict(call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Name) and call.func.id == "dict"
    return named and not call.args and all(keyword.arg for keyword in call.keywords)
