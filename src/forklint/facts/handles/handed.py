"""Objects with an open handle that are made for a dataset or loader: a transform, a reader, a ``collate_fn``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.facts.datasets.classes import is_dataset
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.spelling import last_name

IN_WORKERS = frozenset({"collate_fn", "worker_init_fn"})
"""Arguments of a loader, besides the dataset, that its workers call."""
MAX_STEPS = 8
"""Through how many lists, wrappers and names an object is followed."""
MOST_PLACES = 1_000
"""How many expressions are looked at for the objects of one class."""


def receiver(project: Project, kept: ClassFacts) -> ClassFacts | None:
    """The dataset that an object of a class is plainly handed to; the class itself, if a loader calls it."""
    search = _Search(project, kept)
    for module in project.mentioning(kept.name):
        for read in module.reads.get(kept.name, ()):
            call = module.parents.get(read)
            if not isinstance(call, ast.Call) or call.func is not read:
                continue
            if project.resolve(module, module.scope_at(call), read) is kept:
                found = next(search.outwards(module, call, MAX_STEPS), None)
                if found is not None:
                    return found
    return None


class _Search:
    """Looks for who has the objects of one class."""

    def __init__(self, project: Project, kept: ClassFacts) -> None:
        self._project = project
        self._kept = kept
        self._budget = project.budgets.of("following objects", MOST_PLACES)

    def outwards(self, module: Module, node: ast.expr, steps: int) -> Iterator[ClassFacts]:
        """Follow an expression into a list, an argument, a name that is bound once, until a dataset has it."""
        if not self._budget.spend():
            return
        inside: ast.AST = node
        above = module.parents.get(node)
        for _ in range(steps):
            if isinstance(above, (ast.List, ast.Tuple, ast.keyword)):
                inside, above = above, module.parents.get(above)
            elif isinstance(above, ast.Call) and inside is not above.func:
                yield from self._of_call(module, above, inside)
                symbol = self._project.resolve(module, module.scope_at(above), above.func)
                if not isinstance(symbol, (ClassFacts, External)) or not last_name(above.func)[:1].isupper():
                    return  # a function may do anything with it; a class most likely keeps it
                inside, above = above, module.parents.get(above)
            else:
                break
        if isinstance(above, ast.Assign) and inside is above.value and len(above.targets) == 1 and steps > 1:
            target = above.targets[0]
            scope = module.scope_at(above)
            if isinstance(target, ast.Name) and len(scope.bindings.get(target.id, ())) == 1:
                for other in module.reads.get(target.id, ()):
                    found = module.scope_at(other).find(target.id) if isinstance(other, ast.Name) else None
                    if found is not None and found[0] is scope:
                        yield from self.outwards(module, other, steps // 2)

    def _of_call(self, module: Module, call: ast.Call, inside: ast.AST) -> Iterator[ClassFacts]:
        if isinstance(inside, ast.keyword) and inside.arg in IN_WORKERS and last_name(call.func).endswith("DataLoader"):
            yield self._kept
            return
        symbol = self._project.resolve(module, module.scope_at(call), call.func)
        if isinstance(symbol, ClassFacts) and is_dataset(self._project, symbol):
            yield symbol
