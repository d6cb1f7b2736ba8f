"""Stand-ins: objects in place of what is missing, which take whatever is done to them and give more of their kind.

``is_stand_in`` tells them, and what was computed from one (see ``tainted``), from real values.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABCMeta
from typing import Any, Dict, Generator, Iterator, List, Tuple

from forklint_harness.tolerance import known, lacks

LENGTH = 4
"""Elements that a stand-in has."""
NUMBER = 2
"""The number that it is: neither 0, which would divide, nor 1, which loops and axes hide."""
MOST_USES = 100000
"""Uses in one process after which a stand-in raises: a loop that waits for an end of data would have none."""
DISPLAYS = frozenset({"tqdm", "tqdm_notebook", "track", "alive_it", "progressbar", "ProgressBar", "progress_bar"})
"""Callables that show progress: what they are given is iterated as it is."""
_uses = 0


class EndlessError(RuntimeError):
    """A stand-in was used so often that the program must be waiting for an end."""


def _use() -> None:
    global _uses  # noqa: PLW0603 - a counter of the process
    _uses += 1
    lacks.touch()
    if _uses > MOST_USES:
        raise EndlessError("a stand-in has no end of data")


def begin_anew() -> None:
    """Count uses from nothing: the loop that waited for an end has been left."""
    global _uses  # noqa: PLW0603
    _uses = 0


def scratch_path(name: str) -> str:
    """A path in the trial's scratch folder: never empty, a dot or the root."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)[-40:].strip("-")
    return os.path.join(tempfile.gettempdir(), "stand-in-" + (plain or "path"))


class StandIn:
    """Takes any call, item, attribute, comparison and operation; gives more of its kind."""

    def __init__(self, name: str) -> None:
        """Take what it stands in for, as the report names it: ``torchvision.transforms``."""
        self.__dict__["_forklint_name"] = name

    def _forklint_part(self, step: str) -> StandIn:
        _use()
        name = self.__dict__["_forklint_name"]
        return StandIn(name if len(name) > 120 else name + step)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        part = self._forklint_part("." + name)
        self.__dict__[name] = part
        return part

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Give a part; let a display iterate what it shows."""
        full = self.__dict__["_forklint_name"]
        if full.rpartition(".")[2] in DISPLAYS and arguments:
            return Display(arguments[0])
        loader = known.loader_class(full)
        if loader is not None:
            return loader(*arguments, **keywords)
        if known.is_kept(full):
            from forklint_harness.tolerance.keeping import Keeper

            return Keeper(full, known.kept_by(full, arguments, keywords))
        if known.passes_on(full) and arguments:
            lacks.record("class", full)
            return arguments if len(arguments) > 1 else arguments[0]
        hooks = known.hooks_of(full)
        if hooks is not None:
            from forklint_harness.tolerance.consuming import consume

            lacks.record("class", full)
            consume(full.rpartition(".")[2], hooks, [*arguments, *keywords.values()])
        return self._forklint_part("()")

    def _forklint_items(self) -> Dict[Any, Any]:
        items: Dict[Any, Any] = self.__dict__.setdefault("_forklint_kept", {})
        return items

    def __getitem__(self, key: Any) -> Any:
        try:
            kept = self._forklint_items()
            return kept[key] if key in kept else kept.setdefault(key, self._forklint_part("[]"))
        except TypeError:  # a key that cannot be hashed, such as a slice
            return self._forklint_part("[]")

    def __setitem__(self, key: Any, value: Any) -> None:
        try:
            self._forklint_items()[key] = value
        except TypeError:
            return

    def __delitem__(self, key: Any) -> None:
        self._forklint_items().pop(key, None)

    def __contains__(self, key: Any) -> bool:
        _use()
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter([self._forklint_part("[]") for _ in range(LENGTH)])

    def __next__(self) -> StandIn:
        return self._forklint_part("[]")

    def __len__(self) -> int:
        _use()
        return LENGTH

    def __bool__(self) -> bool:
        _use()
        return True

    def __index__(self) -> int:
        _use()
        return NUMBER

    __int__ = __trunc__ = __floor__ = __ceil__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __complex__(self) -> complex:
        return complex(self.__index__())

    def __str__(self) -> str:
        _use()
        return scratch_path(self.__dict__["_forklint_name"])

    __fspath__ = __str__

    def __repr__(self) -> str:
        return "<stand-in for {}>".format(self.__dict__["_forklint_name"])

    def __format__(self, _specification: str) -> str:
        return str(self)

    def __bytes__(self) -> bytes:
        return os.fsencode(str(self))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        _use()
        return self is other

    def __lt__(self, other: Any) -> bool:
        _use()
        return bool(isinstance(other, (int, float)) and other > NUMBER)

    def __le__(self, other: Any) -> bool:
        _use()
        return bool(isinstance(other, (int, float)) and other >= NUMBER)

    def __gt__(self, other: Any) -> bool:
        _use()
        return bool(isinstance(other, (int, float)) and other < NUMBER)

    def __ge__(self, other: Any) -> bool:
        _use()
        return bool(isinstance(other, (int, float)) and other <= NUMBER)

    def __enter__(self) -> StandIn:  # noqa: PYI034
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    async def __aenter__(self) -> StandIn:  # noqa: PYI034
        return self

    async def __aexit__(self, *_error: object) -> None:
        return None

    def __await__(self) -> Generator[Any, None, StandIn]:
        yield from ()
        return self._forklint_part("()")

    def __instancecheck__(self, value: Any) -> bool:
        return is_stand_in(value)

    def __subclasscheck__(self, kind: Any) -> bool:
        return isinstance(kind, StandInMeta)

    def __mro_entries__(self, bases: Tuple[Any, ...]) -> Tuple[type, ...]:
        """One class for all stand-ins among the bases: a class may be derived from it once."""
        loader = known.loader_class(self.__dict__["_forklint_name"])
        if loader is not None:
            return (loader,)
        first = next(base for base in bases if isinstance(base, StandIn))
        return (class_for(self.__dict__["_forklint_name"]),) if first is self else ()

    def __reduce__(self) -> Any:
        return StandIn, (self.__dict__["_forklint_name"],)

    def __copy__(self) -> StandIn:
        return self

    def __deepcopy__(self, _memory: Any) -> StandIn:
        return self

    def __array__(self, *_arguments: Any, **_keywords: Any) -> Any:
        import numpy  # who asks for an array has it

        _use()
        return numpy.zeros(NUMBER)

    def __array_ufunc__(self, *_arguments: Any, **_keywords: Any) -> StandIn:
        return self._forklint_part("()")

    def __array_function__(self, *_arguments: Any, **_keywords: Any) -> StandIn:
        return self._forklint_part("()")

    @classmethod
    def __torch_function__(cls, function: Any, *_arguments: Any, **_keywords: Any) -> StandIn:
        _use()
        return StandIn("torch.{}()".format(getattr(function, "__name__", "")))


def _operation(self: StandIn, *_others: Any) -> StandIn:
    return self._forklint_part("()")


for _name in [
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
]:
    setattr(StandIn, "__{}__".format(_name), _operation)
    setattr(StandIn, "__r{}__".format(_name), _operation)
for _name in ("neg", "pos", "abs", "invert", "round"):
    setattr(StandIn, "__{}__".format(_name), _operation)


class Display:
    """Shows progress, as far as the program knows: gives what it was given, and takes everything else."""

    def __init__(self, iterable: Any) -> None:
        self._forklint_iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._forklint_iterable)

    def __len__(self) -> int:
        return len(self._forklint_iterable)

    def __enter__(self) -> Display:  # noqa: PYI034
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn("display." + name)


class StandInMeta(ABCMeta):
    """Makes a class of what is missing, from which the project derives classes of its own."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _use()
        return StandIn("{}.{}".format(cls.__name__, name))


class StandInBase(metaclass=StandInMeta):
    """What a class of the project is derived from, in place of a class that is missing: it takes what is not its own.

    Methods and attributes of the derived class, and of its real bases, are found first.
    """

    _forklint_name = ""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        try:
            super().__init__()
        except TypeError:  # a real base behind this one wants arguments of its own
            pass
        for base in type(self).__mro__:
            held = known.kept_by(base.__dict__.get("_forklint_name", ""), arguments, keywords)
            self.__dict__.update((name, value) for name, value in held.items())

    def __getattr__(self, name: str) -> Any:
        above: Any = getattr(super(), "__getattr__", None)  # that of a real base, such as torch's Module
        if above is not None:
            try:
                return above(name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(name)
        _use()
        return StandIn("{}.{}".format(type(self)._forklint_name, name))

    def __len__(self) -> int:
        _use()
        return LENGTH

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        _use()
        return StandIn(type(self)._forklint_name + "[]")

    def __call__(self, *_arguments: Any, **_keywords: Any) -> Any:
        """Give a stand-in, unless a derived class has a call of its own."""
        _use()
        return StandIn(type(self)._forklint_name + "()")


_classes: Dict[str, type] = {}


def class_for(name: str) -> type:
    """The class that stands in for one of that name."""
    if name not in _classes:
        short = name.rpartition(".")[2]
        _classes[name] = StandInMeta(short if short.isidentifier() else "Missing", (StandInBase,), {})
        _classes[name]._forklint_name = name  # type: ignore[attr-defined]
    return _classes[name]


def is_stand_in(value: Any) -> bool:
    """Whether a value is a stand-in, or was computed from one."""
    from forklint_harness.tolerance import tainted

    return isinstance(value, StandIn) or tainted.is_tainted(value)


def missing_bases(kind: type) -> List[str]:
    """Names of the missing classes that a class is derived from; empty if all of them are real."""
    bases = [base for base in kind.__mro__ if isinstance(base, StandInMeta) and base.__dict__.get("_forklint_name")]
    return [str(base._forklint_name) for base in bases]


def name_of(value: Any) -> str:
    """What a stand-in stands in for; for what was computed from one, as much as is known."""
    if isinstance(value, StandIn):
        return str(value.__dict__["_forklint_name"])
    return "a {} computed from a stand-in".format(type(value).__mro__[1].__name__ if type(value).__mro__[1:] else "?")
