"""What kind of object an expression gives, as far as poisons.toml knows kinds; and which project class it is of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from forklint.knowledge.poisons import poisons
from forklint.project.budget import Budget
from forklint.project.index import External, Project
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Function, Kind, Scope
from forklint.project.spelling import last_name
from forklint.records import dataclass


@dataclass(frozen=True)
class Instance:
    """An object of a project class, and what is known of what its constructor was given."""

    facts: ClassFacts
    known: tuple[tuple[str, Thing], ...] = ()


Thing = str | Instance
"""A kind of object by its name in poisons.toml, or an object of the project."""
SAME = "same"
"""Stands for a name that is being worked out: ``model = model.to(device)`` says nothing new of it."""
MAX_DEPTH = 8
SMALL = 512
"""Weights of a ``Linear`` below which no thread is started, whatever the batch of an example may be."""
LARGE_LAYERS = ("Conv", "LSTM", "GRU", "Transformer", "Attention", "Embedding")


@dataclass(frozen=True)
class View:
    """Where an expression stands and what is known of the names there."""

    module: Module
    scope: Scope
    me: Instance | None = None
    """The object that the first parameter is, in a method."""
    known: Mapping[str, Thing] = field(default_factory=dict)
    """What the parameters hold."""


class Objects:
    """Answers for one project."""

    def __init__(self, project: Project, budget: Budget) -> None:
        self._project = project
        self._budget = budget
        self._visiting: set[tuple[object, str]] = set()

    def of(self, view: View, node: ast.expr, depth: int = MAX_DEPTH) -> Thing | None:
        """What an expression gives; None if that is not certain."""
        if depth <= 0 or not self._budget.spend():
            return None
        if isinstance(node, ast.Await | ast.NamedExpr):
            return self.of(view, node.value, depth)
        if isinstance(node, ast.Name):
            return self._of_name(view, node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(view, node, depth)
        return self._of_call(view, node, depth) if isinstance(node, ast.Call) else None

    def _of_name(self, view: View, name: str, depth: int) -> Thing | None:
        if name in view.known:
            return view.known[name]
        found = view.scope.find(name)
        if found is None:
            return None
        home, bindings = found
        first = home.node.args.args[:1] if isinstance(home.node, ast.FunctionDef) else []
        if view.me is not None and home is view.scope and any(one.arg == name for one in first):
            return view.me
        if all(binding.kind is Kind.IMPORT for binding in bindings):
            symbol = self._project.lookup(view.module, view.scope, name)
            if isinstance(symbol, Bound):
                return self._of_bindings(View(symbol.module, symbol.scope), (symbol.binding,), depth)
            return None
        return self._of_bindings(View(view.module, home, view.me, view.known), tuple(bindings), depth)

    def _of_bindings(self, view: View, bindings: tuple[Binding, ...], depth: int) -> Thing | None:
        """What a name holds whose every binding gives the same."""
        key = (view.scope, bindings[0].name)
        if key in self._visiting:
            return SAME
        values = [binding.value for binding in bindings]
        if any(binding.kind is not Kind.VALUE for binding in bindings):
            return None
        self._visiting.add(key)
        try:
            return _agreed(self.of(view, value, depth - 1) for value in values if value is not None)
        finally:
            self._visiting.discard(key)

    def _of_attribute(self, view: View, node: ast.Attribute, depth: int) -> Thing | None:
        owner = self.of(view, node.value, depth - 1)
        if not isinstance(owner, Instance):
            symbol = self._project.resolve(view.module, view.scope, node)
            if isinstance(symbol, Bound):
                return self._of_bindings(View(symbol.module, symbol.scope), (symbol.binding,), depth)
            return None
        key = (owner, node.attr)
        if key in self._visiting:
            return SAME
        self._visiting.add(key)
        try:
            return _agreed(self.of(inner, value, depth - 1) for inner, value in self._assigned(owner, node.attr))
        finally:
            self._visiting.discard(key)

    def _assigned(self, instance: Instance, name: str) -> Iterator[tuple[View, ast.expr]]:
        """Give every value but None that the methods of an object put into an attribute."""
        for owner in self._project.ancestry(instance.facts).classes:
            for method in owner.methods.values():
                values = self._stored(method).get(name, ())
                known = dict(instance.known) if values and method.name == "__init__" else {}
                for value in values:
                    yield View(owner.module, owner.module.scope_of[method], instance, known), value

    def _stored(self, method: Function) -> Mapping[str, Sequence[ast.expr]]:
        """What a method puts into each attribute of its object, None left out."""
        return self._project.answer("what a method puts into attributes", method, lambda: _stored(method))

    def _of_call(self, view: View, node: ast.Call, depth: int) -> Thing | None:
        symbol = self._project.resolve(view.module, view.scope, node.func)
        if isinstance(symbol, External):
            return made_kind(node, symbol.name) or None
        if isinstance(symbol, ClassFacts):
            kind = poisons().of_bases(self._project.ancestry(symbol).external)
            if kind:
                is_small = self._project.answer("is a small model", symbol, lambda: self._has_small_layers(symbol))
                return None if is_small else kind
            return Instance(symbol, tuple(self._given(view, node, symbol, depth).items()))
        if isinstance(symbol, FunctionFacts) and symbol.owner is None:
            return self._returned(symbol, depth)
        if isinstance(node.func, ast.Attribute):
            owner = self.of(view, node.func.value, depth - 1)
            if owner == SAME:
                return SAME
            if isinstance(owner, str):
                return poisons().given_by(owner, node.func.attr) or None
        return None

    def _given(self, view: View, call: ast.Call, facts: ClassFacts, depth: int) -> dict[str, Thing]:
        """What is known of the parameters of a constructor."""
        found = self._project.method(facts, "__init__")
        return self.bound(view, found[1], call.args, call.keywords, is_method=True, depth=depth) if found else {}

    def bound(  # noqa: PLR0913 - a call has so many sides
        self,
        view: View,
        node: Function,
        given: Sequence[ast.expr],
        keywords: Sequence[ast.keyword],
        *,
        is_method: bool,
        depth: int = MAX_DEPTH,
    ) -> dict[str, Thing]:
        """What is known of the parameters of a function, given these arguments."""
        if any(isinstance(argument, ast.Starred) for argument in given):
            given = ()
        names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)][1 if is_method else 0 :]
        pairs = [*zip(names, given, strict=False), *((one.arg, one.value) for one in keywords if one.arg)]
        things = ((name, self.of(view, value, depth - 1)) for name, value in pairs)
        return {name: thing for name, thing in things if thing is not None and thing != SAME}

    def _returned(self, facts: FunctionFacts, depth: int) -> Thing | None:
        """What a project function returns, whatever its arguments."""
        view = View(facts.module, facts.scope)
        returns = [node.value for node in facts.module.returns_of(facts.node)]
        if not returns or facts.node.decorator_list:
            return None
        return _agreed(self.of(view, value, depth - 2) if value is not None else None for value in returns)

    def _has_small_layers(self, facts: ClassFacts) -> bool:
        """Whether all layers of a model are so small that torch computes them with one thread."""
        layers = [
            (node, name)
            for owner in self._project.ancestry(facts).classes
            for node in nodes_below(owner.node)
            if isinstance(node, ast.Call) and (name := last_name(node.func))
        ]
        if any(word in name for _, name in layers for word in LARGE_LAYERS):
            return False
        linear = [node for node, name in layers if name == "Linear"]
        return bool(linear) and all(_is_small(node, "torch.nn.Linear") for node in linear)


def _stored(method: Function) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in nodes_below(method):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        names = {t.attr for t in targets if isinstance(t, ast.Attribute) and _is_self(t, method)}
        value = node.value if names else None  # type: ignore[attr-defined]
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            for name in names:
                found.setdefault(name, []).append(value)
    return found


def made_kind(call: ast.Call, name: str) -> str:
    """The kind of object that a call of a library's function or class makes; empty for none."""
    row = poisons().made_by(name)
    if row is None or _is_small(call, name):
        return ""
    given = [one.value for one in call.keywords if one.arg == row.unless]
    return "" if any(isinstance(one, ast.Constant) and one.value is False for one in given) else row.name


def _agreed(things: Iterator[Thing | None]) -> Thing | None:
    """The one thing that all give, those left out that say nothing new."""
    found = {thing for thing in things if thing != SAME}
    return found.pop() if len(found) == 1 else None


def _is_self(target: ast.Attribute, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = [*method.args.posonlyargs, *method.args.args][:1]
    return isinstance(target.value, ast.Name) and any(target.value.id == one.arg for one in first)


def _is_small(call: ast.Call, name: str) -> bool:
    """Whether a call makes a ``Linear`` with a few weights, or a ``Sequential`` of nothing larger."""
    if name == "torch.nn.Sequential":
        inner = [node for node in call.args if isinstance(node, ast.Call)]
        names = [last_name(node.func) for node in inner]
        if len(inner) < len(call.args) or any(word in one for one in names for word in LARGE_LAYERS):
            return False
        linear = [node for node, one in zip(inner, names, strict=True) if one == "Linear"]
        return bool(linear) and all(_is_small(node, "torch.nn.Linear") for node in linear)
    sizes = [argument.value for argument in call.args[:2] if isinstance(argument, ast.Constant)]
    whole = [size for size in sizes if isinstance(size, int)]
    return name == "torch.nn.Linear" and len(whole) == 2 and whole[0] * whole[1] < SMALL
