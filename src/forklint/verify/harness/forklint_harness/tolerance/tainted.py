"""Plain values that were computed from a stand-in: they are what they are, and stay known as made up."""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Tuple

from forklint_harness.tolerance import lacks

NEVER = (type(None), bool, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""Values of which there is one for all: to call one made up would taint what has nothing to do with it."""
MOST_KEPT = 20000
FEW = 16
"""Elements of a list, tuple or dict that are looked at."""
_kept: Dict[int, Any] = {}


class MadeUpInt(int):
    """A whole number that was made up."""

    def __reduce__(self) -> Any:
        return MadeUpInt, (int(self),)


class MadeUpFloat(float):
    """A number that was made up."""

    def __reduce__(self) -> Any:
        return MadeUpFloat, (float(self),)


class MadeUpStr(str):
    """A text that was made up."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return MadeUpStr, (str.__str__(self),)

    def __radd__(self, other: str) -> MadeUpStr:
        return MadeUpStr(str.__add__(other, self))

    def __rmod__(self, other: str) -> MadeUpStr:
        return MadeUpStr(str.__mod__(other, str.__str__(self)))


class MadeUpBytes(bytes):
    """Bytes that were made up."""


KINDS: Tuple[Tuple[type, type], ...] = (
    (int, MadeUpInt),
    (float, MadeUpFloat),
    (str, MadeUpStr),
    (bytes, MadeUpBytes),
)
_SORTS = tuple(made for _, made in KINDS)


def _wrapped(plain: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        found = plain(self, *arguments, **keywords)
        return found if found is NotImplemented else taint(found)

    return method


_OPERATIONS = "add sub mul truediv floordiv mod pow lshift rshift and or xor"
for _name in _OPERATIONS.split():
    for _full in ("__{}__".format(_name), "__r{}__".format(_name)):
        for _plain, _made in KINDS[:2]:
            if hasattr(_plain, _full):
                setattr(_made, _full, _wrapped(getattr(_plain, _full)))
for _name in ("__neg__", "__pos__", "__abs__"):
    for _plain, _made in KINDS[:2]:
        setattr(_made, _name, _wrapped(getattr(_plain, _name)))
for _name in [
    "__add__",
    "__mul__",
    "__mod__",
    "__getitem__",
    "format",
    "join",
    "lower",
    "upper",
    "strip",
    "lstrip",
    "rstrip",
    "replace",
    "split",
]:
    setattr(MadeUpStr, _name, _wrapped(getattr(str, _name)))


def _compared(plain: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        lacks.touch()
        return plain(self, other)

    return method


for _plain, _made in KINDS[:3]:
    for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(_made, _name, _compared(getattr(_plain, _name)))
    setattr(_made, "__hash__", _plain.__hash__)  # noqa: B010 - the type checker knows no method of a type


def is_tainted(value: Any) -> bool:
    """Whether a value that is no stand-in itself was computed from one."""
    return isinstance(value, _SORTS) or (bool(_kept) and _kept.get(id(value)) is value and value is not None)


def taint(value: Any) -> Any:
    """The same value, known as made up."""
    from forklint_harness.tolerance.stand_ins import StandIn, StandInBase

    if isinstance(value, (*NEVER, StandIn, StandInBase, *_SORTS)):
        return value
    for plain, made in KINDS:
        if type(value) is plain:
            return made(value)
    if len(_kept) < MOST_KEPT:
        _kept[id(value)] = value  # kept, so that no other object gets its id
    return value


def holds_tainted(values: Any) -> bool:
    """Whether one of some values, or of the first elements of a container among them, is made up."""
    from forklint_harness.tolerance.stand_ins import is_stand_in

    for value in values:
        if is_stand_in(value):
            return True
        if type(value) in (list, tuple) and value and any(map(is_stand_in, value[:FEW])):
            return True
        if type(value) is dict and value and len(value) <= FEW and any(map(is_stand_in, value.values())):
            return True
    return False
