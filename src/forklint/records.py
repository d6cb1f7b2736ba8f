"""The decorator ``dataclass``, of which little is done when a module is imported.

``dataclasses`` writes and compiles the methods of a class where it is defined: 0.3 ms for each class (measured, Python
3.11), while a run over one file defines 150 and makes objects of half of them. Here they are written when the first
object is made or unpickled, or the fields are asked for. From then on the class is what ``dataclasses`` makes of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

ASKED_FIRST = ("__init__", "__setstate__", "__dataclass_fields__")
"""What Python looks up before it can do with a class, or its objects, anything that needs the methods."""


class _Unwritten:
    """Stands in a class for a name, has the methods written when it is asked for, and gives what is there then."""

    def __init__(self, name: str, write: Callable[[], None]) -> None:
        self._name = name
        self._write = write

    def __get__(self, instance: object, owner: type) -> Any:
        self._write()
        return getattr(owner if instance is None else instance, self._name)


def _dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, order: bool = False) -> Any:
    """Make a dataclass as ``dataclasses`` does, only later; not with ``slots``, which would make another class."""

    def decorated(cls: type) -> type:
        def write() -> None:
            for name in ASKED_FIRST:
                delattr(cls, name)
            dataclasses.dataclass(frozen=frozen, eq=eq, order=order)(cls)

        for name in ASKED_FIRST:
            setattr(cls, name, _Unwritten(name, write))
        return cls

    return decorated if cls is None else decorated(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
