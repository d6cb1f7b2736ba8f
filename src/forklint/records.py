"""The decorator ``dataclass``, whose methods are written when that pays.

``dataclasses`` writes and compiles up to ten methods of a class where it is defined: 0.3 to 0.7 ms for each class
(measured, Python 3.11), while a run over one file defines 150 classes, makes a few objects of 25 of them, and neither
compares, hashes nor prints most of these. Here the first objects of a class are filled by hand. The methods are
written when one of them, or the fields, is asked for, or when so many objects were made that filling them would cost
more. From then on the class is what ``dataclasses`` makes of it.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field_names"]

FEW = 150
"""Filling so many objects by hand takes about as long as writing the methods of their class."""


class _Unwritten:
    """Stands in a class for a name, has the methods written when it is asked for, and gives what is there then."""

    def __init__(self, name: str, write: Callable[[], None]) -> None:
        self._name = name
        self._write = write

    def __get__(self, instance: object, owner: type) -> Any:
        self._write()
        return getattr(owner if instance is None else instance, self._name)


class _Constructor(_Unwritten):
    """Stands in a class for ``__init__``, and fills the first objects by hand."""

    def __init__(self, cls: type, write: Callable[[], None]) -> None:
        super().__init__("__init__", write)
        self._class = cls
        self._made = 0

    def __get__(self, instance: object, owner: type) -> Any:
        return super().__get__(instance, owner) if instance is None else partial(self._fill, instance)

    def _fill(self, instance: object, /, *args: Any, **kwargs: Any) -> None:
        values = self._values(args, kwargs) if self._made < FEW else None
        if values is None:
            self._write()
            self._class.__init__(instance, *args, **kwargs)  # type: ignore[misc]  # it raises what it has to raise
            return
        self._made += 1
        vars(instance).update(values)

    def _values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The values of all fields, in their order; None where only ``dataclasses`` knows them, or what is wrong."""
        names = self.names
        if len(args) > len(names):
            return None
        given = dict(zip(names, args, strict=False)) | kwargs
        values = {}
        for name in names:
            value = given[name] if name in given else _default(self._class, name)
            if value is dataclasses.MISSING:
                return None
            values[name] = value
        return values if len(args) + len(kwargs) == len(given) and given.keys() <= values.keys() else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields, in their order; empty where what a class is made of is more than its fields."""
        annotations = inspect.get_annotations(self._class)
        is_plain = (
            not hasattr(self._class, "__post_init__")
            and not any(hasattr(base, "__dataclass_fields__") for base in self._class.__bases__)
            and all(isinstance(kind, str) and "InitVar" not in kind for kind in annotations.values())
        )
        return tuple(name for name, kind in annotations.items() if "ClassVar" not in kind) if is_plain else ()


def _default(cls: type, name: str) -> Any:
    value = vars(cls).get(name, dataclasses.MISSING)
    if not isinstance(value, dataclasses.Field):
        return value
    return value.default if value.default_factory is dataclasses.MISSING else value.default_factory()


def field_names(cls: type) -> tuple[str, ...]:
    """The names of a dataclass's fields, in their order; no method is written for the answer."""
    constructor = vars(cls).get("__init__")
    names = constructor.names if isinstance(constructor, _Constructor) else ()
    return names or tuple(field.name for field in dataclasses.fields(cls))


def _dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, order: bool = False) -> Any:
    """Make a dataclass as ``dataclasses`` does, only later; not with ``slots``, which would make another class."""

    def decorated(cls: type) -> type:
        def write() -> None:
            if vars(cls).get("__init__") is not stand_ins["__init__"]:  # it was asked for in the midst of it
                return
            for name in stand_ins:
                delattr(cls, name)
            dataclasses.dataclass(frozen=frozen, eq=eq, order=order)(cls)

        own = vars(cls)
        names = (name for name in _written(frozen=frozen, eq=eq, order=order) if name not in own)
        stand_ins: dict[str, Any] = {name: _Unwritten(name, write) for name in names}
        stand_ins["__init__"] = _Constructor(cls, write)
        if eq and not frozen:
            stand_ins["__hash__"] = None  # what can change is in no set
        for name, stand_in in stand_ins.items():
            setattr(cls, name, stand_in)
        return cls

    return decorated if cls is None else decorated(cls)


@cache
def _written(*, frozen: bool, eq: bool, order: bool) -> tuple[str, ...]:
    """What ``dataclasses`` of some Python gives a class, beside ``__init__``, and how its signature is asked for."""
    return (
        *("__dataclass_fields__", "__match_args__", "__replace__", "__repr__", "__signature__"),
        *(("__eq__",) if eq else ()),
        *(("__hash__",) if eq and frozen else ()),
        *(("__setattr__", "__delattr__") if frozen else ()),
        *(("__lt__", "__le__", "__gt__", "__ge__") if order else ()),
    )


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
