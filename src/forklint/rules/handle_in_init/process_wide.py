"""Datasets that open a handle which stays for as long as the process (see ``lasting``), before their workers start.

They ask for it while they are made, or their length is read. A forked worker finds it there and reads through it; a
spawned worker imports the module anew, and opens its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from forklint.datasets.classes import is_dataset
from forklint.datasets.workers import (
    INIT_PATH,
    Run,
    reached_from,
    reached_methods,
    with_called,
    worker_methods,
)
from forklint.handles.carried import Handles, checks_process
from forklint.handles.read_early import early_calls
from forklint.handles.shapes import CLOSING_METHODS
from forklint.project.index import Project, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import all_arguments, dotted, first_parameter, is_name, last_name
from forklint.rules.handle_in_init.lasting import Kept, Lasting, is_of_class
from forklint.rules.handle_in_init.shared import Asked, SharedHandle

CLOSING = CLOSING_METHODS | {"cache_clear"}
EMPTYING = frozenset({"clear", "pop", "popitem"})
"""Methods of where a handle is kept, after which it is kept no longer."""


class ProcessWideHandles:
    """Finds such handles in one module after the other."""

    def __init__(self, project: Project, handles: Handles) -> None:
        self._project = project
        self._lasting = Lasting(project, handles)

    def in_module(self, module: Module) -> Iterator[SharedHandle]:
        """Give the handles that functions of a module keep, and that datasets open before their workers use them."""
        seen: set[str] = set()
        for kept in self._lasting.in_module(module):
            found = self._opened_early(kept) if kept.name not in seen else None
            if found is not None:
                seen.add(kept.name)
                yield found

    def _opened_early(self, kept: Kept) -> SharedHandle | None:
        """The handle with the first dataset that opens it too early, if there is one."""
        for dataset in self._near(kept):
            if not checks_process(dataset) and self._is_used(kept, dataset):
                asked = self._asked(kept, dataset)
                if asked is not None:
                    at = kept.function.module.statement_of(kept.opened.node)
                    name = _named(kept, asked[1])
                    return SharedHandle(kept.opened, at, name, dataset, used=True, pickled=False, asked=asked)
        return None

    def _near(self, kept: Kept) -> Iterator[ClassFacts]:
        """Give the datasets that may call a function: of its class, and in files that mention it."""
        owner = kept.function.owner
        classes = [owner, *self._project.subclasses(owner)] if owner is not None else []
        classes += kept.function.module.classes
        for name in dict.fromkeys((kept.function.node.name, *self._leading(kept))):
            classes += [one for module in self._project.mentioning(name) for one in module.classes]
        yield from (one for one in dict.fromkeys(classes) if is_dataset(self._project, one))

    def _leading(self, kept: Kept) -> frozenset[str]:
        """The methods of an object that keeps a handle by which it comes to be opened."""
        holder, function = kept.holder, kept.function.node
        if holder is None:
            return frozenset()

        def find() -> frozenset[str]:
            names = (name for name in holder.methods if name != "__init__")
            return frozenset(name for name in names if function in reached_from(self._project, holder, (name,)))

        return self._project.answer("methods that open", (holder, function), find)

    def _is_used(self, kept: Kept, dataset: ClassFacts) -> bool:
        methods = worker_methods(self._project, dataset).items()
        in_workers = self._runs(FunctionFacts(owner.module, function) for function, owner in methods)
        if kept.holder is not None:
            return self._opening(kept, in_workers) is not None
        return any(code is kept.function.node or _reads(code, kept.name) for _, code in in_workers)

    def _asked(self, kept: Kept, dataset: ClassFacts) -> Asked | None:
        """Where a handle is opened before the workers of a dataset start, unless it is closed by then."""
        before = self._runs(reached_methods(self._project, dataset, INIT_PATH))
        asked = self._opening(kept, before)
        if asked is not None:
            return asked if not self._is_emptied(kept, before) else None
        for call in early_calls(self._project, dataset):
            runs = self._runs(reached_methods(self._project, dataset, (call.method,)))
            if self._opening(kept, runs) is not None:
                return (call.module, call.node) if not self._is_emptied(kept, (*before, *runs)) else None
        return None

    def _runs(self, functions: Iterable[FunctionFacts]) -> list[Run]:
        """Some functions, and those that they call."""
        return list(with_called(self._project, [(one.module, one.node) for one in functions], lambda _: True))

    def _opening(self, kept: Kept, runs: list[Run]) -> Asked | None:
        """The call by which some code comes to open a handle; the opener itself, where that is in it."""
        calls = [(module, node) for module, code in runs for node in nodes_below(code) if isinstance(node, ast.Call)]
        if kept.holder is not None:
            leading = self._leading(kept)
            own = (one for one in calls if last_name(one[1].func) in leading)
            return next((one for one in own if self._is_on_holder(kept, *one)), None)
        if kept.function.node not in {code for _, code in runs}:
            return None
        names = {kept.function.node.name: None} | {code.name: None for _, code in runs if isinstance(code, FUNCTIONS)}
        named = (one for name in names for one in calls if last_name(one[1].func) == name)
        return next(named, (kept.opened.module, kept.opened.node))

    def _is_on_holder(self, kept: Kept, module: Module, call: ast.Call) -> bool:
        """Whether a method is called of an object that a module or class keeps, of the class that keeps a handle."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        scope = module.scope_at(call)
        made: ast.expr | None = None
        if isinstance(owner, ast.Attribute) and isinstance(scope.node, FUNCTIONS):
            facts = FunctionFacts(module, scope.node).owner
            if (
                facts is not None
                and is_name(owner.value, first_parameter(scope.node))
                and is_of_class(facts, owner.attr)
            ):
                module, scope, made = facts.module, facts.scope, facts.scope.bound(owner.attr)[0].value
        symbol = self._project.resolve(module, scope, owner) if owner is not None and made is None else None
        if isinstance(symbol, Value) and not isinstance(symbol.scope.node, FUNCTIONS):
            module, scope, made = symbol.module, symbol.scope, symbol.binding.value
        return isinstance(made, ast.Call) and self._project.resolve(module, scope, made.func) == kept.holder

    def _is_emptied(self, kept: Kept, before: Iterable[Run]) -> bool:
        """Whether what runs before closes something, or takes it out of where it stays; or other code does."""
        function = kept.function.node
        others = [code for _, code in before if code is not function]
        if any(_closes(node, function.name, kept.name) for code in others for node in nodes_below(code)):
            return True
        scopes = (scope.node for scope in kept.function.module.all_scopes)
        return any(_stores(node, kept.name) for node in scopes if isinstance(node, FUNCTIONS) and node is not function)


def _named(kept: Kept, asking: ast.expr) -> str:
    """Where a handle stays, by the name of the object that keeps it, where its method is called by that name."""
    owner = asking.func.value if isinstance(asking, ast.Call) and isinstance(asking.func, ast.Attribute) else None
    by_name = kept.holder is not None and isinstance(owner, ast.Name)
    return f"{owner.id}.{_last(kept.name)}" if by_name and isinstance(owner, ast.Name) else kept.name


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _reads(code: ast.AST, name: str) -> bool:
    """Whether code reads what something is called."""
    loads = (node for node in nodes_below(code) if isinstance(getattr(node, "ctx", None), ast.Load))
    return any(last_name(node) == _last(name) for node in loads)


def _stores(code: ast.AST, name: str) -> bool:
    """Whether code assigns to what something is called, as a global or an attribute."""
    nodes = list(nodes_below(code))
    is_global = any(isinstance(node, ast.Global) and name in node.names for node in nodes)
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    return any(is_name(node, name) if is_global else "." in name and dotted(node) == name for node in stored)


def _closes(node: ast.AST, function: str, name: str) -> bool:
    """Whether something is closed, or taken out of where it is kept: by a method, or by ``with``."""
    if isinstance(node, ast.withitem):
        opened = node.context_expr
        inner = all_arguments(opened) if isinstance(opened, ast.Call) else []
        return any(isinstance(one, ast.Call) and last_name(one.func) == function for one in (opened, *inner))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    method, owner = node.func.attr, node.func.value
    return method in CLOSING or (method in EMPTYING and last_name(owner) == _last(name))
