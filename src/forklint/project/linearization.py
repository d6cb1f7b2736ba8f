"""The order in which Python looks for a method in a class and those that it inherits from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def linearized(first: T, bases: Mapping[T, Sequence[T]]) -> list[T] | None:
    """A class and what it inherits from, in that order (C3); None for bases that Python refuses, or a circle of them.

    ``bases`` has those of each class.
    """
    return _linearized(first, bases, {})


def _linearized(first: T, bases: Mapping[T, Sequence[T]], known: dict[T, list[T] | None]) -> list[T] | None:
    if first not in known:
        known[first] = None  # until it is found, as which a circle sees it
        above = [_linearized(base, bases, known) for base in bases[first]]
        if None not in above:
            known[first] = _merged(first, [*(one for one in above if one is not None), list(bases[first])])
    return known[first]


def _merged(first: T, rows: list[list[T]]) -> list[T] | None:
    order = [first]
    while rows := [row for row in rows if row]:
        taken = next((row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), None)
        if taken is None:
            return None
        order.append(taken)
        rows = [row[1:] if row[0] == taken else row for row in rows]
    return order
