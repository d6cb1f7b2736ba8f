"""What a module sends, or keeps on a dataset, that pickle refuses: each cause once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.facts.datasets.classes import inherits_dataset
from forklint.facts.loading.loaders import never_has_workers
from forklint.facts.machines.signs import expects_pickling
from forklint.facts.sending.sites import Sent, Sites
from forklint.facts.sending.unpicklable import MAX_DEPTH, Unpicklable
from forklint.facts.sending.values import Culprit, Given, Why
from forklint.facts.starting.methods import cells_for
from forklint.facts.starting.running.values import DEFAULT_METHOD
from forklint.model import Cell
from forklint.project.bindings import is_sorted_out
from forklint.project.module import ClassFacts
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module


STEPS_PER_FILE = 20_000
"""Expressions and statements that are looked at for what a file sends, all together, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of it."""


@dataclass(frozen=True)
class Payload:
    """One thing that cannot be sent, where it is told of, and why it matters."""

    culprit: Culprit
    node: ast.AST
    """Where the finding stands, in the module at hand."""
    cells: tuple[Cell, ...]
    sent: Sent | None = None
    """The call that sends it; None for a dataset of which only the class is seen."""
    dataset: ClassFacts | None = None

    @property
    def part(self) -> str:
        """The attribute that holds it, or else the parameter that it is given to."""
        return self.culprit.path[-1] if self.culprit.path else self.sent.part if self.sent is not None else ""


class Payloads:
    """Finds them, for the whole project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._sites = Sites(project)

    def in_module(self, module: Module) -> tuple[Payload, ...]:
        """Those whose place is in a module, each once."""
        found: dict[ast.AST, Payload] = {}
        sent = list(self._sites.in_module(module))
        datasets = [facts for facts in module.classes if inherits_dataset(self.project, facts)]
        steps = (STEPS_PER_FILE + STEPS_PER_NODE * len(module.nodes)) // max(len(sent) + len(datasets), 1)
        for one in (*self._sent(module, sent, steps), *self._kept(module, datasets, steps)):
            known = found.get(one.culprit.key)
            if known is None or (one.sent and one.sent.piped and not (known.sent and known.sent.piped)):
                found[one.culprit.key] = one
        return tuple(found.values())

    def _unpicklable(self, steps: int) -> Unpicklable:
        return Unpicklable(self.project, self.project.budgets.of("following payloads", steps))

    def _sent(self, module: Module, sent_here: Iterable[Sent], steps: int) -> Iterator[Payload]:
        for sent in sent_here:
            culprit = self._unpicklable(steps).of(Given(module, sent.scope, sent.value))
            if culprit is None or (culprit.why is Why.HANDLE and culprit.path):
                continue  # a handle that an object keeps is another rule's
            if culprit.late and sent.piped and not culprit.is_lost:
                continue  # through a pipe a descriptor arrives
            if culprit.module is not module and (self._is_told_there(culprit) or is_sorted_out(module, sent.value)):
                continue
            node: ast.AST = culprit.node if culprit.module is module else sent.value
            if culprit.is_lost and culprit.definition is not None:
                node = culprit.definition
            cells = _where(culprit, sent.cells)
            if culprit.why is Why.NOTEBOOK and not sent.asked and not expects_pickling(self.project, cells):
                continue  # most notebooks run on Linux, by fork
            if cells:
                yield Payload(culprit, node, cells, sent)

    def _is_told_there(self, culprit: Culprit) -> bool:
        """Whether it is told of where the dataset's class stands that keeps it."""
        above = [facts for facts in culprit.module.classes if facts.node in culprit.module.above(culprit.node)]
        keepers = above if culprit.keeper is None else [culprit.keeper]
        return any(inherits_dataset(self.project, facts) for facts in keepers)

    def _kept(self, module: Module, datasets: Iterable[ClassFacts], steps: int) -> Iterator[Payload]:
        """What the datasets of a module keep, whoever loads them."""
        for facts in datasets:
            here = Given(module, facts.scope, ast.Constant(None))
            own = [
                culprit
                for culprit in self._unpicklable(steps).objects.all_kept(facts, here, None, MAX_DEPTH)
                if culprit.module is module and culprit.why is not Why.HANDLE and not culprit.is_lost
            ]
            own = [culprit for culprit in own if facts.node in module.above(culprit.node)]
            cells = cells_for(self.project, module, DEFAULT_METHOD)
            if own and cells and not never_has_workers(self.project, facts):
                yield from (
                    Payload(one, one.node, found, dataset=facts) for one in own if (found := _where(one, cells))
                )


def _where(culprit: Culprit, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cells in which it is refused: what a notebook or a guarded block defines is found by a forked process."""
    return tuple(
        cell
        for cell in cells
        if (not culprit.platforms or cell.platform in culprit.platforms) and (not culprit.late or cell.pickles)
    )
