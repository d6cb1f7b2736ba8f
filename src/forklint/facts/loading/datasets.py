"""Of which classes of the project the dataset of a loader may be, through wrappers, attributes and functions.

This is the one place that tells: all that some way leads to (``classes_of``), or the one that is sure (``class_of``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.knowledge.starters import iteration
from forklint.project import bindings, entries, scopes
from forklint.project.index import External
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.scopes import Kind
from forklint.project.spelling import last_name
from forklint.values import callers, calls
from forklint.values.model import Either, Expression, Instance, Setting, Source

if TYPE_CHECKING:
    from forklint.project.module import Module
    from forklint.values.evaluator import Evaluator

MAX_DEPTH = 12
MOST_LOOKS = 200
"""So many expressions are looked at for one dataset."""
MOST_SEARCHES = 8
"""For so many functions their callers are looked for."""
WRAPPED = frozenset({"dataset", "datasets", "data"})
"""The parameters by which a wrapper takes what it wraps."""


def classes_of(evaluator: Evaluator, source: Source) -> tuple[ClassFacts, ...]:
    """The project classes of which a value may be: all that some way leads to, in no special order."""
    return tuple(_searched(evaluator, source).found)


def class_of(evaluator: Evaluator, source: Source) -> ClassFacts | None:
    """The project class of which a value surely is, or of which all are that it wraps; None if another may be."""
    search = _searched(evaluator, source)
    return next(iter(search.found)) if search.complete and len(search.found) == 1 else None


def _searched(evaluator: Evaluator, source: Source) -> _Search:
    search = _Search(evaluator)
    search.look(source, MAX_DEPTH)
    return search


def given_to_loaders(evaluator: Evaluator, module: Module) -> frozenset[ClassFacts]:
    """The classes of the datasets that a module gives to whatever is called a DataLoader, known or not."""
    return evaluator.project.answer("datasets given to loaders", module, lambda: _given(evaluator, module), frozenset())


def _given(evaluator: Evaluator, module: Module) -> frozenset[ClassFacts]:
    found: set[ClassFacts] = set()
    for node in module.nodes:
        if isinstance(node, ast.Call) and _loads(evaluator, module, node):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "dataset"] or node.args[:1]
            for source in given:
                found.update(classes_of(evaluator, Expression(module, module.scope_at(node), source)))
    return frozenset(found)


def _loads(evaluator: Evaluator, module: Module, call: ast.Call) -> bool:
    """Whether a call makes a loader by its name, or hands what a loader's subclass gets on to its base."""
    name = last_name(call.func)
    if name != "__init__":
        return name.endswith("DataLoader")
    scope = module.scope_at(call)
    above = scope.parent.node if scope.parent else None
    if not isinstance(above, ast.ClassDef):
        return False
    return any(base.endswith("DataLoader") for base in evaluator.project.ancestry(module.class_facts(above)).external)


def of_consumer(evaluator: Evaluator, call: Expression) -> tuple[ClassFacts, ...]:
    """The same where the call makes only settings: what the trainer of the module is given to load."""
    known = {name for row in iteration().consumers if row.keeps_arguments for name in row.classes}
    found: dict[ClassFacts, None] = {}
    for node in call.module.nodes:
        if not isinstance(node, ast.Call):
            continue
        given = [keyword for keyword in node.keywords if (keyword.arg or "").endswith("_dataset")]
        scope = call.module.scope_at(node) if given else call.module.scope
        if given and _is_consumer(evaluator, Expression(call.module, scope, node.func), known):
            for keyword in given:
                found |= dict.fromkeys(classes_of(evaluator, Expression(call.module, scope, keyword.value)))
    return tuple(found)


def _is_consumer(evaluator: Evaluator, function: Expression, known: set[str]) -> bool:
    symbol = evaluator.project.resolve(function.module, function.scope, function.node)
    if isinstance(symbol, ClassFacts):
        return bool(known & set(evaluator.project.ancestry(symbol).external))
    return isinstance(symbol, External) and symbol.name in known


class _Search:
    """Collects the classes that an expression may be an object of; what is not followed adds none."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.found: dict[ClassFacts, None] = {}
        self.complete = True
        """Whether every way was followed to its end: a class, or None."""
        self._seen: set[ast.AST] = set()
        self._searched: set[ast.AST] = set()
        """The functions whose callers were asked for."""

    def look(self, source: Source, depth: int) -> None:
        """Add the classes of what a source holds."""
        if isinstance(source, Either):
            self._all(source.sources, depth)
            return
        if isinstance(source, Setting) or depth <= 0 or len(self._seen) > MOST_LOOKS:
            self.complete = False
            return
        if source.node in self._seen or (isinstance(source.node, ast.Constant) and source.node.value is None):
            return
        self._seen.add(source.node)
        known = self.evaluator.find(source).value
        node = source.node
        if isinstance(known, Instance):
            self.found[known.facts] = None
        elif isinstance(node, ast.Name):
            self._name(source, node, depth)
        elif isinstance(node, ast.Attribute):
            self._attribute(source, node, depth)
        elif isinstance(node, ast.Call):
            self._call(source, node, depth)
        else:
            self._all([source.part(part) for part in _parts(node)], depth)

    def _all(self, sources: Sequence[Source], depth: int) -> None:
        """Look at each of the ways there are; where there is none, nothing is known."""
        self.complete &= bool(sources)
        for source in sources:
            self.look(source, depth - 1)

    def _name(self, source: Expression, node: ast.Name, depth: int) -> None:
        found = bindings.reaching(source.module, source.scope, node)
        symbol = self.evaluator.project.lookup(source.module, source.scope, node.id) if found is not None else None
        if isinstance(symbol, Bound) and symbol.module is not source.module:
            found, source = (symbol.scope, [symbol.binding]), Expression(symbol.module, symbol.scope, node)
        if found is None:
            self.complete = False
            return
        home, bound = found
        for binding in bound:
            value = binding.value
            if value is None and isinstance(binding.node, ast.Assign):
                value = binding.node.value
            if binding.kind is Kind.PARAMETER and isinstance(home.node, scopes.FUNCTIONS):
                self._parameter(FunctionFacts(source.module, home.node), node.id, depth)
            elif value is not None:
                self.look(Expression(source.module, home, value), depth - 1)
            else:
                self.complete = False

    def _parameter(self, function: FunctionFacts, name: str, depth: int) -> None:
        from forklint.values import parameters  # noqa: PLC0415 - a circle otherwise

        self._searched.add(function.node)
        if len(self._searched) > MOST_SEARCHES:
            self.complete = False
            return
        known = callers.of(self.evaluator, function)
        given = [one.get(name, parameters.position(function, name)) for one in known.calls]
        self.complete &= not known.escapes and not known.by_default and None not in given
        self._all([one for one in given if one is not None], depth)

    def _attribute(self, source: Expression, node: ast.Attribute, depth: int) -> None:
        owner = self.evaluator.find(source.part(node.value)).value
        classes = self.evaluator.project.ancestry(owner.facts).classes if isinstance(owner, Instance) else ()
        methods = [(facts.module, function) for facts in classes for function in facts.methods.values()]
        self._all([stored for module, function in methods for stored in _stores(module, function, node.attr)], depth)

    def _call(self, source: Expression, call: ast.Call, depth: int) -> None:
        name = calls.qualified(self.evaluator, source.part(call.func))
        if name in listed("datasets", "wrappers"):
            kept = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg in WRAPPED)]
            self._all([source.part(argument) for argument in kept], depth)
            return
        symbol = self.evaluator.project.resolve(source.module, source.scope, call.func)
        if symbol is None and isinstance(call.func, ast.Attribute):
            owner = self.evaluator.find(source.part(call.func.value)).value
            method = self.evaluator.project.method(owner.facts, call.func.attr) if isinstance(owner, Instance) else None
            symbol = FunctionFacts(method[0].module, method[1]) if method else None
        self._all(list(_returned(symbol)) if isinstance(symbol, FunctionFacts) else [], depth)


def _stores(module: Module, function: scopes.Function, name: str) -> Iterator[Expression]:
    """Give what a method stores under the name of an attribute."""
    for statement in scopes.statements(function.body):
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        targets = [part for one in entries.targets(statement) for part in getattr(one, "elts", [one])]
        if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets):
            yield Expression(module, module.scope_of[function], statement.value)


def _returned(function: FunctionFacts) -> Iterator[Expression]:
    """Give what a function of the project returns."""
    for statement in scopes.statements(function.node.body):
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield Expression(function.module, function.scope, statement.value)


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
