"""Attributes of a project's dataset that a loop changes, though persistent workers keep what they began with.

Measured with torch 2.13: workers that are started anew for each epoch see what was changed before the epoch; persistent
ones never do, whether they are forked or spawned. A tensor that a spawned worker got is shared, and seen when it is
changed in place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from forklint.datasets.workers import attributes_read, worker_methods
from forklint.project import entries
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, statements
from forklint.project.spelling import argument, dotted, text_of
from forklint.records import dataclass
from forklint.runs.calls import callees
from forklint.sending.sites import Sites
from forklint.values import objects
from forklint.values.arguments import of_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Frame, Instance, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

RESET = re.compile(rb"\._iterator")
"""Who resets a loader's iterator starts workers anew."""
LOOPS = (ast.For, ast.AsyncFor, ast.While)
ITERATING = (ast.For, ast.AsyncFor, ast.comprehension)
MUTATORS = {"append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort", "reverse"}
COLLECTIONS = {"list", "dict", "set", "sorted"}
"""Builtins whose objects change in place."""
CHOOSING = {"__setattr__", "__getattr__", "__getattribute__"}


@dataclass(frozen=True)
class LastingLoader:
    """A loader with persistent workers, and the object that they get."""

    name: str
    """What the loader is called where it is made: ``loader``, or ``self.loader``."""
    call: ast.Call
    dataset: Instance


@dataclass(frozen=True)
class Lost:
    """A statement that changes an attribute which persistent workers go on reading as it was."""

    node: ast.stmt
    attribute: str
    dataset: ClassFacts
    loader: LastingLoader


class LostUpdates:
    """Finds them, for the whole project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._evaluator = Evaluator(project)
        self._sites = Sites(project)

    def in_module(self, module: Module) -> Iterator[Lost]:
        """Give the changes that a module makes in its loops."""
        if self.project.matches(module.path, RESET):
            return
        kept: dict[ast.AST, LastingLoader] = {loader.call: loader for loader in self._kept(module)}
        for loop in module.nodes if kept else ():
            if isinstance(loop, LOOPS):
                inside = list(nodes_below(loop))
                passed = (kept.get(call) for call in dict.fromkeys(self._passed(module, inside)))
                for loader in (one for one in passed if one is not None and one.call not in inside):
                    yield from self._changes(module, inside, loader)

    def _kept(self, module: Module) -> Iterator[LastingLoader]:
        """The loaders with persistent workers that an assignment gives a name, and of which the dataset is known."""
        for scope, call, _, _ in self._sites.loaders(module, _are_kept):
            statement = module.parents.get(call)
            given = argument(call, "dataset", 0)
            targets = entries.targets(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else []
            dataset = self._evaluator.find(Expression(module, scope, given)).value if given is not None else None
            if len(targets) == 1 and dotted(targets[0]) and isinstance(dataset, Instance) and dataset.call is not None:
                yield LastingLoader(dotted(targets[0]), call, dataset)

    def _passed(self, module: Module, inside: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """The calls that make what a loop goes over, in a function that it calls if not itself."""
        for node in inside:
            if isinstance(node, ITERATING):
                yield from self._iterated(Expression(module, module.scope_at(node.iter), node.iter))
            elif isinstance(node, ast.Call):
                call = Expression(module, module.scope_at(node), node)
                symbol = self.project.resolve(module, call.scope, node.func)
                for (function, receiver), kept in callees(self._evaluator, call.part(node.func), symbol):
                    frame = Frame(function, kept.then(of_call(self._evaluator, call)), receiver)
                    for one in nodes_below(function.node):
                        if isinstance(one, ITERATING):
                            yield from self._iterated(Expression(function.module, function.scope, one.iter, frame))

    def _iterated(self, iterated: Expression) -> Iterator[ast.AST]:
        """The calls that make what is iterated, or a part of it: ``enumerate(loader)``."""
        for part in nodes_below(iterated.node):
            if isinstance(part, (ast.Name, ast.Attribute)):
                made = self._made(iterated.part(part))
                if made is not None:
                    yield made

    def _made(self, place: Expression) -> ast.AST | None:
        """The call that makes what an expression holds; None where that is not known."""
        value = self._evaluator.find(place).value
        call = value.call if isinstance(value, (Instance, Made)) else None
        return call.node if call is not None else None

    def _changes(self, module: Module, inside: Iterable[ast.AST], loader: LastingLoader) -> Iterator[Lost]:
        """Give the statements of a loop that change an attribute which workers of the loader read."""
        dataset = loader.dataset.facts
        for node in inside:
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
                for attribute in self._changed(module, node, loader):
                    if attribute in self._read(dataset) and self._is_plain(dataset, attribute):
                        yield Lost(node, attribute, dataset, loader)

    def _is_it(self, module: Module, loader: LastingLoader, node: ast.expr) -> bool:
        """Whether an expression is the object that a loader has: by a name, or as ``loader.dataset``."""
        place = Expression(module, module.scope_at(node), node)
        made = self._made(place)
        if made is not None and loader.dataset.call is not None:
            return made is loader.dataset.call.node
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "dataset"
            and self._made(place.part(node.value)) is loader.call
        )

    def _changed(self, module: Module, node: ast.stmt, loader: LastingLoader) -> Iterator[str]:
        """The attributes of a loader's dataset that a statement changes, by itself or by a method of the class."""
        dataset, is_it = loader.dataset.facts, partial(self._is_it, module, loader)
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                whole = target.value if isinstance(target, ast.Subscript) else target
                if not isinstance(whole, ast.Attribute) or not is_it(whole.value):
                    continue
                if whole is target or self._is_collection(dataset, whole.attr):
                    yield whole.attr
            return
        call = getattr(node, "value", None)
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Name) and function.id == "setattr" and isinstance(call, ast.Call):
            yield from [text_of(call.args[1])] if len(call.args) == 3 and is_it(call.args[0]) else []
        if not isinstance(function, ast.Attribute):
            return
        owner = function.value
        if is_it(owner):
            method = self.project.method(dataset, function.attr)
            if method is not None and not method[1].decorator_list:
                yield from (name for one in statements(method[1].body) for name, _ in entries.stored(one, "self"))
                yield from (name for name in _mutated(method[1]) if self._is_collection(dataset, name))
        elif function.attr in MUTATORS and isinstance(owner, ast.Attribute) and is_it(owner.value):
            yield from [owner.attr] if self._is_collection(dataset, owner.attr) else []

    def _read(self, dataset: ClassFacts) -> frozenset[str]:
        """The attributes that the workers' methods of a dataset read."""
        if not any(self.project.method(dataset, name) for name in ("__getitem__", "__getitems__", "__iter__")):
            return frozenset()
        methods = worker_methods(self.project, dataset)
        return frozenset(name for function in methods for name in attributes_read(function))

    def _is_plain(self, dataset: ClassFacts, attribute: str) -> bool:
        """Whether an attribute is one of the object alone: no property, nothing that is shared."""
        owners = self.project.ancestry(dataset).classes
        if any(CHOOSING & set(owner.methods) or attribute in owner.methods for owner in owners):
            return False
        return not any("share" in ast.unparse(value) for value in self._values(dataset, attribute))

    def _is_collection(self, dataset: ClassFacts, attribute: str) -> bool:
        values = self._values(dataset, attribute)
        plain = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
        return bool(values) and all(isinstance(one, plain) or _makes_collection(one) for one in values)

    def _values(self, dataset: ClassFacts, attribute: str) -> list[ast.expr]:
        """What the methods of a class store as an attribute."""
        stored = objects.stores(self._evaluator, Instance(dataset), attribute) or ()
        return [one.node for one in stored if one is not None]


def _mutated(method: Function) -> Iterator[str]:
    """The attributes of its object that a method changes in place."""
    for node in nodes_below(method):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        changed = [node.func.value] if node.func.attr in MUTATORS else []
        changed += node.args[:1] if node.func.attr == "shuffle" else []
        for one in changed:
            if isinstance(one, ast.Attribute) and dotted(one.value) == "self":
                yield one.attr


def _makes_collection(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in COLLECTIONS


def _are_kept(call: ast.Call) -> bool:
    """Whether a loader keeps its workers: surely, or if it has any (``persistent_workers=workers > 0``)."""
    lasting = argument(call, "persistent_workers", None)
    if isinstance(lasting, ast.Compare) and len(lasting.ops) == 1 and isinstance(lasting.ops[0], ast.Gt):
        zero, number = lasting.comparators[0], argument(call, "num_workers", None)
        is_none = isinstance(zero, ast.Constant) and zero.value == 0
        return is_none and number is not None and ast.unparse(number) == ast.unparse(lasting.left)
    return isinstance(lasting, ast.Constant) and lasting.value is True
