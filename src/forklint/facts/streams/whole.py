"""Iterable datasets of which every worker gives all samples, and the loaders that give them workers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from forklint.facts.datasets.workers import attributes_read, worker_methods
from forklint.facts.loading.datasets import class_of
from forklint.facts.loading.following import Follower
from forklint.facts.loading.loaders import loader_at
from forklint.facts.loading.numbers import Workers
from forklint.facts.loading.values import Expression
from forklint.facts.streams.sources import Sources
from forklint.knowledge.streams import stream_words
from forklint.project.certainty import has_certain_bases
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Scope
from forklint.project.spelling import argument, last_name

Giving = ast.For | ast.Return | ast.Expr
"""The statement that gives the samples: a loop with ``yield``, ``return iter(...)``, or ``yield from``."""


@dataclass(frozen=True)
class Loaded:
    """A loader that is given an object of the class."""

    module: Module
    call: ast.Call
    surely: bool
    """Whether it surely has two workers or more."""


@dataclass(frozen=True)
class Whole:
    """An iterable dataset that every worker reads whole."""

    facts: ClassFacts
    """The class that defines ``__iter__``."""
    dataset: ClassFacts
    """The class whose object a loader gets."""
    function: Function
    giving: Giving
    source: ast.expr
    """What is iterated."""
    loaded: Loaded


def wholes(project: Project, module: Module) -> Iterator[Whole]:
    """Give the iterable datasets whose ``__iter__`` stands in a module."""
    for facts in module.classes:
        function = facts.methods.get("__iter__")
        if function is None or isinstance(function, ast.AsyncFunctionDef) or "__next__" in facts.methods:
            continue
        giving = _giving(function)
        if giving is None:
            continue
        statement, source = giving
        for dataset in (facts, *project.subclasses(facts)):
            if not _is_iterable(project, dataset) or project.method(dataset, "__iter__") != (facts, function):
                continue
            if not Sources(project, dataset).is_finite(facts, function, source) or _draws(statement, source):
                continue
            loaded = _loaded(project, dataset)
            if loaded is not None and not _shared_out(project, dataset, loaded):
                yield Whole(facts, dataset, function, statement, source, loaded)
                break


def _is_iterable(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is an IterableDataset with known bases, and nothing in it knows of workers."""
    words, ancestry = stream_words(), project.ancestry(facts)
    if not ancestry.complete or not set(ancestry.external) & words.iterable or not has_certain_bases(project, facts):
        return False
    if set(ancestry.external) - words.iterable - words.plain:
        return False
    for owner in ancestry.classes:
        if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in owner.node.body):
            return False
        if any(word in line for line in _code_lines(owner) for word in words.aware):
            return False
    return True


def _code_lines(facts: ClassFacts) -> list[str]:
    """The lines of a class, docstrings and comments included: a word there is reason enough to be silent."""
    return [line.lower() for line in facts.module.document.lines[facts.node.lineno - 1 : facts.node.end_lineno]]


def _giving(function: Function) -> tuple[Giving, ast.expr] | None:
    """The one statement that gives all samples, with what it iterates; None if there are several, or none plainly."""
    found: list[tuple[Giving, ast.expr]] = []
    for statement in _outermost(function.body):
        if isinstance(statement, ast.While):
            return None
        if isinstance(statement, ast.For) and _has_yield(statement.body):
            found.append((statement, statement.iter))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.YieldFrom):
            found.append((statement, statement.value.value))
        elif isinstance(statement, ast.Return) and statement.value is not None:
            value = statement.value
            is_iter = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "iter" and len(value.args) == 1
            if not is_iter:
                return None
            found.append((statement, value.args[0]))  # type: ignore[attr-defined]
        elif _has_yield([statement]) and not isinstance(statement, (ast.With, ast.If, ast.Try)):
            return None
    return found[0] if len(found) == 1 else None


def _outermost(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements of a function that are in no loop."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.If, ast.Try)):
            for block in (getattr(statement, name, []) for name in ("body", "orelse", "finalbody")):
                yield from _outermost(block)


def _has_yield(body: list[ast.stmt]) -> bool:
    """Whether samples are given in these statements; a definition in them is another matter."""
    for statement in body:
        for node in nodes_below(statement):
            if isinstance(node, (*FUNCTIONS, ast.Lambda)):
                return False
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                return True
    return False


def _draws(statement: Giving, source: ast.expr) -> bool:
    """Whether samples are made rather than read: a loop over a range that draws, or does not use its number.

    A remainder in the loop may share the samples out by their number.
    """
    body = statement.body if isinstance(statement, ast.For) else []
    nodes = [node for part in [*body, source] for node in nodes_below(part)]
    names = {last_name(node).lower() for node in nodes}
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for part in body for node in nodes_below(part)):
        return True
    if "range" not in {getattr(node, "id", "") for node in nodes_below(source)}:
        return False
    if any(word in name for name in names for word in stream_words().random):
        return True
    targets = [statement.target] if isinstance(statement, ast.For) else []
    targets += [node.target for node in nodes_below(source) if isinstance(node, ast.comprehension)]
    bound = {node.id for target in targets for node in nodes_below(target) if isinstance(node, ast.Name)}
    loads = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return bool(bound) and not bound & loads


def _loaded(project: Project, facts: ClassFacts) -> Loaded | None:
    """A loader that gives objects of a class to several workers; one whose number of workers is known is best."""
    unsure, follow = None, Follower(project)
    for module in project.mentioning(facts.name, lambda data: b"DataLoader" in data):
        for node in module.nodes:
            if not isinstance(node, ast.Call) or not last_name(node.func).endswith("DataLoader"):
                continue
            scope = module.scope_at(node)
            given = argument(node, "dataset", 0)
            if given is None or class_of(follow, Expression(module, scope, given)) != facts:
                continue
            several = _several(project, module, scope, node)
            if several:
                return Loaded(module, node, surely=True)
            if several is None:
                unsure = unsure or Loaded(module, node, surely=False)
    return unsure


def _several(project: Project, module: Module, scope: Scope, call: ast.Call) -> bool | None:
    """Whether a loader has two workers or more; None if the text gives their number and it is not known."""
    loader = loader_at(project, Expression(module, scope, call))
    if loader is None or loader.workers.number == 1:
        return False
    if loader.workers.surely_some:
        return True
    is_given = loader.open or loader.option(loader.row.workers) is not None
    return None if is_given and loader.workers.kind is not Workers.NONE else False


def _shared_out(project: Project, dataset: ClassFacts, loaded: Loaded) -> bool:
    """Whether something else gives each worker its share: a ``worker_init_fn``, accelerate, a library of streams."""
    if any(word in loaded.module.document.text for word in stream_words().shared_out):
        return True
    names = {name for function in worker_methods(project, dataset) for name in attributes_read(function)}
    names |= {
        name for owner in project.ancestry(dataset).classes for name in owner.methods if not name.startswith("__")
    }
    for module in project.mentioning("get_worker_info"):
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr in names and not _is_own(node):
                above = module.parents[node]
                if isinstance(node.ctx, ast.Store) or isinstance(above, (ast.Call, ast.Attribute)):
                    return True
    return False


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
