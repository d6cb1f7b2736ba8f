"""Attributes of a project's dataset that a loop changes, though persistent workers keep what they began with.

Measured with torch 2.13: workers that are started anew for each epoch see what was changed before the epoch; persistent
ones never do, whether they are forked or spawned. A tensor that a spawned worker got is shared, and seen when it is
changed in place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.facts.datasets.workers import attributes_read, worker_methods
from forklint.facts.loading.datasets import classes_of
from forklint.facts.sending.sites import Sites
from forklint.project.bindings import values_of
from forklint.project.entries import stored
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, statements
from forklint.project.spelling import argument, dotted, text_of
from forklint.records import dataclass
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module
    from forklint.project.scopes import Scope

LOOPS = (ast.For, ast.AsyncFor, ast.While)
MUTATORS = {"append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort", "reverse"}
COLLECTIONS = {"list", "dict", "set", "sorted"}
"""Builtins whose objects change in place."""
CHOOSING = {"__setattr__", "__getattr__", "__getattribute__"}


@dataclass(frozen=True)
class LastingLoader:
    """A loader with persistent workers that a name holds: ``loader``, or ``self.loader``."""

    name: str
    scope: Scope
    call: ast.Call
    datasets: tuple[ClassFacts, ...]
    dataset: str
    """What the loader is given as its dataset, as text."""


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
        self._sites = Sites(project)

    def in_module(self, module: Module) -> Iterator[Lost]:
        """Give the changes that a module makes in its loops."""
        if "._iterator" in module.document.text:
            return  # who resets the iterator starts workers anew
        for loader in self._kept(module):
            home = loader.scope.node if not loader.name.startswith("self.") else self._class(loader.scope)
            for loop in nodes_below(home):
                if (
                    isinstance(loop, LOOPS)
                    and loader.call not in nodes_below(loop)
                    and self._passes(module, loop, loader)
                ):
                    yield from self._changes(module, loop, loader)

    def _passes(self, module: Module, loop: ast.AST, loader: LastingLoader) -> bool:
        """Whether a loop goes over the loader, in a function that it calls if not itself."""
        if _iterates(loop, loader.name):
            return True
        for call in nodes_below(loop):
            if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
                continue
            if dotted(call.func).startswith("self.") and loader.name.startswith("self."):
                above = self._class(loader.scope)
                facts = module.class_facts(above) if isinstance(above, ast.ClassDef) else None
                method = self.project.method(facts, call.func.attr) if facts is not None else None  # type: ignore[union-attr]
                if method is not None and _iterates(method[1], loader.name):
                    return True
            elif any(dotted(one) == loader.name for one in (*call.args, *(word.value for word in call.keywords))):
                function = self.project.resolve(module, module.scope_at(call), call.func)
                if isinstance(function, FunctionFacts) and _iterates_given(function.node, call, loader.name):
                    return True
        return False

    def _class(self, scope: Scope) -> ast.AST:
        return scope.parent.node if scope.parent is not None else scope.node

    def _kept(self, module: Module) -> Iterator[LastingLoader]:
        """The loaders with persistent workers that an assignment gives a name."""
        for scope, call, _, _ in self._sites.loaders(module, _are_kept):
            statement = module.parents.get(call)
            given = argument(call, "dataset", 0)
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            target = targets[0] if len(targets) == 1 else None
            if given is None or target is None or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                continue
            found = classes_of(Evaluator(self.project), Expression(module, scope, given))
            name = dotted(target)
            if name and found and _is_bound_once(scope, target):
                yield LastingLoader(name, scope, call, found, dotted(given))

    def _changes(self, module: Module, loop: ast.AST, loader: LastingLoader) -> Iterator[Lost]:
        """Give the statements of a loop that change an attribute which workers of the loader read."""
        objects = {f"{loader.name}.dataset", loader.dataset} - {""}
        for node in nodes_below(loop):
            if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) or not self._is_ours(module, node, loader):
                continue
            for dataset in loader.datasets:
                if not self._is_whole(module, loader, dataset):
                    continue
                for attribute in self._changed(node, objects, dataset):
                    if attribute in self._read(dataset) and self._is_plain(dataset, attribute):
                        yield Lost(node, attribute, dataset, loader)

    def _is_ours(self, module: Module, node: ast.stmt, loader: LastingLoader) -> bool:
        """Whether a statement stands where the loader's name means the loader."""
        scope = module.scope_at(node)
        if loader.name.startswith("self."):
            return scope.parent is not None and scope.parent.node is self._class(loader.scope)
        return scope is loader.scope

    def _is_whole(self, module: Module, loader: LastingLoader, dataset: ClassFacts) -> bool:
        """Whether the loader's dataset is the object itself, not one that holds it."""
        given = argument(loader.call, "dataset", 0)
        values = values_of(module, loader.scope, given) if isinstance(given, ast.Name) else ()
        made = next((value for _, value in values), given)
        if isinstance(made, ast.Call):
            return self.project.resolve(module, loader.scope, made.func) == dataset
        return isinstance(made, ast.Attribute) and len(loader.datasets) == 1

    def _changed(self, node: ast.stmt, objects: set[str], dataset: ClassFacts) -> Iterator[str]:
        """The attributes of one of these objects that a statement changes, by itself or by a method of the class."""
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                whole = target.value if isinstance(target, ast.Subscript) else target
                if not isinstance(whole, ast.Attribute) or dotted(whole.value) not in objects:
                    continue
                if whole is target or self._is_collection(dataset, whole.attr):
                    yield whole.attr
            return
        call = getattr(node, "value", None)
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Name) and function.id == "setattr" and isinstance(call, ast.Call):
            yield from [text_of(call.args[1])] if len(call.args) == 3 and dotted(call.args[0]) in objects else []
        if not isinstance(function, ast.Attribute):
            return
        owner = function.value
        if dotted(owner) in objects:
            method = self.project.method(dataset, function.attr)
            if method is not None and not method[1].decorator_list:
                yield from (name for one in statements(method[1].body) for name, _ in stored(one, "self"))
                yield from (name for name in _mutated(method[1]) if self._is_collection(dataset, name))
        elif function.attr in MUTATORS and isinstance(owner, ast.Attribute) and dotted(owner.value) in objects:
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
        values = list(self._values(dataset, attribute))
        plain = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
        return bool(values) and all(isinstance(one, plain) or _makes_collection(one) for one in values)

    def _values(self, dataset: ClassFacts, attribute: str) -> Iterator[ast.expr]:
        """What the methods of a class store as an attribute."""
        for owner in self.project.ancestry(dataset).classes:
            for method in owner.methods.values():
                for statement in statements(method.body):
                    yield from (value for name, value in stored(statement, "self") if name == attribute and value)


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


def _iterates_given(function: Function, call: ast.Call, name: str) -> bool:
    """Whether a function goes over a parameter that a call gives the loader for."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    given = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
    return any(word and dotted(value) == name and _iterates(function, word) for word, value in given)


def _iterates(loop: ast.AST, name: str) -> bool:
    """Whether a loop, or one in it, goes over a loader: by its name, ``enumerate(name)`` and the like."""
    iterated = (node.iter for node in nodes_below(loop) if isinstance(node, (ast.For, ast.AsyncFor)))
    return any(dotted(part) == name for one in iterated for part in nodes_below(one))


def _is_bound_once(scope: Scope, target: ast.expr) -> bool:
    """Whether a name, or an attribute of ``self``, is given one value."""
    if isinstance(target, ast.Name):
        found = scope.find(target.id)
        return found is not None and len(found[1]) == 1
    above = scope.parent.node if scope.parent is not None else None
    if not isinstance(above, ast.ClassDef):
        return False
    stores = [
        node for node in nodes_below(above) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    return sum(dotted(one) == dotted(target) for one in stores) == 1
