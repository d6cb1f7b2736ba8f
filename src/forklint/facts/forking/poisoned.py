"""Forks that come after something whose threads, or whose driver, the child then wants and does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.facts.forking.objects import Instance, View
from forklint.facts.forking.sites import Site, Target, sites_in
from forklint.facts.forking.walk import Use, Walk
from forklint.knowledge.poisons import Poison, poisons
from forklint.project.module import FunctionFacts
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.model import Cell
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
    finder.from_top()
    for function in module.functions:
        if any(function.node in module.above(call) for call in finder.sites):
            finder.from_function(function)
    yield from sorted(finder.found.values(), key=lambda one: one.site.call.lineno)


class _Finder:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self.found: dict[ast.Call, Poisoned] = {}
        self.sites = {call: found for call, found in sites_in(project, module).items() if found[0].targets}

    def from_top(self) -> None:
        """Follow the module as a script runs it.

        First without what it imports: most modules fork nothing at their top level, or children that want nothing,
        and then nobody need know what their imports start.
        """
        forks: list[ast.Call] = []

        def note(view: View, call: ast.Call, _: Walk) -> None:
            if not forks and any(True for _ in self._wanted(view, call)):
                forks.append(call)

        Walk(self._project, note, root=self._module, imports=False).top(self._module)
        if forks:
            Walk(self._project, self._met, root=self._module).top(self._module)

    def from_function(self, facts: FunctionFacts) -> None:
        """Follow a function by itself, whoever calls it."""
        walk = Walk(self._project, self._met)
        above = facts.scope.parent.node if facts.scope.parent else None
        me = Instance(self._module.class_facts(above)) if isinstance(above, ast.ClassDef) else None
        made = walk.method(me, "__init__") if me is not None and facts.node.name != "__init__" else None
        if made is not None:
            walk.enter(made, {})
        walk.block(View(self._module, facts.scope, me), facts.node.body)

    def _met(self, view: View, call: ast.Call, walk: Walk) -> None:
        """Judge a call that forks, with what has happened so far."""
        for facts, within, made in self._wanted(view, call):
            uses = [use for use in (*made, *walk.uses) if use.starts and use.poison == within.poison]
            if uses:
                site, cells = self.sites[call]
                row = poisons().poisons[within.poison]
                self.found.setdefault(call, Poisoned(site, row, uses[-1], within, facts, cells))

    def _wanted(self, view: View, call: ast.Call) -> Iterator[tuple[FunctionFacts, Use, tuple[Use, ...]]]:
        """What the children of a fork want that their parent may have started, if a call is such a fork."""
        if view.module is not self._module or call not in self.sites or call in self.found:
            return
        site, _ = self.sites[call]
        for target in site.targets:
            for facts, within, made in within_child(self._project, view, target):
                row = poisons().poisons[within.poison]
                if row.rule == "FKL203" and (row.loaders or not site.is_loader) and not self._is_told(row):
                    yield facts, within, made

    def _is_told(self, row: Poison) -> bool:
        """Whether the file names the variable by which the threads may be turned off."""
        return bool(row.variable) and row.variable.encode() in self._module.document.code


def within_child(project: Project, view: View, target: Target) -> Iterator[tuple[FunctionFacts, Use, tuple[Use, ...]]]:
    """What a child uses: the function it begins at, such a call in it, and what making its object used before."""
    made: tuple[Use, ...] = ()
    walk = Walk(project)
    if target.owner is not None:
        owner = Instance(target.owner)
        constructor = walk.method(owner, "__init__")
        if constructor is not None:
            walk.enter(constructor, {})
        made = tuple(walk.uses)
        entries = [walk.method(owner, name) for name in target.methods]
    else:
        entries = [walk.target(view, target.function)] if target.function is not None else []
    for entered in entries:
        if entered is not None:
            inner = Walk(project)
            inner.enter(entered, inner.arguments(view, entered, target.given, target.keywords))
            yield from ((entered[0], use, made) for use in inner.uses if use.hangs)
