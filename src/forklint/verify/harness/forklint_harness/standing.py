"""Stand-ins for handles and arguments: they take whatever is done to them, and say which process did it first.

Code of the project that opens a handle gets one in its place, and code that reads data which is not there gets one of
which nothing is told; libraries that open files for themselves do not.
"""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any, Callable, Iterator, List, Optional

from forklint_harness import journal, openers
from forklint_harness.frames import is_library
from forklint_harness.imports import after_import

SIZE = 8
"""Length of a stand-in, and the number that it is."""
MOST_USES = 20000
"""Uses in one process after which a stand-in raises: a loop that waits for an end of data would have none."""

Instead = Callable[[str, Any, Any, Any], Any]
"""Answers a call: the callable's name, itself, arguments and keywords."""


class Origin:
    """What the parts of one stand-in have in common: where the handle was opened, whether it is closed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.opener = os.getpid()
        self.is_closed = False
        self.uses = 0
        self.told = 0

    def use(self) -> None:
        """Count one use; tell of the first one in a process that did not open it."""
        self.uses += 1
        if self.uses > MOST_USES:
            raise RuntimeError("a stand-in has no end of data")
        pid = os.getpid()
        if self.name and pid not in (self.opener, self.told):
            self.told = pid
            journal.record("handle-used", opener=self.opener, user=pid, type=self.name)


class StandIn:
    """Takes any call, item, attribute, comparison and operation; gives more of itself."""

    def __init__(self, origin: Origin) -> None:
        self._forklint_origin = origin

    def _forklint_use(self, *_arguments: Any, **_keywords: Any) -> StandIn:
        self._forklint_origin.use()
        return StandIn(self._forklint_origin)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._forklint_use()

    @property
    def closed(self) -> bool:
        """As files have it."""
        return self._forklint_origin.is_closed

    def close(self) -> None:
        """Close it, as handles are."""
        self._forklint_origin.is_closed = True

    def __enter__(self) -> StandIn:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_error: object) -> None:
        if openers.opened_by(self):  # a part of it, such as a transaction, closes nothing
            self.close()

    def __iter__(self) -> Iterator[StandIn]:
        return iter([self._forklint_use() for _ in range(SIZE)])

    def __array__(self, *_arguments: Any, **_keywords: Any) -> Any:
        import numpy  # who asks for an array has it

        return numpy.zeros(self.__index__())

    def __index__(self) -> int:
        self._forklint_use()
        return SIZE

    def __float__(self) -> float:
        return float(self.__index__())

    def __bytes__(self) -> bytes:
        return bytes(self.__index__())

    def __str__(self) -> str:
        self._forklint_use()
        return "stand-in"

    def __reduce__(self) -> Any:
        raise TypeError("a stand-in cannot be pickled")

    __len__ = __int__ = __index__
    __fspath__ = __str__
    __call__ = __getitem__ = _forklint_use
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _forklint_use
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _forklint_use

    def __setitem__(self, key: Any, value: Any) -> None:
        self._forklint_use()

    def __contains__(self, key: Any) -> bool:
        self._forklint_use()
        return True

    def __lt__(self, other: Any) -> bool:
        self._forklint_use()
        return False

    __gt__ = __le__ = __ge__ = __lt__


def argument() -> StandIn:
    """A stand-in for an argument of which nothing is known: no handle, so nothing is told of it."""
    return StandIn(Origin(""))


def replace(names: List[str]) -> None:
    """Let the callables of these qualified names give stand-ins, where code of the project calls them."""

    def opened(name: str, _opens: Any, _arguments: Any, _keywords: Any) -> Any:
        value = StandIn(Origin(name))
        openers.note(name, value, sys._getframe(2))
        return value

    for name in names:
        _replace(name, opened)


def replace_missing(readers: List[str], checks: List[str]) -> None:
    """Let code of the project read a stand-in wherever it reads what is not there, after it was told that it is."""

    def read(_name: str, reads: Any, arguments: Any, keywords: Any) -> Any:
        try:
            value = reads(*arguments, **keywords)
        except Exception:
            return argument()
        return argument() if value is None or (isinstance(value, list) and not value) else value

    for name in readers:
        _replace(name, read)
    for name in checks:
        _replace(name, lambda *_: True)


def _replace(name: str, instead: Instead) -> None:
    """Have a callable's calls answered by ``instead``, which gets its name, itself and the arguments."""
    module, _, rest = name.partition(".")
    if not rest:
        module, rest = "builtins", name
    after_import(module, functools.partial(_replace_in, name, rest, instead))


def _replace_in(name: str, rest: str, instead: Instead, module: ModuleType) -> None:
    owner: Any = module
    *path, last = rest.split(".")
    for index, step in enumerate(path):
        below = getattr(owner, step, None)
        if below is None:  # a submodule that is not imported yet
            if isinstance(owner, ModuleType):
                waiting = functools.partial(_replace_in, name, ".".join([*path[index + 1 :], last]), instead)
                after_import("{}.{}".format(owner.__name__, step), waiting)
            return
        owner = below
    plain: Optional[Any] = getattr(owner, last, None)
    if plain is None:
        return

    def stand_in(*arguments: Any, **keywords: Any) -> Any:
        frame = sys._getframe(1)
        if is_library(frame.f_code.co_filename):
            return plain(*arguments, **keywords)
        return instead(name, plain, arguments, keywords)

    try:
        setattr(owner, last, stand_in)
    except (AttributeError, TypeError):  # a class of C takes no attributes
        return
