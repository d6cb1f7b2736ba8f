"""Who carries an object of a class into worker processes: a dataset that builds it, or that is given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.facts.datasets.classes import is_dataset
from forklint.facts.handles.carried import init_path
from forklint.facts.loading.loaders import workers_of
from forklint.facts.loading.numbers import Workers
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name

MAX_HOPS = 8
PASSES_ON = ("Compose", "Sequential")
"""Classes that make one transform of several."""
GIVEN_AS = frozenset({"transform", "transforms", "target_transform", "augment", "augmentation"})


def carried_by(project: Project, facts: ClassFacts) -> ClassFacts | None:
    """The dataset that keeps an object of a class; None if none does.

    The class itself if a library's dataset keeps it, or a loader with workers collates by it.
    """
    memory = project.memory("carried_by")
    if facts not in memory:
        memory[facts] = next(_carriers(project, facts), None)
    found: ClassFacts | None = memory[facts]
    return found


def _carriers(project: Project, facts: ClassFacts) -> Iterator[ClassFacts]:
    for module in project.mentioning(facts.name):
        for node in module.nodes:
            if not isinstance(node, ast.Call) or last_name(node.func) != facts.name:
                continue
            if project.resolve(module, module.scope_at(node), node.func) == facts:
                found = _receiver(project, module, node, facts, MAX_HOPS)
                if found is not None:
                    yield found


def _receiver(project: Project, module: Module, node: ast.AST, facts: ClassFacts, hops: int) -> ClassFacts | None:
    """The dataset that the value of an expression comes to."""
    above = module.parents[node]
    if hops <= 0:
        return None
    if isinstance(above, (ast.List, ast.Tuple, ast.keyword, ast.IfExp)):
        return _receiver(project, module, above, facts, hops - 1)
    if isinstance(above, ast.Call) and above.func is not node:
        if last_name(above.func) in PASSES_ON:
            return _receiver(project, module, above, facts, hops - 1)
        return _taker(project, module, above, node, facts)
    if isinstance(above, ast.Assign):
        target = above.targets[0]
        if isinstance(target, ast.Name):
            scope = module.scope_at(above)
            for other in nodes_below(scope.node):
                is_use = isinstance(other, ast.Name) and other.id == target.id and isinstance(other.ctx, ast.Load)
                found = _receiver(project, module, other, facts, hops - 1) if is_use else None
                if found is not None:
                    return found
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            return _builder(project, module, above)
    return None


def _builder(project: Project, module: Module, statement: ast.stmt) -> ClassFacts | None:
    """The dataset whose ``__init__`` comes to a statement that keeps something on ``self``."""
    above = list(module.above(statement))
    function = next((one for one in above if isinstance(one, FUNCTIONS)), None)
    owner = next((one for one in above if isinstance(one, ast.ClassDef)), None)
    dataset = module.class_facts(owner) if owner is not None else None
    if dataset is None or not is_dataset(project, dataset):
        return None
    return dataset if any(one.node is function for one in init_path(project, dataset)) else None


def _taker(project: Project, module: Module, call: ast.Call, node: ast.AST, facts: ClassFacts) -> ClassFacts | None:
    """The dataset that a call builds, if the node is one of its arguments."""
    symbol = project.resolve(module, module.scope_at(call), call.func)
    if isinstance(symbol, ClassFacts):
        return symbol if is_dataset(project, symbol) else None
    if not isinstance(symbol, External) or not isinstance(node, ast.keyword):
        return None
    if node.arg == "collate_fn" and symbol.name.endswith("DataLoader"):
        workers = workers_of(project, module, module.scope_at(call), call)
        return facts if workers is Workers.SOME else None
    if node.arg in GIVEN_AS:
        return facts if ".datasets." in symbol.name or symbol.name.endswith(("Dataset", "ImageFolder")) else None
    return None
