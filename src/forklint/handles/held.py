"""What is known of a handle while code is followed: which value holds it, where it was stored, how states join."""

from __future__ import annotations

import ast
from dataclasses import field, replace

from forklint.handles.claims import NO_CLAIMS, Claims, denies
from forklint.knowledge.handles import Handle
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import Scope
from forklint.project.spelling import is_name
from forklint.records import dataclass
from forklint.values.model import Expression
from forklint.values.model import Frame as Context


@dataclass(frozen=True)
class Opened:
    """One call that opens a handle."""

    module: Module
    node: ast.Call
    row: Handle

    @property
    def in_memory(self) -> bool:
        """Whether it is a database in memory: a forked worker has a copy of its own."""
        return any(isinstance(arg, ast.Constant) and arg.value == ":memory:" for arg in self.node.args)


@dataclass(frozen=True)
class Held:
    """A value that is an open handle, or a container of them (``boxed``)."""

    opened: Opened
    boxed: bool = False
    part: bool = False
    """Whether it is a part of the handle, reached by a subscript: an HDF5 group or dataset."""
    derived: bool = False
    """Whether it is what a method of the handle gave, which keeps it open: a cursor, a transaction."""
    via: ClassFacts | None = None
    """The class of the object that keeps it, if it came as a part of one."""
    under: str = ""
    """The attribute of that object under which it is; empty for one further inside."""
    own: bool = False
    """Whether it lies under a key that only the process that opened it uses."""
    claims: Claims = NO_CLAIMS
    """What is known of the object's attributes as long as it is open."""


Values = frozenset[Held]
NOTHING: Values = frozenset()
State = dict[str, Values]


@dataclass(frozen=True)
class StoredHandle:
    """A statement that stores a handle on the object."""

    opened: Opened
    attribute: str
    module: Module
    statement: ast.stmt
    via: ClassFacts | None = None
    own: bool = False
    """Whether only the process that opened it finds it there: a dictionary has it under the id of the process."""


@dataclass
class Frame:
    """One call being followed: where its code stands and what its names hold."""

    module: Module
    scope: Scope
    state: State
    """Names as ``x``, attributes of the object as ``self.x``."""
    context: Context
    """With what the function was called."""
    me: str = ""
    """The name that the object goes by here: ``self``."""
    returned: Values = NOTHING
    exits: list[State] = field(default_factory=list)
    """States in which the call returned early."""

    def learn(self, attribute: str, claims: Claims) -> None:
        """Note that an attribute was stored to: what was known of it is gone, and some claims hold instead."""
        for name, values in self.state.items():
            self.state[name] = frozenset(
                replace(held, claims=claims | {one for one in held.claims if attribute not in one.attributes})
                for held in values
            )

    def key(self, target: ast.expr) -> str:
        """The name in ``state`` of what an expression stores to; empty if it has none."""
        if isinstance(target, ast.Name):
            return target.id
        if isinstance(target, ast.Attribute) and self.me and is_name(target.value, self.me):
            return f"self.{target.attr}"
        return ""

    def expression(self, node: ast.expr) -> Expression:
        """An expression of this call, to be evaluated."""
        return Expression(self.module, self.scope, node, self.context)


def closers(row: Handle) -> frozenset[str]:
    """Methods after which nothing is open."""
    return frozenset({"close", "__exit__", row.close, *row.releases})


def boxed(values: Values) -> Values:
    """The same handles, inside a container."""
    return frozenset(replace(held, boxed=True) for held in values)


def own(values: Values) -> Values:
    """The same handles, under a key of the process that opened them."""
    return frozenset(replace(held, own=True) for held in values)


def unboxed(values: Values) -> Values:
    """What an element of these containers is."""
    return frozenset(replace(held, boxed=False) for held in values)


def boxes(values: Values) -> Values:
    """Only the containers: iterating over a handle itself gives its lines, not handles."""
    return frozenset(held for held in values if held.boxed)


def join(states: list[State]) -> State:
    """What may be held where several ways meet."""
    joined: State = {}
    for state in states:
        for name, values in state.items():
            joined[name] = joined.get(name, NOTHING) | values
    return joined


def join_live(states: list[State | None]) -> State | None:
    """The same for ways of which some end before they meet; None if all do."""
    live = [state for state in states if state is not None]
    return join(live) if live else None


def without(state: State, closed: Values) -> State:
    """The state once these handles are closed."""
    gone = {held.opened for held in closed}
    return {name: frozenset(h for h in values if h.opened not in gone) for name, values in state.items()}


def without_derived(state: State, closed: Values) -> State:
    """The state once what methods of these handles gave is closed: they themselves stay open."""
    gone = {held.opened for held in closed}
    return {
        name: frozenset(held for held in values if not (held.derived and held.opened in gone))
        for name, values in state.items()
    }


def denied(state: State, claims: Claims) -> State:
    """The state where some claims hold: a handle that was opened where they did not is not there."""
    return {
        name: frozenset(held for held in values if not denies(claims, held.claims)) for name, values in state.items()
    }
