"""Of which classes of the project the dataset of a loader may be, through wrappers, attributes and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.loading import callers, calls
from forklint.facts.loading.values import Expression, Instance, Setting, Source
from forklint.knowledge.loading import names as listed
from forklint.knowledge.starters import iteration
from forklint.project import scopes
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.scopes import Kind, Scope
from forklint.project.spelling import last_name

if TYPE_CHECKING:
    from forklint.facts.loading.following import Follower
    from forklint.project.module import Module

MAX_DEPTH = 12


def classes_of(follow: Follower, source: Source) -> tuple[ClassFacts, ...]:
    """The project classes of which a value may be: all that some way leads to, in no special order."""
    found: dict[ClassFacts, None] = {}
    with follow.one_question():
        _Search(follow, found).look(source, MAX_DEPTH)
    return tuple(found)


def given_to_loaders(follow: Follower, module: Module) -> frozenset[ClassFacts]:
    """The classes of the datasets that a module gives to whatever is called a DataLoader, known or not."""
    memory = follow.project.memory("datasets given to loaders")
    if module not in memory:
        found: set[ClassFacts] = set()
        for node in module.nodes:
            if isinstance(node, ast.Call) and _loads(follow, module, node):
                given = [keyword.value for keyword in node.keywords if keyword.arg == "dataset"] or node.args[:1]
                for source in given:
                    found.update(classes_of(follow, Expression(module, module.scope_at(node), source)))
        memory[module] = frozenset(found)
    known: frozenset[ClassFacts] = memory[module]
    return known


def _loads(follow: Follower, module: Module, call: ast.Call) -> bool:
    """Whether a call makes a loader by its name, or hands what a loader's subclass gets on to its base."""
    name = last_name(call.func)
    if name != "__init__":
        return name.endswith("DataLoader")
    scope = module.scope_at(call)
    above = scope.parent.node if scope.parent else None
    if not isinstance(above, ast.ClassDef):
        return False
    return any(base.endswith("DataLoader") for base in follow.project.ancestry(module.class_facts(above)).external)


def of_consumer(follow: Follower, call: Expression) -> tuple[ClassFacts, ...]:
    """The same where the call makes only settings: what the trainer of the module is given to load."""
    known = {name for row in iteration().consumers if row.keeps_arguments for name in row.classes}
    found: dict[ClassFacts, None] = {}
    for node in call.module.nodes:
        if not isinstance(node, ast.Call):
            continue
        given = [keyword for keyword in node.keywords if (keyword.arg or "").endswith("_dataset")]
        scope = call.module.scope_at(node) if given else call.module.scope
        if given and _is_consumer(follow, Expression(call.module, scope, node.func), known):
            for keyword in given:
                found |= dict.fromkeys(classes_of(follow, Expression(call.module, scope, keyword.value)))
    return tuple(found)


def _is_consumer(follow: Follower, function: Expression, known: set[str]) -> bool:
    symbol = follow.project.resolve(function.module, function.scope, function.node)
    if isinstance(symbol, ClassFacts):
        return bool(known & set(follow.project.ancestry(symbol).external))
    return isinstance(symbol, External) and symbol.name in known


class _Search:
    """Collects the classes that an expression may be an object of; what is not followed adds none."""

    def __init__(self, follow: Follower, found: dict[ClassFacts, None]) -> None:
        self.follow = follow
        self.found = found
        self.seen: set[ast.AST] = set()

    def look(self, source: Source, depth: int) -> None:
        """Add the classes of what a source holds."""
        if isinstance(source, Setting) or source.node in self.seen or depth <= 0:
            return
        self.seen.add(source.node)
        known = self.follow.find(source).value
        node = source.node
        if isinstance(known, Instance):
            self.found[known.facts] = None
        elif isinstance(node, ast.Name):
            self._name(source, node.id, depth)
        elif isinstance(node, ast.Attribute):
            self._attribute(source, node, depth)
        elif isinstance(node, ast.Call):
            self._call(source, node, depth)
        else:
            for part in _parts(node):
                self.look(source.part(part), depth - 1)

    def _name(self, source: Expression, name: str, depth: int) -> None:
        found = source.scope.find(name)
        if found is None:
            return
        home, bindings = found
        for binding in bindings:
            if binding.kind is Kind.PARAMETER and isinstance(home.node, scopes.FUNCTIONS):
                self._parameter(FunctionFacts(source.module, home.node), name, depth)
            elif binding.value is not None:
                self.look(Expression(source.module, home, binding.value), depth - 1)
            elif isinstance(binding.node, ast.Assign):
                self.look(Expression(source.module, home, binding.node.value), depth - 1)

    def _parameter(self, function: FunctionFacts, name: str, depth: int) -> None:
        from forklint.facts.loading import parameters  # noqa: PLC0415 - a circle otherwise

        for given in callers.of(self.follow, function).calls:
            source = given.get(name, parameters.position(function, name))
            if source is not None:
                self.look(source, depth - 1)

    def _attribute(self, source: Expression, node: ast.Attribute, depth: int) -> None:
        owner = self.follow.find(source.part(node.value)).value
        if not isinstance(owner, Instance):
            return
        for facts in self.follow.project.ancestry(owner.facts).classes:
            for function in facts.methods.values():
                self._stores(facts.module, facts.module.scope_of[function], node.attr, depth)

    def _stores(self, module: Module, scope: Scope, name: str, depth: int) -> None:
        for statement in scopes.statements(scope.node.body):
            if not isinstance(statement, ast.Assign):
                continue
            targets = [part for target in statement.targets for part in getattr(target, "elts", [target])]
            if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets):
                self.look(Expression(module, scope, statement.value), depth - 1)

    def _call(self, source: Expression, call: ast.Call, depth: int) -> None:
        name = calls.qualified(self.follow, source.part(call.func))
        if name in listed("datasets", "wrappers"):
            given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "dataset")]
            for argument in given:
                self.look(source.part(argument), depth - 1)
            return
        symbol = self.follow.project.resolve(source.module, source.scope, call.func)
        if symbol is None and isinstance(call.func, ast.Attribute):
            owner = self.follow.find(source.part(call.func.value)).value
            method = self.follow.project.method(owner.facts, call.func.attr) if isinstance(owner, Instance) else None
            symbol = FunctionFacts(method[0].module, method[1]) if method else None
        if isinstance(symbol, FunctionFacts):
            for statement in scopes.statements(symbol.node.body):
                if isinstance(statement, ast.Return) and statement.value is not None:
                    self.look(Expression(symbol.module, symbol.scope, statement.value), depth - 1)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What an expression may come to: its arms, its items."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    if isinstance(node, ast.DictComp):
        return [node.value]
    return [node.value] if isinstance(node, (ast.Subscript, ast.Starred, ast.NamedExpr, ast.Await)) else []
