"""Handles that a dataset does not open itself: a module or class opens them once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.datasets.classes import is_dataset
from forklint.datasets.workers import attribute_nodes, worker_methods
from forklint.handles.carried import Handles, checks_process
from forklint.handles.held import Opened
from forklint.handles.openers import Openers
from forklint.handles.shapes import CLOSING_METHODS
from forklint.project.guard import may_be_guarded
from forklint.project.index import Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Kind, Scope, statements
from forklint.project.spelling import dotted
from forklint.records import dataclass

Asked = tuple[Module, ast.expr]
"""A place in a module."""


@dataclass(frozen=True)
class SharedHandle:
    """A handle that reaches a dataset from outside its objects, or as an argument."""

    opened: Opened
    statement: ast.stmt
    """Where it is opened, or where it is handed over if it is opened in the call, or in another module."""
    name: str
    """As a message shows it."""
    dataset: ClassFacts
    used: bool
    pickled: bool
    """False at module and class level: a spawned worker imports the module and opens its own."""
    keeps: ast.stmt | None = None
    """For a handle that is handed over: the statement that keeps it."""
    asked: Asked | None = None
    """For one that a function opens and keeps: where it is called before workers start."""


class SharedHandles:
    """Finds such handles in one module after the other."""

    def __init__(self, project: Project, handles: Handles) -> None:
        self._project = project
        self._handles = handles
        self._openers = Openers(project, None, handles.openers)

    def in_module(self, module: Module) -> Iterator[SharedHandle]:
        """Give the handles that statements of a module open for datasets to share."""
        if self._handles.open_in(module):
            yield from self._of_module(module)
            for facts in module.classes:
                yield from self._of_class(facts)

    def _openings(self, module: Module, scope: Scope) -> Iterator[tuple[Binding, Opened]]:
        """Names of a scope that are bound once, to an opener's call, and not closed by the same block."""
        for name, bindings in scope.bindings.items():
            value = bindings[0].value
            if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE or not isinstance(value, ast.Call):
                continue
            row = self._openers.row(module, scope, value)
            if row is not None and not closes(scope.node.body, name):
                yield bindings[0], Opened(module, value, row)

    def _of_module(self, module: Module) -> Iterator[SharedHandle]:
        for binding, opened in self._openings(module, module.scope):
            if may_be_guarded(module, binding.node):
                continue
            for user in self._project.mentioning(binding.name):
                dataset = next((c for c in user.classes if self._reads_global(c, module, binding)), None)
                if dataset is not None:
                    statement = module.statement_of(binding.node)
                    yield SharedHandle(opened, statement, binding.name, dataset, used=True, pickled=False)
                    break

    def _reads_global(self, facts: ClassFacts, home: Module, binding: Binding) -> bool:
        if not is_dataset(self._project, facts) or checks_process(facts):
            return False
        for function, owner in worker_methods(self._project, facts).items():
            scope = owner.module.scope_of[function]
            for node in nodes_below(function):
                if isinstance(node, ast.Name) and node.id == binding.name and isinstance(node.ctx, ast.Load):
                    symbol = self._project.lookup(owner.module, scope, node.id)
                    if isinstance(symbol, Value) and symbol.module is home and symbol.binding is binding:
                        return True
        return False

    def _of_class(self, facts: ClassFacts) -> Iterator[SharedHandle]:
        for binding, opened in self._openings(facts.module, facts.scope):
            for dataset in (facts, *self._project.subclasses(facts)):
                if is_dataset(self._project, dataset) and reads(self._project, dataset, binding.name):
                    statement = facts.module.statement_of(binding.node)
                    name = f"{facts.name}.{binding.name}"
                    yield SharedHandle(opened, statement, name, dataset, used=True, pickled=False)
                    break


def reads(project: Project, dataset: ClassFacts, attribute: str) -> bool:
    """Whether what a dataset does in workers reads an attribute."""
    methods = worker_methods(project, dataset)
    return any(node.attr == attribute for function in methods for node in attribute_nodes(function))


def closes(body: list[ast.stmt], name: str) -> bool:
    """Whether a block, or one in it, calls ``name.close()`` as a statement, or deletes the name."""
    for statement in statements(body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        gone = statement.targets if isinstance(statement, ast.Delete) else []
        if isinstance(function, ast.Attribute) and function.attr in CLOSING_METHODS:
            gone = [function.value]
        if any(dotted(one) == name for one in gone):
            return True
    return False
