"""Of which classes of the project the dataset of a loader may be, through wrappers, attributes and functions.

This is the one place that tells: all that some way leads to (``classes_of``), or the one that is sure (``class_of``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.knowledge.starters import iteration
from forklint.project.index import External
from forklint.project.module import ClassFacts
from forklint.project.spelling import last_name
from forklint.values.model import Absent, Constant, Expression, Instance, Made, Row, Source, Table, Value

if TYPE_CHECKING:
    from forklint.project.module import Module
    from forklint.project.scopes import Scope
    from forklint.values.evaluator import Evaluator

MOST_LOOKS = 200
"""So many values are looked at for one dataset."""
WRAPPED = frozenset({"dataset", "datasets", "data"})
"""The parameters by which a wrapper takes what it wraps."""
DATASETS, COLLATOR = "_dataset", "data_collator"
"""How the keywords end by which a trainer takes what it loads, and by which it takes what makes batches of it."""


def classes_of(evaluator: Evaluator, source: Source) -> tuple[ClassFacts, ...]:
    """The project classes of which a value may be: all that some way leads to, in no special order."""
    return tuple(_searched(evaluator, source).found)


def class_of(evaluator: Evaluator, source: Source) -> ClassFacts | None:
    """The project class of which a value surely is, or of which all are that it wraps; None if another may be."""
    search = _searched(evaluator, source)
    return next(iter(search.found)) if search.complete and len(search.found) == 1 else None


def _searched(evaluator: Evaluator, source: Source) -> _Search:
    search = _Search(evaluator)
    search.look(source)
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
    found: dict[ClassFacts, None] = {}
    for scope, _, keyword in given_to_trainers(evaluator, call.module):
        if (keyword.arg or "").endswith(DATASETS):
            found |= dict.fromkeys(classes_of(evaluator, Expression(call.module, scope, keyword.value)))
    return tuple(found)


def given_to_trainers(evaluator: Evaluator, module: Module) -> Iterator[tuple[Scope, ast.Call, ast.keyword]]:
    """Give what a module's trainers get that make loaders of it, by settings: datasets, and what makes batches."""
    known = {name for row in iteration().consumers if row.keeps_arguments for name in row.classes}
    for node in module.nodes:
        given = node.keywords if isinstance(node, ast.Call) else []
        loaded = [keyword for keyword in given if (keyword.arg or "").endswith((DATASETS, COLLATOR))]
        if isinstance(node, ast.Call) and loaded:
            scope = module.scope_at(node)
            if _is_consumer(evaluator, Expression(module, scope, node.func), known):
                yield from ((scope, node, keyword) for keyword in loaded)


def _is_consumer(evaluator: Evaluator, function: Expression, known: set[str]) -> bool:
    symbol = evaluator.project.resolve(function.module, function.scope, function.node)
    if isinstance(symbol, ClassFacts):
        return bool(known & set(evaluator.project.ancestry(symbol).external))
    return isinstance(symbol, External) and symbol.name in known


class _Search:
    """Collects the classes of which a value may be an object, those inside of wrappers and lists included."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.found: dict[ClassFacts, None] = {}
        self.complete = True
        """Whether every way was followed to its end: a class, or None."""
        self._seen: set[Source] = set()

    def look(self, source: Source) -> None:
        """Add the classes of what a source holds."""
        if source in self._seen or len(self._seen) > MOST_LOOKS:
            return
        self._seen.add(source)
        found = self._evaluator.find(source)
        self.complete &= found.known or found.is_all
        for one in found.possible:
            self._take(one.value)

    def _take(self, value: Value) -> None:
        inner: Iterable[Source] = ()
        if isinstance(value, Instance):
            self.found[value.facts] = None
        elif isinstance(value, Row):
            inner = value.items
        elif isinstance(value, Table):
            inner = value.values
        elif isinstance(value, Made) and value.name in listed("datasets", "wrappers"):
            call = value.call.node
            assert isinstance(call, ast.Call)  # noqa: S101 - it was made by one
            given = [*call.args[:1], *(one.value for one in call.keywords if one.arg in WRAPPED)]
            inner = [value.call.part(argument) for argument in given]
        else:
            self.complete &= isinstance(value, Absent) or value == Constant(None)
        for source in inner:
            self.look(source)
