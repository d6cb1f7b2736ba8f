"""Remembers for each handle which process opened it, by wrapping what opens handles.

Which callables open is told by the order (forklint's handles.toml). A callable is looked at when its package has been
imported; what cannot be wrapped without changing what it is (a class of a C extension) is left alone.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from forklint_harness.frames import is_library
from forklint_harness.imports import after_import

NEAREST = 4
"""Frames of libraries between the opener and the project's own code."""
MOST = 20000
"""Handles remembered in one process."""


class Opening(NamedTuple):
    """One handle and where it was opened."""

    handle: Optional[Callable[[], Any]]
    """Gives the handle while it lives, since its address may be another object's later; None if nothing does."""
    kind: type
    told: Tuple[int, str, str]


_opened: Dict[int, Opening] = {}


def wrap(names: List[str]) -> None:
    """Wrap the callables of these qualified names (``lmdb.open``; ``open`` is the builtin) once they are there."""
    for name in names:
        module, _, rest = name.partition(".")
        if not rest:
            module, rest = "builtins", name
        after_import(module, functools.partial(_wrap_in, name, rest))


def opened_by(value: Any) -> Optional[Tuple[int, str, str]]:
    """Process id, callable and ``file:line`` of the opening, if it was seen."""
    opening = _opened.get(id(value))
    if opening is None or type(value) is not opening.kind:
        return None
    return opening.told if opening.handle is None or opening.handle() is value else None


def note(name: str, value: Any, where: Any) -> None:
    """Remember that this process has opened a handle, and the project's frame nearest to ``where``."""
    for _ in range(NEAREST):
        if where is not None and is_library(where.f_code.co_filename):
            where = where.f_back
    if len(_opened) < MOST and where is not None and not is_library(where.f_code.co_filename):
        place = "{}:{}".format(os.path.abspath(where.f_code.co_filename), where.f_lineno)
        try:
            handle: Optional[Callable[[], Any]] = weakref.ref(value)
        except TypeError:
            handle = None
        _opened[id(value)] = Opening(handle, type(value), (os.getpid(), name, place))


def _wrap_in(name: str, rest: str, module: ModuleType) -> None:
    owner: Any = module
    *path, last = rest.split(".")
    for index, step in enumerate(path):
        below = getattr(owner, step, None)
        if below is None:  # a submodule that is not imported yet
            if isinstance(owner, ModuleType):
                waiting = functools.partial(_wrap_in, name, ".".join(rest.split(".")[index + 1 :]))
                after_import("{}.{}".format(owner.__name__, step), waiting)
            return
        owner = below
    found = getattr(owner, last, None)
    if found is None or isinstance(found, _Opener):
        return
    try:
        if isinstance(found, type) and found.__name__ == last:
            _wrap_class(name, found)
        elif isinstance(owner, type):
            if isinstance(owner.__dict__.get(last), FunctionType):
                setattr(owner, last, _method(name, found))
        else:
            setattr(owner, last, _Opener(name, found, owner.__name__, last))
    except (AttributeError, TypeError):
        return


class _Opener:
    """Stands for a function that opens; no function itself, so that a class that keeps it does not bind it."""

    def __init__(self, name: str, opens: Callable[..., Any], module: str, last: str) -> None:
        functools.update_wrapper(self, opens)
        self._forklint = (name, opens)
        self._forklint_place = (module, last)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        name, opens = self._forklint
        value = opens(*arguments, **keywords)
        note(name, value, sys._getframe(1))
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_forklint"][1], name)

    def __reduce__(self) -> Any:
        return (_named, self._forklint_place)


def _named(module: str, name: str) -> Any:
    """What stands under a name in a module, for unpickling."""
    return getattr(import_module(module), name)


def _method(name: str, opens: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(opens)
    def method(*arguments: Any, **keywords: Any) -> Any:
        value = opens(*arguments, **keywords)
        note(name, value, sys._getframe(1))
        return value

    return method


def _wrap_class(name: str, kind: Any) -> None:
    make = kind.__init__

    @functools.wraps(make)
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        make(self, *arguments, **keywords)
        note(name, self, sys._getframe(1))

    kind.__init__ = __init__
