"""What starts processes, and by which start method, as events of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from forklint.knowledge.starters import Starter, iteration, starters
from forklint.loading.loaders import Loader, WorkerCount, loader_held
from forklint.loading.rows import rows_above
from forklint.model import Link
from forklint.project.index import External
from forklint.project.module import ClassFacts, CodeLink, FunctionFacts
from forklint.project.spelling import is_name
from forklint.records import dataclass
from forklint.runs.calls import method
from forklint.runs.given import may_be_given
from forklint.runs.reached import Place, may_reach
from forklint.runs.trace import Event
from forklint.runs.walk import Topic
from forklint.starting import screening
from forklint.starting.methods import DEFAULT_METHOD, UNKNOWN, asked_by, asked_of
from forklint.values import arguments, arithmetic
from forklint.values.branches import is_asked_for
from forklint.values.model import Absent, Constant, Expression, Found, Instance, Made, Row, Table, Value
from forklint.values.numbers import Workers
from forklint.values.worlds import platforms_of

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol

SPAWNING = frozenset({"darwin", "windows"})
"""Platforms that always spawned: who has workers on others alone has thought of it."""


@dataclass(frozen=True)
class Starts(Event):
    """Processes start."""

    what: str
    """By what, as a verb phrase."""
    method: str
    """DEFAULT_METHOD for the one of the process, UNKNOWN for one that is not told."""
    made_at: Expression | None = None
    """Where the loader or process is made, if that is another place."""
    links: tuple[Link | CodeLink, ...] = ()
    """Where the number of workers is written down."""
    platforms: tuple[str, ...] = ()
    """The only platforms on which they start; none for all."""


@dataclass(frozen=True)
class SetsMethod(Event):
    """The start method of the process is set."""

    method: str
    forced: bool
    lasts: ClassVar[bool] = True


class ProcessStarts(Topic):
    """Follows what starts processes."""

    name = "starts of processes"
    with_values = True
    by_machine = True
    follows_imports = False
    most_calls = 24
    most_entries = 12

    def __init__(self, project: Project) -> None:
        """Follow the code of a project."""
        super().__init__(project)
        self._rows = starters(project.settings.starters)
        rows = self._rows.values()
        self._methods = frozenset(name for row in rows for name in row.methods) | {"__iter__"}
        self._taking = frozenset(name for row in rows for name in row.handed_to)
        self._spawning = frozenset(name for one in iteration().consumers if one.spawning for name in one.methods)

        names = (name for name in self._rows if screening.MODULE not in name)
        self._starting = screening.starts(frozenset(name.rpartition(".")[2] for name in names) | {"set_start_method"})

    def may_matter(self, call: Expression, symbol: Symbol | None) -> bool:
        """Whether a call gives something to what it calls, or that may reach a start by itself."""
        if not isinstance(symbol, (ClassFacts, FunctionFacts)):
            return True
        home = symbol.scope.parent
        if home is None or home.parent is not None or may_be_given(self.project, call, self._starting):
            return True
        if isinstance(symbol, FunctionFacts):
            name = symbol.node.name
        else:
            is_alone = self.project.ancestry(symbol).classes == (symbol,)
            name = f"{symbol.name}.__init__" if is_alone else symbol.name
        return may_reach(self.project, Place(symbol.module.path, name), self._starting)

    # Calls

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterator[Event]:
        """A call of what starts processes, by its name or as a method of an object."""
        node = call.node
        assert isinstance(node, ast.Call)  # noqa: S101 - the walk says so
        if isinstance(symbol, External):
            yield from self._library(call, symbol.name)
        elif isinstance(node.func, ast.Attribute):
            if node.func.attr in self._methods:
                yield from self._method(call, node.func)
            elif node.func.attr in self._spawning:
                yield from self._spawned(call, node.func)
            elif node.func.attr in self._taking and node.args:
                yield from self._handed_on(call, node.func.attr, call.part(node.args[0]))
            else:
                yield from self._called(call, f"multiprocessing.{node.func.attr}")

    def _library(self, call: Expression, name: str) -> Iterator[Event]:
        row = self._rows.get(name)
        if row is not None and row.how == "called" and self._has_workers(row, call):
            what = f"calls {row.name}(), which starts processes"
            yield Starts(what, self._method_given(row, call), platforms=row.platforms)
        elif name in iteration().setters:
            given = arguments.of_call(self.evaluator, call)
            force = given.get("force", 1)
            found = self.evaluator.find(force) if force is not None else None
            is_off = found is None or (isinstance(found.value, Constant) and not arithmetic.is_true(found.value))
            yield SetsMethod(asked_by(self.evaluator, given.get("method", 0), UNKNOWN).method, forced=not is_off)

    def _called(self, call: Expression, name: str) -> Iterator[Event]:
        """``context.Pool()``."""
        row = self._rows.get(name)
        if row is None or row.how != "called":
            return
        made = self.evaluator.find(call).value
        if isinstance(made, Made) and made.name == name:
            yield Starts(f"calls {row.name}(), which starts processes", self._method_given(row, call))

    def _spawned(self, call: Expression, func: ast.Attribute) -> Iterator[Event]:
        """``Trainer(strategy="ddp_spawn").fit()``."""
        for one in self.evaluator.find(call.part(func.value)).possible:
            made = one.value
            asked = self._asks_to_spawn(made, func.attr) if isinstance(made, Made) else ""
            if asked and isinstance(made, Made):
                what = f"calls {func.attr}() of a {made.name.rpartition('.')[2]} with {asked}"
                yield Starts(what, "spawn", made.call)

    def _asks_to_spawn(self, made: Made, method: str) -> str:
        """The argument by which the methods of an object spawn processes; empty if there is none."""
        given = arguments.of_call(self.evaluator, made.call)
        for row in iteration().consumers:
            if made.name in row.classes and method in row.methods:
                for option, values in row.spawning.items():
                    source = given.keywords.get(option)
                    value = self.evaluator.find(source).value if source is not None else None
                    if isinstance(value, Constant) and value.value in values:
                        return str(value.value)
        return ""

    def _handed_on(self, call: Expression, name: str, given: Expression) -> Iterator[Event]:
        """``loop.run_in_executor(executor, work)``."""
        for one in self.evaluator.find(given).possible:
            row = self._rows.get(one.value.name) if isinstance(one.value, Made) else None
            if row is not None and name in row.handed_to and isinstance(one.value, Made):
                what = f"calls {name}() with a {row.name}"
                yield Starts(what, self._method_given(row, one.value.call), one.value.call, platforms=row.platforms)

    def _method(self, call: Expression, func: ast.Attribute) -> Iterator[Event]:
        """A method of a process, an executor, or what a class of the project inherits from one."""
        if isinstance(func.value, ast.Call) and is_name(func.value.func, "super"):
            yield from self._inherited(call, func)
            return
        for one in self.evaluator.find(call.part(func.value)).possible:
            value = one.value
            if func.attr == "__iter__":
                yield from self.of_iteration(call, one)
            elif isinstance(value, Made):
                row = self._rows.get(value.name)
                if row is None or func.attr not in row.methods:
                    continue
                if self._has_workers(row, value.call if row.workers_when_made else call):
                    what, asked = f"calls {func.attr}() of a {row.name}", self._method_given(row, value.call)
                    yield Starts(what, asked, value.call, platforms=row.platforms)
            elif isinstance(value, Instance) and method(self.project, value, func.attr) is None:
                yield from self._of_heir(value, func.attr)

    def _of_heir(self, owner: Instance, name: str) -> Iterator[Event]:
        row = next(iter(rows_above(self.project, owner.facts)), None)
        if row is not None and name in row.methods:
            yield Starts(f"calls {name}() of a {row.name}", row.start_method or DEFAULT_METHOD)

    def _inherited(self, call: Expression, func: ast.Attribute) -> Iterator[Event]:
        """``super().start()``, ``super().__iter__()``: what the object inherits from a library."""
        frame, parent = call.frame, call.scope.parent
        home = parent.node if parent is not None else None
        if not isinstance(home, ast.ClassDef):
            return
        known = frame.receiver if frame is not None and frame.function.node is call.scope.node else None
        owner = known if known is not None else Instance(call.module.class_facts(home))
        if func.attr == "__iter__":
            yield from self._iterated(Found(owner))
        else:
            yield from self._of_heir(owner, func.attr)

    def _has_workers(self, row: Starter, call: Expression) -> bool:
        """Whether a call of what starts processes, but is no loader, starts any with these arguments."""
        given = arguments.of_call(self.evaluator, call)
        for option, values in row.off.items():
            source = given.get(option, row.position(option))
            if source is None:
                continue
            value = self.evaluator.find(source).value
            known = value.value if isinstance(value, Constant) else ""
            if known is not None and ("*" in values or not isinstance(value, Constant) or known in values):
                return False
        if not row.workers:
            return True
        count = _count(Loader(call, row, self.evaluator, plain=True))
        is_few = isinstance(count.number, int) and count.number < row.least
        return count.kind is Workers.SOME and not is_few

    # Iteration

    def of_iteration(self, place: Expression, iterated: Found) -> Iterator[Event]:
        """A loader with workers is iterated."""
        heirs = [one for one in iterated.possible if isinstance(one.value, Instance)]
        if not any(method(self.project, one.value, "__iter__") for one in heirs if isinstance(one.value, Instance)):
            yield from self._iterated(iterated)

    def _iterated(self, iterated: Found) -> Iterator[Event]:
        """A loader, or one of several things: of those that branches make by default, each must be one with workers."""
        iterable = [one for one in iterated.possible if not _is_empty(one.value)]
        starting = [start for one in iterable if (start := self._start_of(one)) is not None]
        if iterated.is_all and 0 < len(starting) < len(iterable):
            iterable = [one for one in iterable if not self._is_asked_for(one.value)]
            starting = [start for one in iterable if (start := self._start_of(one, usual=True)) is not None]
        if starting and (len(starting) == len(iterable) or not iterated.is_all):
            yield starting[0]

    def _is_asked_for(self, value: Value) -> bool:
        """Whether only an option of the program has something made, since other branches are taken by default."""
        call = value.call if isinstance(value, (Made, Instance)) else None
        return call is not None and is_asked_for(self.evaluator, call)

    def _start_of(self, found: Found, *, usual: bool = False) -> Starts | None:
        """What a loader starts with workers; ``usual`` if it is the one that is made by default."""
        loader = loader_held(self.project, found.value)
        if loader is None:
            return None
        row, count = loader.row, _count(loader)
        if {row.workers, row.context} & found.stored.entries.keys():
            return None
        platforms = platforms_of(count.some_in)
        is_some = count.kind is Workers.SOME or bool(SPAWNING.intersection(platforms))
        if not is_some:
            return None
        what = f"iterates a {row.name} {'(with workers by default)' if usual or count.by_default else 'with workers'}"
        return Starts(what, self._method_of(loader), loader.call, count.links, platforms)

    # Start methods

    def _method_of(self, loader: Loader) -> str:
        source = loader.option(loader.row.context) if loader.row.context else None
        if source is None and loader.row.context and loader.open:
            return UNKNOWN
        return asked_by(self.evaluator, source, loader.row.start_method or DEFAULT_METHOD).method

    def _method_given(self, row: Starter, call: Expression) -> str:
        """The start method that a call asks for; UNKNOWN where it may be given a context that is not seen."""
        given = arguments.of_call(self.evaluator, call)
        is_hidden = row.context and given.open and given.get(row.context, row.position(row.context)) is None
        return UNKNOWN if is_hidden else asked_of(self.evaluator, row, call).method


def _is_empty(value: Value) -> bool:
    """Whether iterating something draws nothing from it: an empty list, or None, which cannot be iterated."""
    if isinstance(value, Row):
        return value.complete and not value.items
    if isinstance(value, Table):
        return value.complete and not value.entries
    return isinstance(value, (Absent, Constant))


def _count(loader: Loader) -> WorkerCount:
    """The number of workers, as the call at hand gives it or, where that does not tell, any call."""
    count, call = loader.workers, loader.call
    if count.kind is not Workers.UNKNOWN or count.some_in or call.frame is None:
        return count
    return replace(loader, call=Expression(call.module, call.scope, call.node)).workers
