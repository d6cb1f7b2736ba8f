"""Forks that come after something whose threads, or whose driver, the child then wants and does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from forklint.facts.forking.objects import Instance, Thing, View
from forklint.facts.forking.programs import asked, budget_for, trace_of
from forklint.facts.forking.sites import Site, Target, sites_in
from forklint.facts.forking.trace import Calls, Program, Use, Way
from forklint.facts.forking.walk import Entered, Walk
from forklint.knowledge.poisons import Poison, poisons
from forklint.project.module import FunctionFacts
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.model import Cell
    from forklint.project.budget import Budget
    from forklint.project.index import Project
    from forklint.project.module import Module


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
    yield from sorted(finder.found.values(), key=lambda one: one.site.call.lineno)


class _Finder:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self.found: dict[ast.Call, Poisoned] = {}
        self.sites = {call: found for call, found in sites_in(project, module).items() if found[0].targets}

    def from_top(self, number: int) -> None:
        """Follow the module as a script runs it, as one of a ``number`` of programs.

        First without what it imports: most modules fork nothing at their top level, or children that want nothing,
        and then nobody need know what their imports start.
        """
        forks: list[ast.Call] = []

        def note(event: Calls, _: Way, program: Program) -> None:
            if not forks and any(True for _ in self._wanted(event.view, event.call, program.budget)):
                forks.append(event.call)

        budget = budget_for(self._project, [self._module.tree], number)
        walk = Walk(self._project, budget, asked(self._project), is_program=True)
        walk.top(self._module)
        Program(budget, met=note).play(walk.trace)
        if forks:
            Program(budget, {self._module.path}, partial(trace_of, self._project), self._met).play(walk.trace)

    def from_function(self, facts: FunctionFacts, number: int) -> None:
        """Follow a function by itself, whoever calls it."""
        budget = budget_for(self._project, [facts.node], number)
        walk = Walk(self._project, budget, asked(self._project))
        above = facts.scope.parent.node if facts.scope.parent else None
        me = Instance(self._module.class_facts(above)) if isinstance(above, ast.ClassDef) else None
        made = walk.method(me, "__init__") if me is not None and facts.node.name != "__init__" else None
        if made is not None:
            walk.enter(made, {})
        walk.block(View(self._module, facts.scope, me), facts.node.body)
        Program(budget, met=self._met).play(walk.trace)

    def _met(self, event: Calls, _: Way, program: Program) -> None:
        """Judge a call that forks, with what has happened so far."""
        for facts, within, made in self._wanted(event.view, event.call, program.budget):
            uses = [use for use in (*made, *program.uses) if use.starts and use.poison == within.poison]
            if uses:
                site, cells = self.sites[event.call]
                row = poisons().poisons[within.poison]
                self.found.setdefault(event.call, Poisoned(site, row, uses[-1], within, facts, cells))

    def _wanted(
        self, view: View, call: ast.Call, budget: Budget
    ) -> Iterator[tuple[FunctionFacts, Use, tuple[Use, ...]]]:
        """What the children of a fork want that their parent may have started, if a call is such a fork."""
        if view.module is not self._module or call not in self.sites or call in self.found:
            return
        site, _ = self.sites[call]
        for target in site.targets:
            for facts, within, made in within_child(self._project, view, target, budget):
                row = poisons().poisons[within.poison]
                if row.rule == "FKL203" and (row.loaders or not site.is_loader) and not self._is_told(row):
                    yield facts, within, made

    def _is_told(self, row: Poison) -> bool:
        """Whether the file names the variable by which the threads may be turned off."""
        return bool(row.variable) and row.variable.encode() in self._module.document.code


def within_child(
    project: Project, view: View, target: Target, budget: Budget
) -> Iterator[tuple[FunctionFacts, Use, tuple[Use, ...]]]:
    """What a child uses: the function it begins at, such a call in it, and what making its object used before."""
    made: tuple[Use, ...] = ()
    walk = Walk(project, budget)
    if target.owner is not None:
        owner = Instance(target.owner)
        constructor = walk.method(owner, "__init__")
        if constructor is not None:
            made = _used_in(project, constructor, {}, budget)
        entries = [walk.method(owner, name) for name in target.methods]
    else:
        entries = [walk.target(view, target.function)] if target.function is not None else []
    for entered in entries:
        if entered is not None:
            known = walk.arguments(view, entered, target.given, target.keywords)
            uses = _used_in(project, entered, known, budget)
            yield from ((entered[0], use, made) for use in uses if use.hangs)


def _used_in(project: Project, entered: Entered, known: Mapping[str, Thing], budget: Budget) -> tuple[Use, ...]:
    """What certainly happens in a function."""
    walk, program = Walk(project, budget), Program(budget)
    walk.enter(entered, known)
    program.play(walk.trace)
    return tuple(program.uses)
