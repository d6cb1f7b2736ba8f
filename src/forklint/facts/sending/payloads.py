"""What a module sends, or keeps on a dataset, that pickle refuses: each cause once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.facts.datasets.classes import inherits_dataset, may_inherit_dataset
from forklint.facts.loading.loaders import never_has_workers
from forklint.facts.machines.signs import expects_pickling
from forklint.facts.sending.beside import datasets_beside, kept_by
from forklint.facts.sending.sites import Sent, Sites, is_own_loader
from forklint.facts.sending.started import kept_when_started
from forklint.facts.sending.unpicklable import Unpicklable
from forklint.facts.sending.values import Culprit, Why, is_local
from forklint.facts.starting.methods import DEFAULT_METHOD, cells_for
from forklint.model import Cell
from forklint.project.bindings import is_sorted_out
from forklint.project.module import ClassFacts
from forklint.project.scopes import FUNCTIONS, statements
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.values.model import Expression

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
        sent = [*self._sites.in_module(module), *self._sites.of_own_loaders(module)]
        datasets = [facts for facts in module.classes if inherits_dataset(self.project, facts)]
        steps = (STEPS_PER_FILE + STEPS_PER_NODE * len(module.nodes)) // max(len(sent) + len(datasets), 1)
        for one in (*self._sent(module, sent, steps), *self._kept(module, datasets, steps)):
            known = found.get(one.culprit.key)
            if known is None or (one.sent and one.sent.piped and not (known.sent and known.sent.piped)):
                found[one.culprit.key] = one
        return tuple(found.values())

    def _unpicklable(self, steps: int, *, handles: bool = True) -> Unpicklable:
        return Unpicklable(self.project, self.project.budgets.of("following payloads", steps), handles=handles)

    def _culprits(self, given: Expression, steps: int) -> list[Culprit]:
        """What is refused in something that is sent; a handle that an object keeps is another rule's."""
        found = self._unpicklable(steps).all_of(given)
        is_kept = any(one.why is Why.HANDLE and one.path for one in found)
        return self._unpicklable(steps, handles=False).all_of(given) if is_kept else found

    def _refused(self, sent: Sent, steps: int) -> list[Culprit]:
        """What is refused in what a call sends; else a process that its object keeps by then."""
        found = self._culprits(sent.given, steps)
        started = kept_when_started(self.project, sent) if not found else None
        return found if started is None else [started]

    def _sent(self, module: Module, sent_here: Iterable[Sent], steps: int) -> Iterator[Payload]:
        each = ((sent, culprit) for sent in sent_here for culprit in self._refused(sent, steps))
        for sent, culprit in each:
            if sent.module is not module and culprit.module is not module:
                continue
            if sent.handed and not _is_in_call(culprit, sent):
                continue
            if culprit.late and sent.piped and not culprit.is_lost:
                continue  # through a pipe a descriptor arrives
            if culprit.module is not module and is_sorted_out(module, sent.value):
                continue
            if culprit.module is not module and self._is_told_there(culprit, sent.call):
                continue
            node: ast.AST = culprit.node if culprit.module is module else sent.value
            if culprit.is_lost and culprit.definition is not None:
                node = culprit.definition
            cells = _where(culprit, sent.cells)
            if culprit.why is Why.NOTEBOOK and not sent.asked and not expects_pickling(self.project, cells):
                continue  # most notebooks run on Linux, by fork
            if cells:
                yield Payload(culprit, node, cells, sent)

    def _is_told_there(self, culprit: Culprit, call: ast.Call) -> bool:
        """Whether it is told of where the class stands that keeps it: of a dataset, or of a loader that adds it."""
        definition = culprit.definition
        if isinstance(definition, ast.ClassDef):
            facts = culprit.module.class_facts(definition)
            if facts in _given_out(self.project, culprit.module):
                return True
        above = [facts for facts in culprit.module.classes if facts.node in culprit.module.above(culprit.node)]
        if any(facts.name == last_name(call.func) and is_own_loader(self.project, facts) for facts in above):
            return True
        beside = datasets_beside(self.project, culprit.module)
        if any(culprit.key is one.key for facts in beside for one in kept_by(self.project, facts)):
            return True
        keepers = above if culprit.keeper is None else [culprit.keeper]
        return any(inherits_dataset(self.project, facts) for facts in keepers)

    def _kept(self, module: Module, datasets: Iterable[ClassFacts], steps: int) -> Iterator[Payload]:
        """What the datasets of a module keep, whoever loads them, and those of them that no name leads to."""
        cells = cells_for(self.project, module, DEFAULT_METHOD)
        for facts in _given_out(self.project, module):
            culprit = self._unpicklable(steps).definition(facts)
            if culprit is not None and cells and not never_has_workers(self.project, facts):
                yield Payload(culprit, facts.node, cells, dataset=facts)
        for facts in (*datasets, *datasets_beside(self.project, module)):
            own = [one for one in kept_by(self.project, facts) if one.module is module]
            if own and cells and not never_has_workers(self.project, facts):
                yield from (
                    Payload(one, one.node, found, dataset=facts) for one in own if (found := _where(one, cells))
                )


def _is_in_call(culprit: Culprit, sent: Sent) -> bool:
    """Whether what is refused is an argument of the call, or what a name of its function holds."""
    if culprit.module is not sent.module:
        return False
    return sent.call in culprit.module.above(culprit.node) or sent.module.scope_at(culprit.node) is sent.scope


def _given_out(project: Project, module: Module) -> list[ClassFacts]:
    """The classes of datasets that functions of a module define and return."""
    local = [facts for facts in module.classes if is_local(facts) and may_inherit_dataset(project, facts)]
    return [facts for facts in local if _is_returned(facts)]


def _is_returned(facts: ClassFacts) -> bool:
    above = facts.scope.parent
    body = above.node.body if above is not None and isinstance(above.node, FUNCTIONS) else []
    values = [one.value for one in statements(body) if isinstance(one, ast.Return)]
    return any(isinstance(value, ast.Name) and value.id == facts.node.name for value in values)


def _where(culprit: Culprit, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cells in which it is refused: what a notebook or a guarded block defines is found by a forked process."""
    return tuple(
        cell
        for cell in cells
        if (not culprit.platforms or cell.platform in culprit.platforms) and (not culprit.late or cell.pickles)
    )
