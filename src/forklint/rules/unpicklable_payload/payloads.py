"""What a module sends, or keeps on a dataset, that pickle refuses: each cause once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.datasets.classes import inherits_dataset, may_inherit_dataset
from forklint.loading.certainty import has_none_by_default
from forklint.loading.loaders import loaders_for, never_has_workers
from forklint.machines.signs import expects_pickling
from forklint.model import Cell
from forklint.project.bindings import is_sorted_out
from forklint.project.module import ClassFacts
from forklint.project.scopes import FUNCTIONS, statements
from forklint.records import dataclass
from forklint.rules.unpicklable_payload.beside import datasets_beside, is_imported_by_many, kept_by, senders_of
from forklint.rules.unpicklable_payload.excluding import exclude_each_other
from forklint.rules.unpicklable_payload.replacing import is_replacement
from forklint.rules.unpicklable_payload.started import kept_when_started
from forklint.rules.unpicklable_payload.unpicklable import Unpicklable
from forklint.rules.unpicklable_payload.values import Culprit, Why, is_local
from forklint.sending.sites import Sent, Sites
from forklint.starting.methods import DEFAULT_METHOD, cells_for

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module


STEPS_PER_FILE = 20_000
"""Expressions and statements that are looked at for what a file sends, all together, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of it."""
HOSTED = ("google.colab", "/kaggle/")
"""Words of notebooks that run on a service."""


@dataclass(frozen=True)
class Payload:
    """One thing that cannot be sent, where it is told of, and why it matters."""

    culprit: Culprit
    node: ast.AST
    """Where the finding stands."""
    place: Module
    """The module in which that is."""
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
        """Those whose place is in a module, each once, whoever sends it."""
        found: dict[ast.AST, Payload] = {}
        for one in self._told_in(module):
            known = found.get(one.culprit.key)
            if known is None or (_rank(one) > _rank(known)):
                found[one.culprit.key] = one
        return tuple({(one.node, one.culprit.path): one for one in found.values()}.values())

    def _told_in(self, module: Module) -> Iterator[Payload]:
        for sender in (module, *self.project.modules(senders_of(self.project, module.path))):
            yield from (one for one in self._sent_by(sender) if one.place is module)
        datasets = [facts for facts in module.classes if inherits_dataset(self.project, facts)]
        yield from self._kept(module, datasets, _steps(module, len(datasets)))

    def _sent_by(self, sender: Module) -> tuple[Payload, ...]:
        """What is refused of what a module sends, wherever that is told."""
        return self.project.answer("what a module sends", sender, lambda: tuple(self._find_sent(sender)))

    def _find_sent(self, module: Module) -> Iterator[Payload]:
        sent = [*self._sites.in_module(module), *self._sites.of_loader_classes(module)]
        yield from self._sent(module, sent, _steps(module, len(sent)))

    def _unpicklable(self, steps: int, *, handles: bool = True, asks_callers: bool = False) -> Unpicklable:
        budget = self.project.budgets.of("following payloads", steps)
        return Unpicklable(self.project, budget, handles=handles, asks_callers=asks_callers)

    def _culprits(self, sent: Sent, steps: int) -> list[Culprit]:
        """What is refused in something that is sent; a handle that an object keeps is another rule's.

        What goes to a loader by a call of a function is told of where that is called; what goes to a process, here.
        """
        asks = sent.loader is None
        found = self._unpicklable(steps, asks_callers=asks).all_of(sent.given)
        is_kept = any(one.why is Why.HANDLE and one.path for one in found)
        return self._unpicklable(steps, handles=False, asks_callers=asks).all_of(sent.given) if is_kept else found

    def _refused(self, sent: Sent, steps: int) -> list[Culprit]:
        """What is refused in what a call sends; else a process that its object keeps by then."""
        found = self._culprits(sent, steps)
        started = kept_when_started(self.project, sent) if not found else None
        return found if started is None else [started]

    def _sent(self, module: Module, sent_here: Iterable[Sent], steps: int) -> Iterator[Payload]:
        for sent in sent_here:
            attributes: set[str] = set()
            is_first = True
            for culprit in self._refused(sent, steps):
                place, node = self._place(module, sent, culprit)
                if place is None or (sent.handed and not self._is_handed(culprit, sent, steps)):
                    continue
                if culprit.late and sent.piped and not culprit.is_lost:
                    continue  # through a pipe a descriptor arrives
                if culprit.module is not module and is_sorted_out(module, sent.value):
                    continue
                if culprit.module is module is sent.module and exclude_each_other(module, culprit.node, sent.call):
                    continue
                if culprit.module is not place and culprit.path[:1] and culprit.path[0] in attributes:
                    continue  # of several that lead to one attribute one is told of
                attributes.update(culprit.path[:1] if culprit.module is not place else ())
                cells = _where(culprit, sent.cells)
                if culprit.why is Why.NOTEBOOK and not sent.asked and not expects_pickling(self.project, cells):
                    if not is_first or _is_hosted(module):
                        continue  # one is enough: most notebooks run on Linux, by fork
                    is_first = False
                if cells:
                    yield Payload(culprit, node, place, cells, sent)

    def _is_handed(self, culprit: Culprit, sent: Sent, steps: int) -> bool:
        """Whether what is refused comes from the arguments of a call, not from what the called function adds."""
        if _is_in_call(culprit, sent):
            return True
        by_anyone = replace(sent, source=sent.given.by_anyone())
        return all(one.key is not culprit.key for one in self._culprits(by_anyone, steps))

    def _place(self, module: Module, sent: Sent, culprit: Culprit) -> tuple[Module | None, ast.AST]:
        """Where something is told: where it is made, if that leads to what sends it; None if others tell of it."""
        made = culprit.definition or culprit.node
        if culprit.module is module:
            return module, made if culprit.is_lost or _is_returned_there(culprit) else culprit.node
        if not module.is_notebook and module.path in senders_of(self.project, culprit.module.path):
            return culprit.module, made  # nothing imports a notebook, so no other file tells of what it sends
        return None if self._is_told_there(culprit) else module, sent.value

    def _is_told_there(self, culprit: Culprit) -> bool:
        """Whether it is told of where the dataset's class stands that keeps it."""
        definition = culprit.definition
        if isinstance(definition, ast.ClassDef):
            facts = culprit.module.class_facts(definition)
            if facts in _given_out(self.project, culprit.module):
                return True
        above = [facts for facts in culprit.module.classes if facts.node in culprit.module.above(culprit.node)]
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
                yield Payload(culprit, facts.node, module, cells, dataset=facts)
        for facts in (*datasets, *datasets_beside(self.project, module)):
            kept = (one for one in kept_by(self.project, facts) if not self._is_told_by_loaders(one, facts))
            told = [(one, node) for one in kept if (node := self._told_at(one, facts, module))]
            if told and cells and not never_has_workers(self.project, facts):
                for culprit, node in told:
                    if where := _where(culprit, cells):
                        yield Payload(culprit, node, module, where, dataset=facts)

    def _is_told_by_loaders(self, culprit: Culprit, facts: ClassFacts) -> bool:
        """Whether it is kept only by what makes the object: whether it is, the calls that are loaded say."""
        depends = culprit.by_branch or is_replacement(culprit.module, culprit.node)
        return depends and bool(loaders_for(self.project, facts))

    def _told_at(self, culprit: Culprit, facts: ClassFacts, module: Module) -> ast.AST | None:
        """Where a module tells of what a dataset keeps: where it is made, or at the class, if many import its maker."""
        if culprit.module is module:
            return culprit.node
        is_here = facts.module is module and is_imported_by_many(self.project, culprit.module.path)
        return facts.node if is_here else None


def _steps(module: Module, parts: int) -> int:
    """The steps for each of what a module sends or keeps."""
    return (STEPS_PER_FILE + STEPS_PER_NODE * len(module.nodes)) // max(parts, 1)


def _is_returned_there(culprit: Culprit) -> bool:
    """Whether the place that names a function does nothing but return it."""
    above = culprit.module.parents.get(culprit.node)
    return isinstance(above, ast.Return) and above.value is culprit.node


def _is_hosted(notebook: Module) -> bool:
    """Whether a notebook runs on a service that has Linux, where workers are forked."""
    return any(word in notebook.document.text for word in HOSTED)


def _rank(payload: Payload) -> tuple[bool, bool]:
    """Of several that send the same, the one that counts: through a pipe, and not only with an option."""
    sent = payload.sent
    return sent is not None and sent.piped, sent is None or sent.loader is None or not has_none_by_default(sent.loader)


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
