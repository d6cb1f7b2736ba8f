"""Functions that workers run because a dataset is given them: ``transform=augment``, ``set_transform(augment)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from forklint.datasets.carriers import function_carried_by
from forklint.datasets.workers import worker_methods
from forklint.loading.loaders import loaders_of
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import all_arguments, first_parameter, is_name
from forklint.values.model import Expression
from forklint.values.numbers import Workers

MAX_CALLS = 3
"""Through so many functions that call each other it is asked which of them a dataset is given."""
SETTERS = frozenset({"set_transform", "with_transform"})
"""Methods by which a dataset of Hugging Face is given a function that it runs on what it reads."""
LIBRARY = "datasets"


class Carrier(NamedTuple):
    """What workers get that run a function."""

    dataset: ClassFacts | None
    """None for a library's."""


def carrier_of(project: Project, function: FunctionFacts) -> Carrier | None:
    """The dataset that is given a function, or one that calls it; None if none is, as far as is seen."""
    waiting, seen = [function], {function.node}
    for _ in range(MAX_CALLS):
        for one in waiting:
            found = function_carried_by(project, one)
            if found is not None and _calls_what_it_keeps(project, found):
                return Carrier(found)
            if _is_set_on_library(project, one):
                return Carrier(None)
        callers = [caller for one in waiting for caller in _callers(project, one)]
        waiting = [one for one in callers if one.node not in seen and one.owner is None]
        seen.update(one.node for one in waiting)
    return None


def _callers(project: Project, function: FunctionFacts) -> Iterator[FunctionFacts]:
    """Give the functions that call another by its name."""
    for module, node in _named(project, function):
        above = module.parents.get(node)
        around = next((one for one in module.above(node) if isinstance(one, FUNCTIONS)), None)
        if isinstance(above, ast.Call) and above.func is node and around is not None:
            yield FunctionFacts(module, around)


def _named(project: Project, function: FunctionFacts) -> Iterator[tuple[Module, ast.expr]]:
    name = function.node.name
    for module in project.mentioning(name):
        for node in module.reads(name):
            symbol = project.resolve(module, module.scope_at(node), node)
            if isinstance(symbol, FunctionFacts) and symbol.node is function.node:
                yield module, node


def _calls_what_it_keeps(project: Project, dataset: ClassFacts) -> bool:
    """Whether workers call what an object of a class keeps, or a base does that is a library's."""
    if project.method(dataset, "__getitem__") is None and project.method(dataset, "__iter__") is None:
        return True
    for function in worker_methods(project, dataset):
        me = first_parameter(function)
        for node in nodes_below(function):
            kept = node.func if isinstance(node, ast.Call) else node.iter if isinstance(node, ast.For) else None
            if isinstance(kept, ast.Attribute) and is_name(kept.value, me) and not project.method(dataset, kept.attr):
                return True
    return False


def _is_set_on_library(project: Project, function: FunctionFacts) -> bool:
    """Whether a dataset of Hugging Face is given a function, and a loader with workers near it gets that dataset."""
    for module, node in _named(project, function):
        above = module.parents.get(node)
        call = module.parents.get(above) if isinstance(above, ast.keyword) else above
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr not in SETTERS or node not in all_arguments(call):  # type: ignore[arg-type]
            continue
        if LIBRARY in module.document.text and call is not None and _is_loaded(project, module, call, func.value):
            return True
    return False


def _is_loaded(project: Project, module: Module, call: ast.AST, receiver: ast.expr) -> bool:
    """Whether a loader of a module, which may have workers, gets what a call gives, or is made on."""
    above = module.parents.get(call)
    targets = above.targets if isinstance(above, ast.Assign) else []
    names = {ast.unparse(one) for one in (receiver, *targets)}
    for loader in loaders_of(project, module):
        given = loader.option(loader.row.positions[0]) if loader.row.positions else None
        is_it = isinstance(given, Expression) and given.module is module and ast.unparse(given.node) in names
        if is_it and loader.workers.kind is Workers.SOME:
            return True
    return False
