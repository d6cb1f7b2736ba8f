"""Calls of ``torch.set_num_interop_threads`` that come when the number can no longer be set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.forking.poisoned import wanted_by
from forklint.forking.screening import SETTER_NAME
from forklint.forking.sites import Site, sites_in
from forklint.forking.uses import Calls, Poisons, Use, uses_in
from forklint.project.nodes import start_of
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.runs.errors import RAISED_AGAIN
from forklint.runs.programs import Program, Role, budget_for
from forklint.runs.walk import trace_of_module

if TYPE_CHECKING:
    from forklint.model import Cell
    from forklint.project.index import Project
    from forklint.project.module import FunctionFacts, Module
    from forklint.runs.trace import Chain, Event

POISON, SETTER = "interop", f"torch.{SETTER_NAME}"


@dataclass(frozen=True)
class LateCall:
    """A call that raises, and what came before it."""

    node: ast.AST
    """Where the two ways part, in the module at hand."""
    before: Use
    late: Chain
    """The chain of places that leads to the call that raises."""
    site: Site | None = None
    """The fork between the two, if the call is made by a child."""
    cells: tuple[Cell, ...] = ()
    """Where the child is forked; empty where the two calls are in one process."""

    @property
    def call(self) -> ast.Call:
        """The call that raises."""
        node = self.late[-1].node
        assert isinstance(node, ast.Call)  # noqa: S101 - a way ends with a call
        return node


def late_calls(project: Project, module: Module) -> Iterator[LateCall]:
    """Give the late calls of a module, run as a script and function by function, each place once."""
    finder = _Finder(project, module)
    setting = [node for node in module.nodes if isinstance(node, ast.Call) and _may_set(node)]
    around = {above for call in setting for above in module.above(call)}
    functions = [function for function in module.functions if function.node in around]
    finder.play(None, len(functions) + 1)
    for function in functions:
        finder.play(function, len(functions) + 1)
    late = finder.found.values()
    alone = [one for one in late if one.site is None or one.call not in finder.found]
    yield from sorted(alone, key=lambda one: start_of(one.node))


def _may_set(call: ast.Call) -> bool:
    return last_name(call.func) == SETTER_NAME


class _Finder:
    """Plays the programs that a module is: as a script, and each function once the module was imported."""

    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._topic = Poisons(project)
        self._sites = sites_in(project, module)
        self.found: dict[ast.AST, LateCall] = {}

    def play(self, function: FunctionFacts | None, number: int) -> None:
        """Play the module as a script, or a function of it; it is one of a ``number`` of programs."""
        body = function.node if function is not None else self._module.tree
        budget = budget_for(self._project, body, number)
        role = Role.SCRIPT if function is None else Role.IMPORT
        program = Program(self._topic, budget, self._module, met=self._met, role=role)
        program.play(trace_of_module(self._topic, self._module.path))
        if function is not None:
            program.call(function)

    def _met(self, event: Event, program: Program) -> None:
        """Judge a call that sets the number, or that forks children which do."""
        if not isinstance(event, Calls):
            return
        uses = uses_in(program.happened)
        before = next((use for use in uses if use.poison == POISON and use.starts), None)
        if before is None or RAISED_AGAIN in before.way.caught:
            return
        call, node = event.call, event.place.node
        assert isinstance(node, ast.Call)  # noqa: S101 - such an event is a call
        if _may_set(node):
            parting = self._parting(before.chain, event.chain)
            if parting is None or parting in self.found or RAISED_AGAIN in event.way.caught:
                return
            if self._project.qualified(call.module, call.scope, node.func) == SETTER:
                self.found[parting] = LateCall(parting, before, event.chain)
        elif node in self._sites:
            site, cells = self._sites[node]
            for target in site.targets:
                for wanted in wanted_by(self._topic, call, target):
                    use = wanted.within
                    if use.poison == POISON and RAISED_AGAIN not in use.way.caught:
                        self.found.setdefault(node, LateCall(node, before, use.chain, site, cells))

    def _parting(self, before: Chain, late: Chain) -> ast.AST | None:
        """Where the way to the late call leaves the way to the earlier one, in the module at hand."""
        shared = 0
        for one, other in zip(before, late, strict=False):
            if one.node is not other.node:
                break
            shared += 1
        own = [place.node for place in late[shared:] if place.module is self._module]
        if own:
            known = {place.node for place in before}
            own = [node for node in own if node not in known]
        return own[-1] if own else None
