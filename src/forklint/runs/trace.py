"""What a body of code does, in order: events, what leads to more of them, and parts that are reached in their own way.

The trace of a module or function is found once (see ``walk``), whoever runs it. A program (see ``programs``) plays it:
it runs what is imported and called, and gives each event the chain of places and the way by which it is come to.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from forklint.project.nodes import Position, end_of, start_of
from forklint.records import dataclass
from forklint.values.worlds import EVERYWHERE, Truth, Worlds

if TYPE_CHECKING:
    from forklint.project.module import FunctionFacts, Module
    from forklint.values.model import Frame


@dataclass(frozen=True)
class Place:
    """A node and the module it stands in."""

    module: Module
    node: ast.AST
    doing: str = field(default="", compare=False)
    """What is done there, as a verb phrase: ``calls main()``."""

    @property
    def text(self) -> str:
        """The call, or the import, in a few words."""
        return f"{ast.unparse(self.node.func)}()" if isinstance(self.node, ast.Call) else ast.unparse(self.node)

    @property
    def start(self) -> Position:
        """Where it begins."""
        return start_of(self.node)


Chain = tuple[Place, ...]
"""From the code at hand, through imports and calls, to the place of an event."""


@dataclass(frozen=True)
class Way:
    """How code is come to."""

    certain: bool = True
    """Whether it surely runs in its worlds."""
    usual: bool = True
    """Whether it runs unless an error comes before it in a ``try``, or another start method is set already."""
    if_unset: bool = False
    """Whether it asks first which start method is set."""
    caught: frozenset[str] = frozenset()
    """Names of the errors that something around it catches; of those that setting something twice can raise."""
    worlds: Worlds = EVERYWHERE
    guarded: bool = False
    """Whether it stands under a main guard."""
    aside: bool = False
    """Whether it runs in another case alone: after an error, in a notebook, in who imports a script."""

    def perhaps(self, *, usual: bool = False) -> Way:
        """The way on to what may not run."""
        return replace(self, certain=False, usual=self.usual and usual)

    def then(self, way: Way) -> Way:
        """The way on by another."""
        if way is AT_ONCE or self is AT_ONCE:
            return self if way is AT_ONCE else way
        return Way(
            self.certain and way.certain,
            self.usual and way.usual,
            self.if_unset or way.if_unset,
            self.caught | way.caught,
            self.worlds & way.worlds,
            self.guarded or way.guarded,
            self.aside or way.aside,
        )

    @classmethod
    def both(cls, machines: Worlds, truth: Truth) -> tuple[Way, Way]:
        """The ways to what runs if a condition holds, and if not: certain to what all of some machines come to."""
        sides = ((truth.true, truth.false), (truth.false, truth.true))
        inside, other = (
            cls(worlds=here) if machines <= here and machines.isdisjoint(there) else AT_ONCE.perhaps()
            for here, there in sides
        )
        return inside, other


AT_ONCE = Way()


@dataclass(frozen=True)
class Event:
    """Something that happens; what it is, a subclass says."""

    chain: Chain = field(default=(), kw_only=True)
    way: Way = field(default=AT_ONCE, kw_only=True)
    lasts: ClassVar[bool] = False
    """Whether it counts behind a branch that need not have run."""

    @property
    def place(self) -> Place:
        """Where it happens."""
        return self.chain[-1]


E = TypeVar("E", bound=Event)


def behind(event: E, chain: Chain, way: Way) -> E:
    """An event, come to by a chain and a way."""
    if not chain and way is AT_ONCE:
        return event
    return replace(event, chain=(*chain, *event.chain), way=way.then(event.way))


@dataclass(frozen=True)
class Imports:
    """A file of the project runs, if it has not yet."""

    file: Path
    place: Place


@dataclass(frozen=True)
class Enters:
    """A function of the project is called."""

    function: FunctionFacts
    frame: Frame | None
    """What it is called with; None for a trace that does not depend on it."""
    place: Place


class Kind(Enum):
    """What a part of a body is."""

    PLAIN = "plain"
    """It is taken for certain that it runs: a loop, what a ``try`` does behind its first statement."""
    BRANCH = "branch"
    """It need not run, and what happens in it does not count behind it."""
    GUARD = "guard"
    """The block of a main guard."""
    LEFT = "left"
    """What stands behind a statement that may leave the function."""


@dataclass(frozen=True)
class Part:
    """Some statements of a body that are reached in a way of their own."""

    kind: Kind
    way: Way
    trace: Trace
    ends: tuple[ast.stmt, ast.stmt] | None = None
    """The first and the last of them; None for expressions. Where they stand may change."""

    def holds(self, position: Position) -> bool:
        """Whether a statement that ends at a position is one of them, or stands in one."""
        return self.ends is not None and start_of(self.ends[0]) < position <= end_of(self.ends[1])

    def is_behind(self, position: Position) -> bool:
        """Whether all of them stand behind a position."""
        return self.ends is not None and start_of(self.ends[0]) >= position


Step = Event | Imports | Enters | Part
Trace = tuple[Step, ...]


def part_of(block: Sequence[ast.stmt], trace: Sequence[Step], kind: Kind, way: Way) -> Trace:
    """The part of a trace that some statements are; nothing where they do nothing, themselves where all is plain."""
    if not trace or (kind is Kind.PLAIN and way == AT_ONCE):
        return tuple(trace)
    return (Part(kind, way, tuple(trace), (block[0], block[-1])),)


def maybe(steps: Sequence[Step], way: Way | None = None) -> Trace:
    """The part of a trace that some expressions are which may not run; no statement ends in it."""
    return (Part(Kind.BRANCH, way or AT_ONCE.perhaps(), tuple(steps)),) if steps else ()
