"""Forks that come after something whose threads, or whose driver, the child then wants and does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forklint.forking.sites import Site, Target, sites_in
from forklint.forking.uses import Calls, Poisons, TurnsOff, Use, turned_off_by, uses_in
from forklint.knowledge.poisons import Poison, poisons
from forklint.project.index import External
from forklint.project.module import FunctionFacts
from forklint.records import dataclass
from forklint.runs.calls import Callee, by_anyone, callees, method
from forklint.runs.programs import Program, budget_for
from forklint.runs.scripts import is_program, leading_to
from forklint.runs.walk import trace_of_function, trace_of_module
from forklint.values.model import NO_ARGUMENTS, NOT_KNOWN, Arguments, Expression, Frame, Instance

if TYPE_CHECKING:
    from forklint.model import Cell
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.runs.trace import Event

MOST_PROGRAMS = 8
"""So many programs are followed from where they begin to a function that forks in another module."""


@dataclass(frozen=True)
class Poisoned:
    """A fork, what was started before it, and what of it the child uses."""

    site: Site
    poison: Poison
    before: Use
    within: Use
    target: FunctionFacts
    """The function at which the child begins."""
    cells: tuple[Cell, ...]
    program: Module
    """The module from whose top, or from a function of which, it was followed."""


@dataclass(frozen=True)
class Wanted:
    """What a child uses: the function it begins at, such a call in it, and what making its object used before."""

    target: FunctionFacts
    within: Use
    made: tuple[Use, ...]


def poisoned(project: Project, module: Module) -> Iterator[Poisoned]:
    """Give the forks of a module that come too late, in the order of their lines, each once."""
    finder = _Finder(project, module)
    if not finder.sites:
        return
    around = {above for call in finder.sites for above in module.above(call)}
    functions = [function for function in module.functions if function.node in around]
    finder.from_top(len(functions) + 1)
    for function in functions:
        finder.from_function(function, len(functions) + 1)
    if finder.is_open:
        programs = [one for one in leading_to(project, module.path)[1:] if is_program(project, one)][:MOST_PROGRAMS]
        for program in project.modules(programs):
            finder.from_program(program, len(programs))
    yield from sorted(finder.found.values(), key=lambda one: one.site.call.lineno)


class _Finder:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._topic = Poisons(project)
        self.found: dict[ast.Call, Poisoned] = {}
        self.sites = {call: found for call, found in sites_in(project, module).items() if found[0].targets}
        self.is_open = False
        """Whether a function forks children that want what nothing in it has started: its callers may have."""

    def from_top(self, number: int) -> None:
        """Follow the module as a script runs it, as one of a ``number`` of programs.

        First without what it imports: most modules fork nothing at their top level, or children that want nothing,
        and then nobody need know what their imports start.
        """
        forks: list[Event] = []

        def note(event: Event, _: Program) -> None:
            if not forks and any(True for _ in self._wanted(event)):
                forks.append(event)

        budget = budget_for(self._project, self._module, number)
        trace = trace_of_module(self._topic, self._module.path)
        Program(self._topic, budget, met=note).play(trace)
        if forks:
            Program(self._topic, budget, self._module, met=self._met).play(trace)

    def from_function(self, facts: FunctionFacts, number: int) -> None:
        """Follow a function by itself, whoever calls it."""
        budget = budget_for(self._project, facts.node, number)
        Program(self._topic, budget, met=self._met_in_function).call(facts)

    def from_program(self, home: Module, number: int) -> None:
        """Follow another module as the script that comes to this one, as one of a ``number`` of programs."""
        budget = budget_for(self._project, home, number)
        Program(self._topic, budget, home, met=self._met).play(trace_of_module(self._topic, home.path))

    def _met_in_function(self, event: Event, program: Program) -> None:
        self._met(event, program)
        site = self.sites.get(event.call.node) if isinstance(event, Calls) else None  # type: ignore[call-overload]
        if site is not None and not site[0].is_loader and any(True for _ in self._wanted(event)):
            self.is_open = True

    def _met(self, event: Event, program: Program) -> None:
        """Judge a call that forks, with what has happened so far."""
        before = [use for use in uses_in(program.happened) if use.starts]
        for wanted in self._wanted(event, before):
            poison = wanted.within.poison
            uses = [one for one in (*wanted.made, *before) if one.starts and one.poison == poison]
            if uses and isinstance(event, Calls):
                site, cells = self.sites[event.call.node]  # type: ignore[index]
                row = poisons().poisons[poison]
                found = Poisoned(site, row, uses[-1], wanted.within, wanted.target, cells, event.chain[0].module)
                self.found.setdefault(site.call, found)

    def _wanted(self, event: Event, before: Sequence[Use] | None = None) -> Iterator[Wanted]:
        """What the children of a fork want that their parent may have started, if an event is such a fork.

        ``before`` is what it has started; where that is nothing, no child need be followed.
        """
        call = event.call.node if isinstance(event, Calls) else None
        if not isinstance(event, Calls) or call not in self.sites or call in self.found:
            return
        site, _ = self.sites[call]
        off = turned_off_first(self._topic, event.call, site)
        for target in site.targets:
            if before is not None and not before and not any(one.starts for one in used_by_making(self._topic, target)):
                continue
            for wanted in wanted_by(self._topic, event.call, target):
                row = poisons().poisons[wanted.within.poison]
                is_met = row.rule == "FKL203" and (row.loaders or not site.is_loader) and row.name not in off
                if is_met and not self._is_told(row):
                    yield wanted

    def _is_told(self, row: Poison) -> bool:
        """Whether the file names the variable by which the threads may be turned off."""
        return bool(row.variable) and row.variable.encode() in self._module.document.code


def wanted_by(topic: Poisons, call: Expression, target: Target) -> tuple[Wanted, ...]:
    """What the children use that a call starts at a target."""
    key = (target, call.node, call.frame)
    return topic.project.answer("what a child wants", key, lambda: tuple(_wanted_by(topic, call, target)))


def used_by_making(topic: Poisons, target: Target) -> tuple[Use, ...]:
    """What is used where the object is made whose methods a child runs."""
    found = method(topic.project, Instance(target.owner), "__init__") if target.owner is not None else None
    return _used_in(topic, found[0], by_anyone(*found)) if found is not None else ()


def _wanted_by(topic: Poisons, call: Expression, target: Target) -> Iterator[Wanted]:
    entries: list[tuple[Callee, Arguments]] = []
    if target.owner is not None:
        owner = Instance(target.owner)
        methods = (method(topic.project, owner, name) for name in target.methods)
        entries = [(one, NO_ARGUMENTS) for one in methods if one is not None]
    elif target.function is not None:
        symbol = topic.project.resolve(call.module, call.scope, target.function)
        found = list(callees(topic.evaluator, call.part(target.function), symbol))
        entries = found if len(found) == 1 else []
    given = Arguments(tuple(map(call.part, target.given)), open=True) if target.given else NOT_KNOWN
    for (function, receiver), kept in entries:
        uses = _used_in(topic, function, Frame(function, kept.then(given), receiver))
        yield from (Wanted(function, use, used_by_making(topic, target)) for use in uses if use.hangs)


def turned_off_first(topic: Poisons, call: Expression, site: Site) -> frozenset[str]:
    """The poisons that the children of a pool turn off before their first task."""
    first = site.initializer
    if first is None or first.function is None:
        return frozenset()
    function = call.part(first.function)
    symbol = topic.project.resolve(call.module, call.scope, first.function)
    if isinstance(symbol, External):
        return turned_off_by(symbol.name, first.given)
    given = Arguments(tuple(map(call.part, first.given)), open=not first.given)
    found = list(callees(topic.evaluator, function, symbol))
    events = [
        event
        for (one, receiver), kept in found
        for event in _happening_in(topic, one, Frame(one, kept.then(given), receiver))
    ]
    return frozenset[str]().union(*(one.poisons for one in events if isinstance(one, TurnsOff)))


def _used_in(topic: Poisons, function: FunctionFacts, frame: Frame) -> tuple[Use, ...]:
    return uses_in(_happening_in(topic, function, frame))


def _happening_in(topic: Poisons, function: FunctionFacts, frame: Frame) -> list[Event]:
    """What certainly happens in a function."""
    program = Program(topic, budget_for(topic.project, function.node))
    program.play(trace_of_function(topic, function, frame))
    return program.happened
