"""Numbers of workers as arithmetic knows them: none, some, or not to be known from the text."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from enum import Enum

from forklint.knowledge.starters import iteration


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


def verdict(value: Number) -> Workers:
    """Sort a number into none, some and unknown."""
    if isinstance(value, Positive) or (isinstance(value, (int, float)) and value > 0):
        return Workers.SOME
    if isinstance(value, (int, float)) and value == 0:
        return Workers.NONE
    return Workers.UNKNOWN


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


WHOLE: dict[str, Callable[[float], float]] = {"int": int, "abs": abs, "round": round}


def called(name: str, values: list[Number]) -> Number:
    """Work out what a counting function gives, by its qualified name, or plain name of a builtin."""
    result: Number = None
    if name in iteration().positive_counts:
        result = POSITIVE
    elif name in {*WHOLE, "len"} and len(values) == 1:
        value = values[0]
        if isinstance(value, (int, float)) and math.isfinite(value) and name in WHOLE:
            result = WHOLE[name](value)
        elif isinstance(value, str) and value.strip().isdecimal() and name == "int":
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
