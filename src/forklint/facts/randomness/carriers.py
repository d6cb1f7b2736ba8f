"""Who carries an object of a class into worker processes: a dataset that builds it, or that is given it."""

from __future__ import annotations

import ast

from forklint.facts.datasets.classes import is_dataset
from forklint.facts.handles.carried import init_path
from forklint.facts.loading.loaders import workers_of
from forklint.facts.loading.numbers import Workers
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name

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
    return project.answer("who carries a generator", facts, lambda: _Search(project, facts).carrier())


class _Search:
    """Looks for who has the objects of one class."""

    def __init__(self, project: Project, facts: ClassFacts) -> None:
        self._project = project
        self._facts = facts
        self._budget = project.budgets.of("following objects", MOST_PLACES)

    def carrier(self) -> ClassFacts | None:
        """The dataset that keeps one of them."""
        name = self._facts.name
        for module in self._project.mentioning(name):
            for read in module.reads.get(name, ()):
                call = module.parents.get(read)
                if not isinstance(call, ast.Call) or call.func is not read:
                    continue
                if self._project.resolve(module, module.scope_at(call), read) == self._facts:
                    found = self._receiver(module, call, MAX_HOPS)
                    if found is not None:
                        return found
        return None

    def _receiver(self, module: Module, node: ast.AST, hops: int) -> ClassFacts | None:
        """The dataset that the value of an expression comes to."""
        above = module.parents[node]
        if hops <= 0 or not self._budget.spend():
            return None
        if isinstance(above, (ast.List, ast.Tuple, ast.keyword, ast.IfExp)):
            return self._receiver(module, above, hops - 1)
        if isinstance(above, ast.Call) and above.func is not node:
            if last_name(above.func) in PASSES_ON:
                return self._receiver(module, above, hops - 1)
            return _taker(self._project, module, above, node, self._facts)
        if isinstance(above, ast.Assign):
            target = above.targets[0]
            if isinstance(target, ast.Name):
                return self._user(module, module.scope_at(above).node, target.id, hops)
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                return _builder(self._project, module, above)
        return None

    def _user(self, module: Module, home: ast.AST, name: str, hops: int) -> ClassFacts | None:
        """The dataset that what a name holds comes to, within the function or module that binds it."""
        for other in module.reads.get(name, ()):
            if isinstance(other, ast.Name) and (home is module.tree or home in module.above(other)):
                found = self._receiver(module, other, hops - 1)
                if found is not None:
                    return found
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
