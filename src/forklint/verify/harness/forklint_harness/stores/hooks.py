"""Answers calls of the project's own code by which it comes to data, once what makes them has been imported."""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from forklint_harness.frames import is_library
from forklint_harness.imports import after_import
from forklint_harness.stores.unknown import recent
from forklint_harness.stores.world import World, moved, text_of_path

Answer = Callable[[World, Callable[..., Any], List[Any], Dict[str, Any]], Any]
"""Answers a call: gets the world, what would answer it, and the arguments."""
PATHS = (
    "path",
    "file",
    "filename",
    "name",
    "database",
    "fp",
    "f",
    "fname",
    "filepath_or_buffer",
    "fileName",
    "dirname",
)
ON_BEHALF = (os.path.join("forklint_harness", "tolerance"), os.path.join("forklint_harness", "openers.py"))
"""Parts of the harness that make a call which the project's code asks for."""
_world: List[World] = []


def begin(world: Optional[World]) -> None:
    """Let calls be answered by a world, or by none any more."""
    _world[:] = [world] if world else []


def is_learning() -> bool:
    """Whether a pass is going on that learns."""
    return bool(_world) and _world[0].is_learning


def hook(name: str, answer: Answer) -> None:
    """Have calls of a qualified name answered, as long as there is a world."""
    module, _, rest = name.partition(".")
    if not rest:
        module, rest = "builtins", name
    after_import(module, functools.partial(_hook_in, rest, answer))


def _hook_in(rest: str, answer: Answer, module: ModuleType) -> None:
    owner: Any = module
    *path, last = rest.split(".")
    for index, step in enumerate(path):
        below = getattr(owner, step, None)
        if below is None:
            if isinstance(owner, ModuleType):
                waiting = functools.partial(_hook_in, ".".join([*path[index + 1 :], last]), answer)
                after_import("{}.{}".format(owner.__name__, step), waiting)
            return
        owner = below
    plain = getattr(owner, last, None)
    if plain is None or getattr(plain, "_forklint_hook", False):
        return
    try:
        if isinstance(plain, type) and isinstance(plain.__dict__.get("__init__"), type(_hook_in)):
            _hook_class(plain, answer)
        else:
            setattr(owner, last, _hooked(plain, answer))
    except (AttributeError, TypeError):  # a class of C takes no attributes
        return


def _hooked(plain: Callable[..., Any], answer: Answer) -> Callable[..., Any]:
    def hooked(*arguments: Any, **keywords: Any) -> Any:
        if not _world or is_library(_caller()):
            return plain(*arguments, **keywords)
        return answer(_world[0], plain, list(arguments), keywords)

    functools.update_wrapper(hooked, plain)
    hooked._forklint_hook = True  # type: ignore[attr-defined]
    return hooked


def _hook_class(kind: Any, answer: Answer) -> None:
    """Let a class give something else when it is called; it stays the class that others derive from."""
    make = kind.__new__

    def new(cls: Any, *arguments: Any, **keywords: Any) -> Any:
        def plain(*given: Any, **named: Any) -> Any:
            made = make(cls) if make is object.__new__ else make(cls, *given, **named)
            cls.__init__(made, *given, **named)
            return _Begun(made)

        if cls is not kind or not _world or is_library(_caller()):
            return make(cls) if make is object.__new__ else make(cls, *arguments, **keywords)
        found = answer(_world[0], plain, list(arguments), keywords)
        return found.made if isinstance(found, _Begun) else found

    begin_object = kind.__init__

    @functools.wraps(begin_object)
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        if self in _begun:  # by ``plain`` above, with a path of the world's
            _begun.remove(self)
            return
        begin_object(self, *arguments, **keywords)

    kind.__new__ = staticmethod(new)
    kind.__init__ = __init__


class _Begun:
    """An object that has been initialised already."""

    def __init__(self, made: Any) -> None:
        self.made = made
        _begun.append(made)


class _Identities(List[Any]):
    """A list whose members are told by identity."""

    def __contains__(self, value: object) -> bool:
        return any(one is value for one in self)

    def remove(self, value: Any) -> None:
        self[:] = [one for one in self if one is not value]


_begun = _Identities()


def _caller() -> str:
    """The file of the code that calls what is hooked; what makes calls on its behalf does not count."""
    frame: Any = sys._getframe(2)
    while any(one in frame.f_code.co_filename for one in ON_BEHALF) and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_code.co_filename)


def path_in(arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """The path that a call names."""
    if arguments:
        return arguments[0]
    return next((keywords[name] for name in PATHS if name in keywords), None)


def with_path(arguments: List[Any], keywords: Dict[str, Any], path: Any) -> Any:
    """The arguments of a call, with another path."""
    if arguments:
        return [path, *arguments[1:]], keywords
    return arguments, {key: path if key in PATHS else value for key, value in keywords.items()}


def opener(kind: str, asked: Any, reads: Any = None) -> Answer:
    """Answer for a call that opens a store: by what learns, or by the real store of a path that is not there."""

    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        path = path_in(arguments, keywords)
        text = text_of_path(path)
        if text is None or not world.is_missing(path) or (reads and not reads(arguments, keywords)):
            return plain(*arguments, **keywords)
        if world.is_learning:
            node = world.node(text)
            if node.kind in ("", "plain", "folder"):
                node.kind = kind
            recent.append(node)
            return asked(node, arguments, keywords)
        if world.known(text) is None:
            return plain(*arguments, **keywords)
        arguments, keywords = with_path(arguments, keywords, moved(text))
        return plain(*arguments, **keywords)

    return answer
