"""What a name may hold while a script's top level runs, as far as the start of processes goes.

These are the values that ``execution`` computes with. Whatever plays no part in it is UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from forklint.knowledge.starters import Starter
from forklint.model import Link
from forklint.records import dataclass
from forklint.values.numbers import Positive, Workers

if TYPE_CHECKING:
    from forklint.project.index import Package
    from forklint.project.module import ClassFacts, FunctionFacts, Module
    from forklint.project.scopes import Scope

DEFAULT_METHOD = "default"
"""Stands for the start method that a platform has when nothing is set; an empty string for one not known."""


@dataclass(frozen=True)
class Unknown:
    """Nothing is known of it."""


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Const:
    """A constant, or a number that is surely positive."""

    value: str | int | float | bytes | bool | complex | Positive | None


NONE = Const(None)


@dataclass(frozen=True)
class MainName:
    """``__name__``, or the name of the current process, which differ in a child."""


@dataclass(frozen=True)
class Guard:
    """A test that tells the main process from a child: true in the main one, false there, or (None) unclear."""

    in_main: bool | None


@dataclass(frozen=True)
class PlatformTest:
    """A test of the platform, or what such a test compares."""


@dataclass(frozen=True)
class Sequence:
    """A list or tuple; when not complete there may be more items of the kinds it has."""

    items: tuple[Value, ...]
    complete: bool = True


@dataclass(frozen=True)
class Dictionary:
    """A mapping with constant keys; when not complete there may be more."""

    items: tuple[tuple[object, Value], ...]
    complete: bool = True

    def get(self, key: object) -> Value:
        """Value of a key; UNKNOWN if that is not certain."""
        return dict(self.items).get(key, UNKNOWN)

    def updated(self, other: Mapping[Any, Value], *, complete: bool = True) -> Dictionary:
        """Give the mapping with other entries on top."""
        return Dictionary(tuple({**dict(self.items), **other}.items()), self.complete and complete)


@dataclass(frozen=True)
class Place:
    """A node of a module."""

    module: Module
    node: ast.AST


@dataclass(frozen=True)
class Loader:
    """A loader: iterating it starts ``workers`` processes by ``method``."""

    row: Starter
    workers: Workers
    method: str
    made_at: Place = field(compare=False)
    by_default: bool = False
    """Whether the user of the script may give it another number of workers."""
    links: tuple[Link, ...] = field(default=(), compare=False)
    """Where its number of workers is written down, if that had to be looked for."""
    platforms: tuple[str, ...] = ()
    """The platforms on which it has workers, if not on all."""


@dataclass(frozen=True)
class Lazy:
    """Something that iterates its parts when it is iterated, such as a progress bar."""

    parts: tuple[Value, ...]


@dataclass(frozen=True)
class Startable:
    """A process or executor whose methods start processes by ``method``."""

    row: Starter
    method: str
    made_at: Place = field(compare=False)


@dataclass(frozen=True)
class Context:
    """A multiprocessing context."""

    method: str


@dataclass(frozen=True)
class Foreign:
    """A function, class or module of a library, by its qualified name."""

    name: str


@dataclass(frozen=True)
class Made:
    """What the call of a library's function or class gave."""

    name: str
    kept: tuple[Value, ...] = ()
    """What it was given, where that matters later."""


@dataclass(frozen=True)
class Ref:
    """A class, module or package of the project."""

    symbol: ClassFacts | Module | Package


@dataclass(eq=False)
class Frame:
    """One run of a module's or function's body; its variables are slots of the state, by the frame's identity."""

    module: Module
    scope: Scope
    parent: Frame | None = None
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    owner: ClassFacts | None = None
    """The class whose method runs, for ``super()``."""
    receiver: Value = UNKNOWN
    """What ``self`` is in a method."""


@dataclass(frozen=True)
class Spot:
    """Where in a run something happens: the frame, and the expression in its module."""

    frame: Frame
    node: ast.expr

    @property
    def place(self) -> Place:
        """The expression, without the frame."""
        return Place(self.frame.module, self.node)

    def at(self, node: ast.expr) -> Spot:
        """Give another expression of the same frame."""
        return Spot(self.frame, node)


@dataclass(frozen=True)
class Function:
    """A function of the project with the frame that it was defined in."""

    facts: FunctionFacts
    frame: Frame | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Lambda:
    """A lambda and the frame that it was written in."""

    node: ast.Lambda
    frame: Frame = field(compare=False)


@dataclass(eq=False)
class Instance:
    """An instance of a project class; its attributes are slots of the state, by the instance's identity."""

    facts: ClassFacts


@dataclass(frozen=True)
class Super:
    """``super()``: what the bases of ``owner`` give to an instance."""

    instance: Instance
    owner: ClassFacts


@dataclass(frozen=True)
class Method:
    """An attribute of a value, not called yet."""

    owner: Value
    name: str
    expression: ast.expr | None = field(default=None, compare=False)
    """The expression that gave ``owner``, so that ``x.append(y)`` can change what ``x`` holds."""


@dataclass(frozen=True)
class Bound:
    """A project function with its first argument given (None: a plain function)."""

    function: Function
    receiver: Value | None
    owner: ClassFacts | None = None
    """The class that defines it, for ``super()``."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict, hash=False)
    open: bool = False
    """Whether there may be more of which nothing is known."""

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The argument of a name or position; None if it is not given (UNKNOWN if it may be)."""
        if name and name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return UNKNOWN if self.open and name else None

    def followed_by(self, more: Arguments) -> Arguments:
        """Give these arguments with more of them behind."""
        keywords = {**self.keywords, **more.keywords}
        return Arguments((*self.positional, *more.positional), keywords, self.open or more.open)

    @property
    def all(self) -> tuple[Value, ...]:
        """Every argument."""
        return (*self.positional, *self.keywords.values())


@dataclass(frozen=True)
class Partial:
    """``functools.partial``."""

    function: Value
    arguments: Arguments


@dataclass(frozen=True)
class Stream:
    """A generator that has not run yet: its function and arguments."""

    function: Bound
    arguments: Arguments


Value = (
    Unknown
    | Const
    | MainName
    | Guard
    | PlatformTest
    | Sequence
    | Dictionary
    | Loader
    | Lazy
    | Startable
    | Context
    | Foreign
    | Made
    | Ref
    | Function
    | Lambda
    | Instance
    | Super
    | Method
    | Bound
    | Partial
    | Stream
)
LOADER = "(loader)"
"""The slot of an instance of a loader's subclass that holds what its base class was given."""
Slots = dict[tuple[int, str], Value]


def is_plain(value: Value, size: int = 16) -> bool:
    """Whether a value is the same in every run: no function, instance or loader, and no large collection of values."""
    if isinstance(value, (Sequence, Dictionary)):
        inner = value.items if isinstance(value, Sequence) else tuple(item for _, item in value.items)
        return len(inner) <= size and all(is_plain(item, size // 2) for item in inner)
    return isinstance(value, (Unknown, Const, Foreign, PlatformTest)) or (isinstance(value, Made) and not value.kept)


def merge(first: Value, second: Value) -> Value:
    """What is known of a name that holds the one or the other."""
    if first is second or (type(first) is type(second) and first == second):
        return first
    if isinstance(first, Sequence) and isinstance(second, Sequence) and len(first.items) == len(second.items):
        items = tuple(merge(a, b) for a, b in zip(first.items, second.items, strict=True))
        return Sequence(items, first.complete and second.complete)
    return UNKNOWN


def merge_all(values: list[Value]) -> Value:
    """What is known of a name that holds one of several; UNKNOWN for none."""
    if not values:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = merge(result, value)
    return result


def merge_slots(first: Slots, second: Slots) -> Slots:
    """Join what two branches leave; a name that only one of them binds keeps that value."""
    merged = first.copy()
    for key, value in second.items():
        held = first.get(key)
        if held is not value:
            merged[key] = value if held is None else merge(held, value)
    return merged
