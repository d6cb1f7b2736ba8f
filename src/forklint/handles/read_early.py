"""What a program runs of a dataset before it makes the loader: a lazy handle that it opens stays open."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from forklint.datasets.classes import is_dataset
from forklint.loading.datasets import classes_of
from forklint.loading.loaders import Loader, files_with_loaders, loaders_of
from forklint.project.bindings import binder_of
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import is_before, nodes_below
from forklint.project.scopes import FUNCTIONS, Kind, bodies
from forklint.project.spelling import first_parameter, is_name
from forklint.summaries.spelling import spelt
from forklint.summaries.terms import CALL, WORD
from forklint.values import callers, parameters
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance
from forklint.values.numbers import Workers

READING = {"iter": "__iter__", "next": "__iter__", "enumerate": "__iter__", "list": "__iter__"}
"""Functions that read what they are given, by the method that this calls."""
ENTRIES = ("__getitem__", "__iter__", "__enter__")
LIGHTNING = "Lightning"
"""What the names of Lightning's modules begin with, whose ``setup`` comes before their loaders."""
MOST_HOMES = 24
"""In so many files it is looked for other classes with a method of the same name."""


class EarlyCall(NamedTuple):
    """A place that runs a method of a dataset before its loader is made."""

    method: str
    module: Module
    node: ast.expr


class _Run(NamedTuple):
    """The same, of whatever class it is."""

    method: str
    owner: Expression
    loader: Loader


class _Sources(NamedTuple):
    """From what a function makes what a loader gets."""

    names: set[str]
    """Names, as spelt."""
    calls: set[ast.expr]
    """Calls: the ``Rows()`` of ``Rows().open(path)`` has no name."""


def early_calls(project: Project, facts: ClassFacts) -> tuple[EarlyCall, ...]:
    """What programs run of the objects of a class before loaders with workers get them."""
    return project.answer("run before loading", facts, lambda: tuple(_Search(project, facts).found()))


class _Search:
    def __init__(self, project: Project, facts: ClassFacts) -> None:
        self._project = project
        self._facts = facts
        self._evaluator = Evaluator(project)
        owners = project.ancestry(facts).classes
        self._methods = {name for owner in owners for name in owner.methods if name in ENTRIES or name[:2] != "__"}

    @cached_property
    def _family(self) -> frozenset[ClassFacts]:
        """The class and all that derive from it; only found where an object is to be told apart."""
        return frozenset({self._facts, *self._project.subclasses(self._facts)})

    def found(self) -> Iterator[EarlyCall]:
        """Give the calls, loader by loader; of several of one method the first."""
        seen: set[str] = set()
        loading = files_with_loaders(self._project)
        named = {path for name in self._methods - set(ENTRIES) for path in self._project.where(CALL, name)}
        naming = set(self._project.where(WORD, self._facts.name))
        for path in loading:
            if path not in named | naming or self._methods.isdisjoint(_methods_run(self._project, path)):
                continue
            module = self._project.module(path)
            for run in _runs(self._project, module) if module is not None else ():
                if run.method in self._methods and run.method not in seen and self._is_meant(run):
                    seen.add(run.method)
                    yield EarlyCall(run.method, run.owner.module, run.owner.node)

    def _is_meant(self, run: _Run) -> bool:
        """Whether an object is of the class, as far as is known, or since only datasets have such a method."""
        workers = run.loader.workers
        return (workers.kind is not Workers.NONE or workers.by_default) and self._is_of_class(run)

    def _is_of_class(self, run: _Run) -> bool:
        if run.method in ENTRIES:  # of a list of datasets they give a dataset
            known = self._evaluator.find(run.owner).value
            return isinstance(known, Instance) and known.facts in self._family
        classes = classes_of(self._evaluator, run.owner)
        if classes:
            return not self._family.isdisjoint(classes)
        here, home = run.owner.module.path, self._facts.module.path
        if here != home and not self._project.graph.reaches(here, home):
            return False
        homes = list(islice(self._project.mentioning(run.method), MOST_HOMES + 1))
        having = [facts for module in homes for facts in module.classes if run.method in facts.methods]
        return len(homes) <= MOST_HOMES and all(is_dataset(self._project, facts) for facts in having)


def _methods_run(project: Project, path: Path) -> frozenset[str]:
    """The methods that a file runs of what its loaders get."""

    def find() -> frozenset[str]:
        module = project.module(path)
        return frozenset(run.method for run in _runs(project, module)) if module is not None else frozenset()

    return project.questions.answer_apart("methods run before loading", path, find)


def _runs(project: Project, module: Module) -> tuple[_Run, ...]:
    """What is run of the datasets of a module's loaders by the time they are made."""
    return project.answer("run before loaders", module, lambda: tuple(_find_runs(project, module)))


def _find_runs(project: Project, module: Module) -> Iterator[_Run]:
    """Give what was run of the dataset of each loader, or of what its caller hands over as its dataset."""
    for loader in loaders_of(project, module):
        source = loader.option("dataset") or loader.option((*loader.row.positions, "dataset")[0])
        for given in (source, *_handed(project, source)) if isinstance(source, Expression) else ():
            sources = _sources(given)
            for node in nodes_below(given.scope.node):
                for method, owner in _run_at(project, given, node, sources):
                    comes = owner in sources.calls or is_before(owner, given.node)
                    comes = comes and given.module.scope_at(owner) is given.scope
                    if comes and _goes_on_to(given.module, owner, given.node):
                        yield _Run(method, given.part(owner), loader)
        if isinstance(source, Expression):
            yield from (_Run(method, owner, loader) for method, owner in _run_by_others(project, source))


def _run_by_others(project: Project, source: Expression) -> Iterator[tuple[str, Expression]]:
    """Give what the constructor and Lightning's ``setup`` run of the attribute that another method loads."""
    node, function = source.node, source.scope.node
    owner = FunctionFacts(source.module, function).owner if isinstance(function, FUNCTIONS) else None
    if owner is None or not isinstance(node, ast.Attribute) or not is_name(node.value, first_parameter(function)):  # type: ignore[arg-type]
        return
    is_module = any(name.rpartition(".")[2].startswith(LIGHTNING) for name in project.ancestry(owner).external)
    for found in (project.method(owner, name) for name in (("__init__", "setup") if is_module else ("__init__",))):
        if found is None or found[1] is function:
            continue
        before, names = FunctionFacts(found[0].module, found[1]), {f"{first_parameter(found[1])}.{node.attr}"}
        for one in nodes_below(before.node):
            method, read = _run(one) or ("", None)
            if read is not None and spelt(read) in names and before.module.scope_at(read) is before.scope:
                yield method, Expression(before.module, before.scope, read)


def _run_at(project: Project, place: Expression, node: ast.AST, sources: _Sources) -> Iterator[tuple[str, ast.expr]]:
    """Give the methods that a node runs of what a loader gets, and of which expression."""
    method, owner = _run(node) or ("", None)
    if owner is not None and (spelt(owner) in sources.names or owner in sources.calls):
        yield method, owner
    if isinstance(node, ast.Call):
        yield from _run_within(project, place, node, sources.names)


def _run_within(project: Project, place: Expression, call: ast.Call, names: set[str]) -> Iterator[tuple[str, ast.expr]]:
    """Give the methods that a function of the project runs of what it is given: ``mean_of(data)``."""
    given = {number: one for number, one in enumerate(call.args) if spelt(one) in names}
    function = project.resolve(place.module, place.scope, call.func) if given else None
    if not isinstance(function, FunctionFacts) or function.owner is not None:
        return
    own = [argument.arg for argument in function.node.args.args]
    for number, argument in given.items():
        for node in nodes_below(function.node):
            method, owner = _run(node) or ("", None)
            is_it = number < len(own) and isinstance(owner, ast.Name) and owner.id == own[number]
            if is_it and function.module.scope_at(node) is function.scope:
                yield method, argument


def _handed(project: Project, source: Expression) -> Iterator[Expression]:
    """Give what callers hand over where a parameter is what a loader gets."""
    name, function = source.node, source.scope.node
    bound = source.scope.bound(name.id) if isinstance(name, ast.Name) else []
    if not isinstance(function, FUNCTIONS) or [binding.kind for binding in bound] != [Kind.PARAMETER]:
        return
    facts = FunctionFacts(source.module, function)
    for call in callers.of(Evaluator(project), facts).calls:
        given = call.get(bound[0].name, parameters.position(facts, bound[0].name))
        if isinstance(given, Expression):
            yield given


def _goes_on_to(module: Module, first: ast.expr, second: ast.expr) -> bool:
    """Whether a run may come through one place and then through another: no branch ends or excludes the other."""
    beside = {second, *module.above(second)}
    inner: ast.AST = first
    for above in module.above(first):
        blocks = list(bodies(above)) if isinstance(above, ast.stmt) else []
        mine = next((block for block in blocks if inner in block), None)
        if above in beside:
            excluding = isinstance(above, (ast.If, ast.Match)) and mine is not None
            return not excluding or any(statement in beside for statement in mine or ())
        if mine is not None and isinstance(mine[-1], (ast.Return, ast.Raise)):
            return False
        inner = above
    return True


def _run(node: ast.AST) -> tuple[str, ast.expr] | None:
    """The method that a node runs, and of what: ``data.statistics()``, ``data[0]``, ``for one in data``."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return "__iter__", node.iter
    if isinstance(node, ast.withitem):
        return "__enter__", node.optional_vars or node.context_expr
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return "__getitem__", node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr, node.func.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READING and node.args:
        return READING[node.func.id], node.args[0]
    return None


def _sources(dataset: Expression) -> _Sources:
    """What a function makes of which a loader gets something: itself, and what it is made of."""
    names, calls = set[str](), set[ast.expr]()
    waiting: list[ast.AST] = [dataset.node]
    while waiting:
        for node in nodes_below(waiting.pop()):
            if isinstance(node, ast.Call):
                calls.add(node)
            name = spelt(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
            if name and name not in names:
                names.add(name)
                waiting += _made_of(dataset, node, name)
    return _Sources(names, calls)


def _made_of(dataset: Expression, node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Give the expressions that a name is given, or drawn from by a loop or comprehension."""
    scope = dataset.scope
    binder = binder_of(dataset.module, node) if isinstance(node, ast.Name) else None
    yield from (loop.iter for loop in getattr(binder, "generators", ()))
    for binding in scope.bound(name) if isinstance(scope.node, (*FUNCTIONS, ast.Module)) else ():
        if isinstance(binding.node, (ast.For, ast.AsyncFor)):
            yield binding.node.iter
            continue
        value = binding.value or (binding.node.value if isinstance(binding.node, ast.Assign) else None)
        if binding.kind in {Kind.VALUE, Kind.OTHER} and value is not None:
            yield value
