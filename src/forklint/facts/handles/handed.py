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


def receiver(project: Project, kept: ClassFacts) -> ClassFacts | None:
    """The dataset that an object of a class is plainly handed to; the class itself, if a loader calls it."""
    for module in project.mentioning(kept.name):
        for node in module.nodes:
            if isinstance(node, ast.Call) and last_name(node.func) == kept.name:
                if project.resolve(module, module.scope_at(node), node.func) is not kept:
                    continue
                found = next(_receivers(project, module, node, kept, MAX_STEPS), None)
                if found is not None:
                    return found
    return None


def _receivers(project: Project, module: Module, node: ast.expr, kept: ClassFacts, steps: int) -> Iterator[ClassFacts]:
    """Follow an expression outwards: into a list, an argument, a name that is bound once, until a dataset has it."""
    inside: ast.AST = node
    above = module.parents.get(node)
    for _ in range(steps):
        if isinstance(above, (ast.List, ast.Tuple, ast.keyword)):
            inside, above = above, module.parents.get(above)
        elif isinstance(above, ast.Call) and inside is not above.func:
            yield from _of_call(project, module, above, inside, kept)
            symbol = project.resolve(module, module.scope_at(above), above.func)
            if not isinstance(symbol, (ClassFacts, External)) or not last_name(above.func)[:1].isupper():
                return  # a function may do anything with it; a class most likely keeps it
            inside, above = above, module.parents.get(above)
        else:
            break
    if isinstance(above, ast.Assign) and inside is above.value and len(above.targets) == 1 and steps > 1:
        target = above.targets[0]
        scope = module.scope_at(above)
        if isinstance(target, ast.Name) and len(scope.bindings.get(target.id, ())) == 1:
            for other in module.nodes:
                if isinstance(other, ast.Name) and other.id == target.id and isinstance(other.ctx, ast.Load):
                    found = module.scope_at(other).find(other.id)
                    if found is not None and found[0] is scope:
                        yield from _receivers(project, module, other, kept, steps // 2)


def _of_call(
    project: Project, module: Module, call: ast.Call, inside: ast.AST, kept: ClassFacts
) -> Iterator[ClassFacts]:
    if isinstance(inside, ast.keyword) and inside.arg in IN_WORKERS and last_name(call.func).endswith("DataLoader"):
        yield kept
        return
    symbol = project.resolve(module, module.scope_at(call), call.func)
    if isinstance(symbol, ClassFacts) and is_dataset(project, symbol):
        yield symbol
