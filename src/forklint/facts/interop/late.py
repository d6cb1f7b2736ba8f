"""Calls of ``torch.set_num_interop_threads`` that come when the number can no longer be set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forklint.facts.forking.objects import View
from forklint.facts.forking.poisoned import within_child
from forklint.facts.forking.programs import asked, budget_for, trace_of
from forklint.facts.forking.sites import Site, sites_in
from forklint.facts.forking.trace import Calls, Place, Program, Use, Way
from forklint.facts.forking.walk import Walk
from forklint.project.graph import Term
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.summaries.terms import CALL, RENAMED

if TYPE_CHECKING:
    from forklint.model import Cell
    from forklint.project.index import Project
    from forklint.project.module import FunctionFacts, Module

POISON, SETTER = "interop", "torch.set_num_interop_threads"
SETTER_NAME = SETTER.rpartition(".")[2]
SETTING = (Term(CALL, SETTER_NAME), Term(RENAMED, SETTER_NAME))
"""What a file has that calls the setter by its own name, or gives it another."""
CATCHES = {"RuntimeError", "Exception", "BaseException"}


@dataclass(frozen=True)
class LateCall:
    """A call that raises, and what came before it."""

    node: ast.expr | ast.stmt
    """Where the two ways part, in the module at hand."""
    before: Use
    late: Way
    """The way to the call that raises."""
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
    yield from sorted(alone, key=lambda one: one.node.lineno)


def _may_set(call: ast.Call) -> bool:
    return last_name(call.func) == SETTER_NAME


class _Finder:
    """Plays the programs that a module is: as a script, and each function once the module was imported."""

    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._sites = sites_in(project, module)
        self._caught: dict[ast.AST, bool] = {}
        self.found: dict[ast.AST, LateCall] = {}

    def play(self, function: FunctionFacts | None, number: int) -> None:
        """Play the module as a script, or a function of it; it is one of a ``number`` of programs."""
        body = [function.node] if function is not None else [self._module.tree]
        budget = budget_for(self._project, body, number)
        walk = Walk(self._project, budget, asked(self._project), is_program=True)
        if function is None:
            walk.top(self._module)
        else:
            walk.block(View(self._module, function.scope), function.node.body)
        program = Program(budget, {self._module.path}, partial(trace_of, self._project), self._met)
        if function is not None:
            program.play(trace_of(self._project, self._module.path))
        program.play(walk.trace)

    def _met(self, event: Calls, path: Way, program: Program) -> None:
        """Judge a call that sets the number, or that forks children which do."""
        before = next((use for use in program.uses if use.poison == POISON and use.starts), None)
        view, call = event.view, event.call
        if before is None:
            return
        if _may_set(call):
            node = self._parting(before.path, path)
            if node is None or node in self.found or self._is_caught(before.path) or self._is_caught(path):
                return
            if self._project.qualified(view.module, view.scope, call.func) == SETTER:
                self.found[node] = LateCall(node, before, path)
        elif view.module is self._module and call in self._sites and not self._is_caught(before.path):
            site, cells = self._sites[call]
            for target in site.targets:
                for _, use, _ in within_child(self._project, view, target, program.budget):
                    if use.poison == POISON and not self._is_caught(use.path):
                        self.found.setdefault(call, LateCall(call, before, use.path, site, cells))

    def _parting(self, before: Way, late: Way) -> ast.expr | ast.stmt | None:
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

    def _is_caught(self, way: Way) -> bool:
        """Whether a call on the way stands in a ``try`` that catches a RuntimeError, or in a ``with suppress``."""
        for place in way:
            if place.node not in self._caught:
                self._caught[place.node] = _is_inside(place)
        return any(self._caught[place.node] for place in way)


def _is_inside(place: Place) -> bool:
    for above in place.module.above(place.node):
        if isinstance(above, ast.Try) and any(_catches(handler) for handler in above.handlers):
            return True
        if isinstance(above, ast.With) and any("suppress" in ast.unparse(item.context_expr) for item in above.items):
            return True
    return False


def _catches(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name is None or ast.unparse(name) in CATCHES for name in names)
