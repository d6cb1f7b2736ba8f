"""Who carries an object of a class into worker processes: a dataset that builds it, or that is given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.facts.datasets.classes import is_dataset
from forklint.facts.handles.carried import init_path
from forklint.facts.loading.loaders import workers_of
from forklint.project.budget import Budget
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name
from forklint.summaries.terms import CALL
from forklint.values.numbers import Workers

MAX_HOPS = 8
MOST_PLACES = 1_000
"""How many expressions are looked at for the objects of one class."""
PASSES_ON = ("Compose", "Sequential")
"""Classes that make one transform of several."""
GIVEN_AS = frozenset({"transform", "transforms", "target_transform", "augment", "augmentation"})


def carried_by(project: Project, facts: ClassFacts) -> ClassFacts | None:
    """The dataset that keeps an object of a class; None if none does.

    The class itself if a library's dataset keeps it, or a loader with workers collates by it.
    """
    return project.answer("carried by", facts, lambda: _find_carrier(project, facts))


def _find_carrier(project: Project, facts: ClassFacts) -> ClassFacts | None:
    budget = project.budgets.of("following objects", MOST_PLACES)
    for module in project.modules(project.where(CALL, facts.name)):
        for read in module.reads.get(facts.name, ()):
            call = module.parents.get(read)
            if not isinstance(call, ast.Call) or call.func is not read:
                continue
            if project.resolve(module, module.scope_at(call), read) == facts:
                found = _receiver(project, module, call, facts, budget)
                if found is not None:
                    return found
    return None


def _receiver(
    project: Project, module: Module, made: ast.AST, facts: ClassFacts, budget: Budget
) -> ClassFacts | None:
    """The dataset that the value of an expression comes to."""
    waiting, seen = [made], {made}
    for _ in range(MAX_HOPS):
        following: list[ast.AST] = []
        for node in waiting:
            if not budget.spend():
                return None
            above = module.parents[node]
            if isinstance(above, ast.Call) and above.func is not node and last_name(above.func) not in PASSES_ON:
                taker = _taker(project, module, above, node, facts)
                if taker is not None:
                    return taker
            elif isinstance(above, ast.Assign) and _is_on_self(above.targets[0]):
                builder = _builder(project, module, above)
                if builder is not None:
                    return builder
            else:
                following += [one for one in _next(module, node, above) if one not in seen]
                seen.update(following)
        waiting = following
    return None


def _next(module: Module, node: ast.AST, above: ast.AST) -> Iterator[ast.AST]:
    """Give the expressions that have the value of one: what it is put into, the uses of the name that it is given."""
    is_argument = isinstance(above, ast.Call) and above.func is not node
    if is_argument or isinstance(above, (ast.List, ast.Tuple, ast.keyword, ast.IfExp)):
        yield above
    elif isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
        home = module.scope_at(above).node
        for other in module.reads.get(above.targets[0].id, ()):
            if isinstance(other, ast.Name) and (home is module.tree or home in module.above(other)):
                yield other


def _is_on_self(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"


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
