"""Which open handles the objects of a class keep, and whether that bites when worker processes start."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

from forklint.datasets.carriers import receiver
from forklint.datasets.classes import is_dataset, is_model
from forklint.datasets.workers import (
    INIT_PATH,
    NOT_IN_WORKERS,
    attribute_nodes,
    reached_methods,
    worker_methods,
)
from forklint.handles.held import Held, Opened, State, StoredHandle, Values
from forklint.handles.lifetimes import Lifetimes
from forklint.handles.read_early import EarlyCall, early_calls
from forklint.handles.screening import HandleScreen
from forklint.knowledge.handles import Handle, openers
from forklint.project.budget import size
from forklint.project.index import Project, Symbol
from forklint.project.meanings import Definition
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import Function
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.summaries.spelling import spelt
from forklint.values.model import NOT_KNOWN, Arguments

PICKLING = ("__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__")
STEPS_PER_CLASS = 5_000
"""Statements and calls that are followed for the objects of one class, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of it."""
PROCESS_CHECKS = ("getpid", "register_at_fork")
NOT_WHILE_ASKED = False
"""A function that calls itself leaves open what its other code does."""
MAX_NESTING = 4
"""Through so many objects, each of which makes the next, a handle is followed."""
TOLD_APART = 2
"""Of the first of them, what each is made with counts; one that makes its like would be followed for ever more, ..."""
MOST_TOLD_APART = 8
"""... and so would those that make each other: it counts for so many of the objects that one constructor makes."""
MOST_HOLDERS = 16
"""Of so many classes it is asked which dataset gets their objects, for one handle."""


@dataclass(frozen=True)
class Carried:
    """A handle that a dataset carries into its workers, with all that decides where it bites."""

    opened: Opened
    kept: tuple[StoredHandle, ...]
    """The statements that store it, first the one where it is first stored."""
    keeper: ClassFacts
    """The class whose object stores it."""
    dataset: ClassFacts
    """The class that workers get: the keeper, a subclass of it, or a class that keeps a keeper."""
    used: bool
    """Whether a worker reaches a use of it."""
    pickled: bool
    """Whether pickling the object takes the handle along."""
    checked: bool
    """Whether the class compares process ids, so that an inherited handle is not used."""
    early: EarlyCall | None = None
    """The call by which the program opens it before it makes the loader; None if the constructor does."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that hold it."""
        return tuple(dict.fromkeys(kept.attribute for kept in self.kept))


class Handles:
    """Facts about handles, for the whole project."""

    def __init__(self, project: Project, screen: HandleScreen) -> None:
        self._project = project
        self.screen = screen
        """What is known of files before they are parsed."""
        self.openers: dict[str, Handle] = openers(project.settings.handles)
        """Qualified name to row, the project's own rows included."""

    def kept_by(
        self, facts: ClassFacts, made: Arguments = NOT_KNOWN, nesting: int = MAX_NESTING
    ) -> tuple[StoredHandle, ...]:
        """The handles that an object of a class, made with ``made``, still holds once its length was read."""
        if not nesting or not self._may_open(facts):
            return ()
        return self._project.answer("handles kept", (facts, made, nesting), lambda: self._follow(facts, made, nesting))

    def opened_early(self, facts: ClassFacts) -> dict[StoredHandle, EarlyCall]:
        """The handles that a dataset or reader opens on first use, where programs use it before they load."""
        if is_model(self._project, facts) or not self._may_open(facts, tuple(facts.methods)):
            return {}
        return self._project.answer("handles opened early", facts, lambda: self._find_early(facts))

    def _find_early(self, facts: ClassFacts) -> dict[StoredHandle, EarlyCall]:
        found: dict[StoredHandle, EarlyCall] = {}
        kept = {one.opened for one in self.kept_by(facts)}
        calls = early_calls(self._project, facts)
        for call in calls:
            if self._may_open(facts, (call.method,)):
                stored = self._follow(facts, NOT_KNOWN, MAX_NESTING, (*INIT_PATH, call.method))
                after = (one for one in calls if one.module is call.module and start_of(one.node) > start_of(call.node))
                then = [one.method for one in sorted(after, key=lambda one: start_of(one.node))]
                left = self._follow(facts, NOT_KNOWN, MAX_NESTING, (*INIT_PATH, call.method, *then)) if then else stored
                alive = {one.opened for one in left} - kept
                found |= {one: call for one in stored if one.opened in alive and one not in found}
        return found

    def _may_open(self, facts: ClassFacts, names: tuple[str, ...] = INIT_PATH) -> bool:
        """Whether what is on the way through some methods, or what it calls, names an opener: most does not."""
        key = (facts, names)
        path = partial(reached_methods, self._project, facts, names)
        return self._project.answer("builds by openers", key, lambda: any(map(self._leads_to_opener, path())))

    def _leads_to_opener(self, function: FunctionFacts) -> bool:
        """Whether a method, or a class or function of the project that it calls, names an opener."""
        return self._project.answer("leads to openers", function.node, lambda: self._find_leads(function))

    def _find_leads(self, function: FunctionFacts) -> bool:
        if self.screen.retains(Definition(function.module.path, _number(function))):
            return True
        called = (symbol for symbol in self._called(function) if isinstance(symbol, (ClassFacts, FunctionFacts)))
        return any(map(self.opens, called))

    def _called(self, function: FunctionFacts) -> Iterator[Symbol | None]:
        """What a method calls that may open handles; another name need not be resolved."""
        module, scope, calls = function.module, function.scope, self.screen.leading(function.module.path)
        for node in nodes_below(function.node) if calls else ():
            if isinstance(node, ast.Call) and spelt(node.func) in calls:
                yield self._project.resolve(module, scope, node.func)

    def opens(self, facts: ClassFacts | FunctionFacts) -> bool:
        """Whether a class or function names an opener, or may call what does."""
        return self.screen.leads(Definition(facts.module.path, _number(facts)))

    def open_in(self, module: Module) -> bool:
        """Whether a module calls something by the name of an opener."""
        return self.screen.openings(module.path).named

    def _follow(
        self, facts: ClassFacts, made: Arguments, nesting: int, names: tuple[str, ...] = INIT_PATH
    ) -> tuple[StoredHandle, ...]:
        lifetimes = self._lifetimes(facts, facts.node, nesting)
        state: State = {}
        for name in names:
            method = self._project.method(facts, name)
            if method is not None:
                given = made if name == "__init__" else NOT_KNOWN
                state = lifetimes.run(method[0].module, method[1], state, given, made)
        if lifetimes.has_run_out:
            return ()
        alive = {(held.opened, name[5:]) for name, values in state.items() for held in values}
        return tuple(kept for key, kept in lifetimes.kept.items() if key in alive)

    def _leaves_open(self, function: FunctionFacts, nesting: int) -> bool:
        """Whether a function may leave a handle open that is not passed to it, whatever it is called with."""
        find = lambda: self._lifetimes(None, function.node, nesting).leaves_open(function)  # noqa: E731 - it is short
        return self._project.answer("leaves handles open", (function.node, nesting), find, NOT_WHILE_ASKED)

    def _lifetimes(self, facts: ClassFacts | None, code: ast.AST, nesting: int) -> Lifetimes:
        """What follows handles through some code, of the objects of a class or of a function."""
        told_apart = range(MOST_TOLD_APART if nesting > MAX_NESTING - TOLD_APART else 0)
        number = count()

        def built(part: ClassFacts, given: Arguments) -> Values:
            """What an object that is made on the way holds: the handles it keeps, marked as coming through it."""
            is_told_apart = part != facts and next(number) in told_apart
            kept = self.kept_by(part, given if is_told_apart else NOT_KNOWN, nesting - 1)
            under = ((k, k.attribute if k.via is None else "") for k in kept)
            return frozenset(Held(k.opened, via=k.via or part, under=name, own=k.own) for k, name in under)

        leaves = partial(self._leaves_open, nesting=nesting)
        budget = self._project.budgets.of("following handles", STEPS_PER_CLASS + STEPS_PER_NODE * size(code))
        return Lifetimes(self._project, facts, self.openers, built, self.opens, leaves=leaves, budget=budget)

    def carried_from(self, module: Module) -> Iterator[Carried]:
        """Give the handles that statements of a module store on objects that workers get; each handle once."""
        seen: set[Opened] = set()
        for facts in module.classes:
            if not self.screen.may_carry(Definition(module.path, _number(facts))):
                continue
            groups: dict[Opened, list[StoredHandle]] = {}
            early = self.opened_early(facts)
            for kept in (*self.kept_by(facts), *early):
                if kept.via is None:
                    groups.setdefault(kept.opened, []).append(kept)
            for opened, group in groups.items():
                told = self._told_here(module, opened, group)
                if opened in seen or not told:
                    continue
                carried = self._carried(facts, opened, told, early.get(group[0]))
                if carried is not None:
                    seen.add(opened)
                    yield carried

    def _told_here(self, module: Module, opened: Opened, group: list[StoredHandle]) -> tuple[StoredHandle, ...]:
        """What stores a handle, if that is told of in a module: where it is stored first, or opened for a base's code.

        So a base class stores what a method returns that its subclass, in another file, has in its stead.
        """
        if group[0].module is module or opened.module is not module:
            return tuple(group) if group[0].module is module else ()
        there = group[0].module.classes
        is_theirs = any(opened in {one.opened for one in self.kept_by(facts)} for facts in there)
        statement = module.statement_of(opened.node)
        return () if is_theirs else (replace(group[0], module=module, statement=statement), *group[1:])

    def _carried(
        self, keeper: ClassFacts, opened: Opened, kept: tuple[StoredHandle, ...], early: EarlyCall | None
    ) -> Carried | None:
        attributes = {one.attribute for one in kept}
        if early is not None:
            return self._carried_early(keeper, opened, kept, early)
        datasets = [keeper] if is_dataset(self._project, keeper) else []
        datasets += (
            [sub for sub in self._project.subclasses(keeper) if is_dataset(self._project, sub)] if not datasets else []
        )
        for dataset in datasets:
            if opened in {one.opened for one in self.kept_by(dataset)}:
                return self._judge(keeper, dataset, opened, kept, attributes)
        return self._carried_within(keeper, opened, kept)

    def _carried_early(
        self, keeper: ClassFacts, opened: Opened, kept: tuple[StoredHandle, ...], early: EarlyCall
    ) -> Carried | None:
        """Judge a handle that the program opens: by a method of the dataset, or of a reader that a dataset gets."""
        attributes = frozenset(one.attribute for one in kept)
        if is_dataset(self._project, keeper):
            return replace(self._judge(keeper, keeper, opened, kept, set(attributes)), early=early)
        taker = receiver(self._project, keeper, lambda _: True)
        if taker is None:
            return None
        return replace(self._judge_taken(keeper, taker, opened, kept, attributes), early=early)

    def _carried_within(self, keeper: ClassFacts, opened: Opened, kept: tuple[StoredHandle, ...]) -> Carried | None:
        """Find a dataset that keeps an object of ``keeper``, a reader, or one of what keeps a reader."""
        attributes = frozenset(one.attribute for one in kept)
        for reader in (keeper, *self._project.subclasses(keeper)):
            if reader is keeper or self._keeps(reader, opened, NOT_KNOWN):
                taker = receiver(self._project, reader, partial(self._keeps, reader, opened))
                if taker is not None:
                    return self._judge_taken(reader, taker, opened, kept, attributes)
        return None

    def _keeps(self, facts: ClassFacts, opened: Opened, made: Arguments) -> bool:
        return opened in {one.opened for one in self.kept_by(facts, made)}

    def _judge_taken(
        self,
        holder: ClassFacts,
        taker: ClassFacts,
        opened: Opened,
        kept: tuple[StoredHandle, ...],
        attributes: frozenset[str],
    ) -> Carried:
        """Judge a handle that a dataset gets with an object of ``holder``: what it calls of that may use it."""
        judged = self._judge(holder, taker, opened, kept, set(attributes))
        users = [method for name, method in holder.methods.items() if name not in NOT_IN_WORKERS]
        names = attributes | set(judged.attributes)
        return replace(judged, used=any(node.attr in names for method in users for node in attribute_nodes(method)))

    def _judge(
        self,
        keeper: ClassFacts,
        dataset: ClassFacts,
        opened: Opened,
        kept: tuple[StoredHandle, ...],
        attributes: set[str],
    ) -> Carried:
        names = attributes | {one.attribute for one in kept}
        owners = {*self._project.ancestry(keeper).classes, *self._project.ancestry(dataset).classes}
        return Carried(
            opened=opened,
            kept=kept,
            keeper=keeper,
            dataset=dataset,
            used=any(
                self._used(one, attributes, opened.row.harmless)
                for one in (dataset, *self._project.subclasses(dataset))
            ),
            pickled=not any(leaves_out(method, names) for method in pickling_methods(owners)),
            checked=all(one.own for one in kept) or any(compares_process(owner, names) for owner in owners),
        )

    def _used(self, dataset: ClassFacts, attributes: set[str], harmless: tuple[str, ...]) -> bool:
        """Whether a worker reads one of the attributes, but for giving it to a function that does no harm."""
        for function, owner in worker_methods(self._project, dataset).items():
            spared: set[ast.AST] = set()
            for call in nodes_below(function) if harmless else ():
                if isinstance(call, ast.Call):
                    scope = owner.module.scope_of[function]
                    if self._project.qualified(owner.module, scope, call.func) in harmless:
                        spared |= set(call.args)
            if any(node.attr in attributes and node not in spared for node in attribute_nodes(function)):
                return True
        return False


def _number(facts: ClassFacts | FunctionFacts) -> int:
    return facts.module.number(facts.node)


def pickling_methods(owners: Iterable[ClassFacts]) -> list[Function]:
    """The methods of classes that say what is pickled."""
    return [owner.methods[name] for owner in owners for name in PICKLING if name in owner.methods]


def leaves_out(method: Function, attributes: set[str]) -> bool:
    """Whether what a pickling method gives lacks an attribute, as far as can be seen.

    It lacks it if it speaks of the attribute, filters the attributes, or does not start from all of them.
    """
    nodes = list(nodes_below(method))
    words = {getattr(node, field, None) for node in nodes for field in ("value", "arg", "attr", "id")}
    if words & attributes:
        return True
    return "__dict__" not in words or any(isinstance(node, (ast.For, ast.DictComp)) for node in nodes)


def compares_process(facts: ClassFacts, attributes: set[str]) -> bool:
    """Whether a class looks at the process id where it uses one of its attributes."""
    if not checks_process(facts):
        return False
    words = {name: {last_name(node) for node in nodes_below(method)} for name, method in facts.methods.items()}
    checks = {name for name, found in words.items() if found & set(PROCESS_CHECKS)}
    users = {name for name, found in words.items() if found & attributes}
    tests = [n.test for name in users for n in nodes_below(facts.methods[name]) if isinstance(n, ast.If)]
    asked = {getattr(node, "attr", "") for test in tests for node in nodes_below(test)}
    return not checks or bool(checks & users) or bool(checks & asked)


def checks_process(facts: ClassFacts) -> bool:
    """Whether a class compares process ids, or hooks into fork."""
    return any(last_name(node) in PROCESS_CHECKS for node in nodes_below(facts.node))
