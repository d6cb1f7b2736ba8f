"""What code does, as events in the order in which they happen, and what of it has happened at each point of a program.

A block of code is followed once (see ``walk``), whoever runs it; a program plays the traces of the modules that it
imports, each the first time that it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.facts.forking.objects import View
    from forklint.project.budget import Budget
    from forklint.project.module import Module

MOST_NESTED = 6
"""How many imports deep a program is followed."""


@dataclass(frozen=True)
class Place:
    """A call or an import, and the module it stands in."""

    module: Module
    node: ast.Call | ast.Import | ast.ImportFrom

    @property
    def text(self) -> str:
        """The call, or the import, in a few words."""
        return f"{ast.unparse(self.node.func)}()" if isinstance(self.node, ast.Call) else ast.unparse(self.node)


Way = tuple[Place, ...]
"""From the code at hand, through calls and imports, to the place of an event."""


@dataclass(frozen=True)
class Use:
    """A call that starts what is left behind by a fork, or wants it."""

    poison: str
    who: str
    starts: bool
    hangs: bool
    path: Way
    """To the call itself."""


@dataclass(frozen=True)
class TurnsOff:
    """A call after which nothing of some poisons happens."""

    poisons: frozenset[str]


@dataclass(frozen=True)
class Imports:
    """A statement that runs some modules of the project, those of them that have not run yet."""

    files: tuple[Path, ...]
    path: Way
    """To the statement."""


@dataclass(frozen=True)
class Calls:
    """A call that somebody asked for by its name, before whatever it does."""

    view: View
    call: ast.Call
    path: Way
    """To the call."""


@dataclass(frozen=True)
class MayHappen:
    """A branch: what it starts is forgotten behind it, what it turns off is not."""

    trace: Trace


Event = Use | TurnsOff | Imports | Calls | MayHappen
Trace = tuple[Event, ...]


@dataclass
class Program:
    """What has happened so far while traces are played one after the other."""

    budget: Budget
    imported: set[Path] | None = None
    """The modules that have run; None where imports are not followed."""
    trace_of: Callable[[Path], Trace] | None = None
    """What importing a file does."""
    met: Callable[[Calls, Way, Program], None] | None = None
    """Called with the calls that were asked for, the ways to them and the program, before they are made."""
    uses: list[Use] = field(default_factory=list)
    """What has certainly happened."""
    off: set[str] = field(default_factory=set)
    """Poisons of which nothing happens any more."""
    nested: int = 0

    def play(self, trace: Trace, before: Way = ()) -> None:
        """Let the events of a trace happen; ``before`` is the way to the code that it is of."""
        for event in trace:
            if not self.budget.spend():
                return
            if isinstance(event, Use):
                if event.poison not in self.off:
                    self.uses.append(_behind(before, event))
            elif isinstance(event, Calls):
                if self.met is not None:
                    self.met(event, (*before, *event.path), self)
            elif isinstance(event, Imports):
                self._import(event, before)
            elif isinstance(event, TurnsOff):
                self.off |= event.poisons
            else:
                kept = len(self.uses)
                self.play(event.trace, before)
                del self.uses[kept:]

    def _import(self, event: Imports, before: Way) -> None:
        for file in event.files:
            if self.imported is None or self.trace_of is None or self.nested >= MOST_NESTED:
                return
            if file not in self.imported:
                self.imported.add(file)
                self.nested += 1
                self.play(self.trace_of(file), (*before, *event.path))
                self.nested -= 1


def _behind(before: Way, use: Use) -> Use:
    return Use(use.poison, use.who, use.starts, use.hangs, (*before, *use.path)) if before else use
