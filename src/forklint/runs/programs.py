"""A program: it plays the traces of what it runs, and knows at each point what has surely happened by then.

What has happened in a branch counts within it, and no longer behind it: so ``happened`` holds what comes before any
place that is being played, whatever way leads there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.budget import Budget, size
from forklint.project.nodes import Position
from forklint.runs.calls import by_anyone, method
from forklint.runs.trace import (
    AT_ONCE,
    Chain,
    Enters,
    Event,
    Imports,
    Kind,
    Part,
    Place,
    Trace,
    Way,
    behind,
)
from forklint.runs.walk import Topic, trace_of_function, trace_of_module
from forklint.values.model import Instance

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import FunctionFacts, Module
    from forklint.project.scopes import Function

MOST_IMPORTS = 40
"""How long a chain of imports is followed."""
STEPS_PER_FILE = 8_000
"""Steps that are played in the programs of one file together, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of the file."""

WITHOUT_OBJECT = frozenset({"staticmethod", "classmethod"})


def budget_for(project: Project, body: Module | ast.AST, number: int = 1, steps: int = STEPS_PER_FILE) -> Budget:
    """The budget of one of the ``number`` of programs that a file is: what all may take is shared out evenly."""
    nodes = size(body) if isinstance(body, ast.AST) else body.weight
    return project.budgets.of("following calls", steps // number + STEPS_PER_NODE * nodes)


class Role(Enum):
    """As what the code at hand runs."""

    SCRIPT = "script"
    IMPORT = "import"
    """Its main guard does not hold."""
    PREFIX = "prefix"
    """It is of interest only for what surely comes before a place: branches that do not lead there are passed over."""


class Program:
    """What has happened so far while traces are played one after the other."""

    def __init__(
        self,
        topic: Topic,
        budget: Budget,
        root: Module | None = None,
        *,
        met: Callable[[Event, Program], None] | None = None,
        role: Role = Role.SCRIPT,
    ) -> None:
        """Play on behalf of a topic.

        With a ``root``, the module that runs, imports are followed, and what a function that is called may not come to
        does not happen. ``met`` is called with each event before it counts.
        """
        self._topic = topic
        self._met = met
        self._role = role
        self._follows = root is not None
        self._imported: dict[Path, Place | None] = {}
        """The modules that have run, and where the root module led to each."""
        if root is not None:
            self._imported = dict.fromkeys([root.path, *_packages_above(topic.project, root.path)])
        self._entered: dict[Function, list[Place | None]] = {}
        self._active: tuple[Function, ...] = ()
        self._imports_deep = 0
        self._now: Place | None = None
        """Where the code at hand has come to; None at its beginning."""
        self._is_over = False
        self.budget = budget
        self.skips: Callable[[Part, Program], bool] | None = None
        """Tells which parts are not played, since nobody wants to know what happens there."""
        self.goal: Path | None = None
        """A file of the project: where it would be run, everything ends."""
        self.has_arrived = False
        """Whether it has come to its goal."""
        self.happened: list[Event] = []
        """What has surely happened."""

    @property
    def files(self) -> frozenset[Path]:
        """The files of the project that have run, or are running."""
        return frozenset(self._imported)

    def come_to(self, position: Position, budget: Budget) -> Program:
        """The program as it was when its first module came to a position, to go on from there."""
        found = Program(self._topic, budget, met=self._met, role=self._role)
        found.skips = self.skips
        found._follows = self._follows
        found._imported = {path: at for path, at in self._imported.items() if at is None or at.start < position}
        entered = self._entered.items()
        found._entered = {one: [at for at in places if at is None or at.start < position] for one, places in entered}
        found.happened = [event for event in self.happened if event.chain[0].start < position]
        return found

    def play(self, trace: Trace, chain: Chain = (), way: Way = AT_ONCE, until: Position | None = None) -> None:
        """Let a trace happen, to which a chain and a way lead; ``until`` a statement ends that is part of it."""
        for step in trace:
            if self._is_over or not self.budget.spend():
                return
            if isinstance(step, Part):
                if until is not None and step.is_behind(until):
                    continue  # handlers are played before their body
                inside = until is not None and step.holds(until)
                if not self._leaves_out(step, inside=inside):
                    self._part(step, chain, way.then(step.way), until if inside else None)
                if inside:
                    return
                continue
            place = step.chain[0] if isinstance(step, Event) else step.place
            if until is not None and place.start >= until:
                return
            if not chain:
                self._now = place
            if isinstance(step, Event):
                self._happen(behind(step, chain, way))
            elif isinstance(step, Imports):
                self._import(step, chain, way)
            else:
                self._enter(step, chain, way)

    def stop(self) -> None:
        """Let nothing more happen: what was to be known is."""
        self._is_over = True

    def call(self, function: FunctionFacts) -> None:
        """Let a function run, whoever calls it; the object of a method is made first."""
        marks = {mark.id for mark in function.node.decorator_list if isinstance(mark, ast.Name)}
        has_object = function.owner is not None and marks.isdisjoint(WITHOUT_OBJECT)
        receiver = Instance(function.owner) if function.owner is not None and has_object else None
        made = method(self._topic.project, receiver, "__init__") if receiver is not None else None
        for one in dict.fromkeys([made[0] if made is not None else function, function]):
            frame = by_anyone(one, receiver) if self._topic.with_values else None
            self.play(trace_of_function(self._topic, one, frame))

    def _happen(self, event: Event) -> None:
        if self._met is not None:
            self._met(event, self)
        self.happened.append(event)

    def _leaves_out(self, part: Part, *, inside: bool) -> bool:
        """Whether a part does not run, or nobody is to know."""
        if inside:
            return False
        if self.skips is not None and self.skips(part, self):
            return True
        if part.kind is Kind.GUARD:
            return self._role is not Role.SCRIPT or self._imports_deep > 0
        if part.kind is Kind.LEFT:
            return bool(self._active) and (self._follows or self._is_entered_again())
        return self._role is Role.PREFIX and part.kind is Kind.BRANCH and not part.way.certain

    def _is_entered_again(self) -> bool:
        """Whether the function at hand has run before: what it set then may have it leave early now."""
        return len(self._entered[self._active[-1]]) > 1

    def _part(self, part: Part, chain: Chain, way: Way, until: Position | None) -> None:
        is_sure = part.kind is not Kind.BRANCH or (self._role is Role.PREFIX and part.way.certain)
        if is_sure or until is not None:
            self.play(part.trace, chain, way, until)
            return
        kept, imported = len(self.happened), len(self._imported)
        self.play(part.trace, chain, way)
        self.happened[kept:] = [event for event in self.happened[kept:] if event.lasts]
        if len(self._imported) > imported:
            self._imported = dict(islice(self._imported.items(), imported))

    def _import(self, step: Imports, chain: Chain, way: Way) -> None:
        if self._follows and step.file not in self._imported and self._imports_deep < MOST_IMPORTS:
            if step.file == self.goal:
                self.has_arrived = True
                self.stop()
                return
            self._imported[step.file] = self._now
            active, self._active = self._active, ()
            self._imports_deep += 1
            self.play(trace_of_module(self._topic, step.file), (*chain, step.place), way)
            self._imports_deep -= 1
            self._active = active

    def _enter(self, step: Enters, chain: Chain, way: Way) -> None:
        node = step.function.node
        entries = self._entered.setdefault(node, [])
        most = 1 if any("cache" in ast.unparse(mark) for mark in node.decorator_list) else self._topic.most_entries
        if node in self._active or len(self._active) >= self._topic.most_calls or len(entries) >= most:
            return
        entries.append(self._now)
        self._active = (*self._active, node)
        self.play(trace_of_function(self._topic, step.function, step.frame), (*chain, step.place), way)
        self._active = self._active[:-1]


def _packages_above(project: Project, path: Path) -> Iterable[Path]:
    """Give the ``__init__.py`` of each package around a module: running, or run, when the module is."""
    for folder in path.parents:
        init = folder / "__init__.py"
        if not project.has_file(init):
            return
        yield init
