"""Objects with an open handle that are made for a dataset or loader: a transform, a reader, a ``collate_fn``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from forklint.facts.datasets.classes import is_dataset
from forklint.project.bindings import reaching
from forklint.project.budget import Budget
from forklint.project.index import External, Project, Symbol
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import is_name, last_name
from forklint.summaries.terms import CALL
from forklint.values.arguments import of_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import Arguments, Expression

IN_WORKERS = frozenset({"collate_fn", "worker_init_fn"})
"""Arguments of a loader, besides the dataset, that its workers call."""
MAX_STEPS = 8
"""Through how many lists, wrappers and names an object is followed."""
MOST_PLACES = 1_000
"""How many expressions are looked at for the objects of one class."""


def receiver(project: Project, kept: ClassFacts, keeps: Callable[[Arguments], bool]) -> ClassFacts | None:
    """The dataset that an object of a class is plainly handed to; the class itself, if a loader calls it.

    Only objects count of which ``keeps`` says that they keep the handle, by the arguments that they are made with.
    """
    evaluator = Evaluator(project)
    budget = project.budgets.of("following objects", MOST_PLACES)
    for module in project.modules(project.where(CALL, kept.name)):
        for read in module.reads.get(kept.name, ()):
            call = module.parents.get(read)
            if not isinstance(call, ast.Call) or call.func is not read:
                continue
            if project.resolve(module, module.scope_at(call), read) is kept:
                if not keeps(of_call(evaluator, Expression(module, module.scope_at(call), call))):
                    continue
                found = next(_Search(project, module, kept, budget).receivers(call, MAX_STEPS), None)
                if found is not None:
                    return found
    return None


def makers(project: Project, kept: ClassFacts) -> frozenset[str]:
    """The names of functions, beside a class, that return what they make of it."""
    return project.answer("functions that make objects", kept, lambda: frozenset(_find_makers(project, kept)))


def _find_makers(project: Project, kept: ClassFacts) -> Iterator[str]:
    for module in project.modules(project.where(CALL, kept.name)):
        for read in module.reads.get(kept.name, ()):
            above = [node for node in module.above(read) if isinstance(node, (*FUNCTIONS, ast.Return))]
            if len(above) > 1 and isinstance(above[0], ast.Return) and isinstance(above[1], FUNCTIONS):
                yield above[1].name


class _Search:
    """Looks for who gets one object, in one module."""

    def __init__(self, project: Project, module: Module, kept: ClassFacts, budget: Budget) -> None:
        self._project = project
        self._module = module
        self._kept = kept
        self._budget = budget
        self._seen: set[ast.AST] = set()

    def receivers(self, node: ast.expr, steps: int) -> Iterator[ClassFacts]:
        """Follow an expression outwards: into a list, an argument, a name bound once, until a dataset has it."""
        if not self._budget.spend():
            return
        inside: ast.AST = node
        above = self._module.parents.get(node)
        for _ in range(steps):
            if isinstance(above, (ast.List, ast.Tuple, ast.keyword)):
                inside, above = above, self._module.parents.get(above)
            elif isinstance(above, ast.Call) and inside is not above.func:
                symbol = self._project.resolve(self._module, self._module.scope_at(above), above.func)
                yield from self._of_call(above, inside, symbol)
                if not isinstance(symbol, (ClassFacts, External)) or not last_name(above.func)[:1].isupper():
                    return  # a function may do anything with it; a class most likely keeps it
                inside, above = above, self._module.parents.get(above)
            else:
                break
        if isinstance(above, ast.Assign) and inside is above.value and len(above.targets) == 1 and steps > 1:
            for use in self._uses(above, above.targets[0]):
                yield from self.receivers(use, steps // 2)

    def _uses(self, statement: ast.Assign, target: ast.expr) -> Iterator[ast.expr]:
        """Give the uses of a name that may still have what a statement binds it to, each once, or of ``self.x``."""
        scope = self._module.scope_at(statement)
        if isinstance(target, ast.Attribute) and is_name(target.value, "self"):
            owner = self._class_around(statement)
            for use in self._module.reads.get(target.attr, ()):
                is_own = isinstance(use, ast.Attribute) and is_name(use.value, "self")
                if is_own and owner is not None and use not in self._seen and self._class_around(use) is owner:
                    self._seen.add(use)
                    yield use
        if not isinstance(target, ast.Name):
            return
        for use in self._module.reads.get(target.id, ()):
            if isinstance(use, ast.Name) and use not in self._seen:
                found = reaching(self._module, self._module.scope_at(use), use)
                values = [binding.value for binding in found[1]] if found is not None and found[0] is scope else []
                if statement.value in values:
                    self._seen.add(use)
                    yield use

    def _class_around(self, node: ast.AST) -> ast.AST | None:
        return next((above for above in self._module.above(node) if isinstance(above, ast.ClassDef)), None)

    def _of_call(self, call: ast.Call, inside: ast.AST, symbol: Symbol | None) -> Iterator[ClassFacts]:
        if isinstance(inside, ast.keyword) and inside.arg in IN_WORKERS and last_name(call.func).endswith("DataLoader"):
            yield self._kept
        elif isinstance(symbol, ClassFacts) and is_dataset(self._project, symbol):
            yield symbol
