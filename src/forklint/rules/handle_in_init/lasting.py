"""Handles that a function opens and that stay for as long as the process: in a global, on a class, in a cache."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from forklint.datasets.classes import is_dataset
from forklint.handles.carried import PROCESS_CHECKS, Handles
from forklint.handles.held import Opened
from forklint.handles.openers import Openers
from forklint.handles.per_process import PROCESS_CALLS, tells_process
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import first_parameter, is_name, last_name

CACHES = frozenset({"functools.cache", "functools.lru_cache", "cachetools.cached", "cachetools.func.lru_cache"})
"""Decorators that keep what a function returned for some arguments."""


class Kept(NamedTuple):
    """A handle that a function opens and that stays after it has returned."""

    function: FunctionFacts
    opened: Opened
    name: str
    """Where it stays, as a message shows it: ``files``, ``Records.env``, ``handle()``."""
    holder: ClassFacts | None = None
    """The class of the object that keeps it, which stays only if a module or class keeps that object."""


class Lasting:
    """Finds such handles in one module after the other."""

    def __init__(self, project: Project, handles: Handles) -> None:
        self._project = project
        self._handles = handles
        self._openers = Openers(project, None, handles.openers)

    def in_module(self, module: Module) -> Iterator[Kept]:
        """Give the handles that functions of a module keep, but those that are kept for each process by itself."""
        if not self._handles.open_in(module) or b"register_at_fork" in module.source.data:
            return
        for scope in module.all_scopes:
            node = scope.node
            function = FunctionFacts(module, node) if isinstance(node, FUNCTIONS) else None
            if function is None or not self._handles.opens(function) or _asks_process(function.node):
                continue
            for call in nodes_below(node):
                if not isinstance(call, ast.Call) or module.scope_at(call) is not scope:
                    continue
                row = self._openers.row(module, scope, call)
                if row is not None:
                    yield from self._kept(function, Opened(module, call, row))

    def _kept(self, function: FunctionFacts, opened: Opened) -> Iterator[Kept]:
        name = self._place(function, opened.node)
        if name:
            yield Kept(function, opened, name)
        owner = function.owner
        if name or owner is None or function.node.name == "__init__" or is_dataset(self._project, owner):
            return
        for target in _assigned(function, opened.node):
            part = target.value if isinstance(target, ast.Subscript) else target
            key = target.slice if isinstance(target, ast.Subscript) else None
            if key is not None and tells_process(function.scope, key):
                continue
            if isinstance(part, ast.Attribute) and is_name(part.value, first_parameter(function.node)):
                yield Kept(function, opened, f"{owner.name}.{part.attr}", owner)

    def _place(self, function: FunctionFacts, call: ast.AST) -> str:
        """Where what a call in a function gives stays; empty if nowhere, or with an object."""
        above = function.module.parents.get(call)
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and call in above.args[1:]:
            is_kept = above.func.attr == "setdefault"
            return self._container(function, above.func.value, above.args[0]) if is_kept else ""
        targets = _assigned(function, call)
        cache = self._cache(function)
        values = [call, *(target for target in targets if isinstance(target, ast.Name))]
        returned = [node.value for node in nodes_below(function.node) if cache and isinstance(node, ast.Return)]
        if any(_is_same(one, value) for one in returned for value in values):
            return cache
        return next(filter(None, (self._stored(function, target) for target in targets)), "")

    def _cache(self, function: FunctionFacts) -> str:
        """How the cache of a function is called; empty if it has none."""
        outside = function.scope.parent or function.module.scope
        for mark in function.node.decorator_list:
            plain = mark.func if isinstance(mark, ast.Call) else mark
            if self._project.qualified(function.module, outside, plain) in CACHES:
                return f"{function.node.name}()"
        return ""

    def _stored(self, function: FunctionFacts, target: ast.expr) -> str:
        """The name of what a function assigns to, if that is a global, a part of one, or belongs to a class."""
        if isinstance(target, ast.Name):
            found = function.scope.find(target.id)
            return target.id if found is not None and found[0] is function.module.scope else ""
        if isinstance(target, ast.Subscript):
            return self._container(function, target.value, target.slice)
        owner = self._lasting(function, target.value) if isinstance(target, ast.Attribute) else ""
        return f"{owner}.{target.attr}" if owner and isinstance(target, ast.Attribute) else ""

    def _container(self, function: FunctionFacts, container: ast.expr, key: ast.expr) -> str:
        return self._lasting(function, container) if not tells_process(function.scope, key) else ""

    def _lasting(self, function: FunctionFacts, owner: ast.expr) -> str:
        """The name of an object that lives as long as the process; empty if it is none."""
        facts, own = function.owner, first_parameter(function.node)
        if isinstance(owner, ast.Name):
            found = function.scope.find(owner.id)
            if found is not None and found[0] is function.module.scope:
                return owner.id
            is_class = any(last_name(mark) == "classmethod" for mark in function.node.decorator_list)
            return facts.name if facts is not None and owner.id == own and is_class else ""
        if isinstance(owner, ast.Call) and is_name(owner.func, "type"):
            return facts.name if facts is not None else ""
        if not isinstance(owner, ast.Attribute):
            return ""
        if facts is not None and is_name(owner.value, own) and is_of_class(facts, owner.attr):
            return facts.name if owner.attr == "__class__" else f"{facts.name}.{owner.attr}"
        above = self._lasting(function, owner.value)
        return f"{above}.{owner.attr}" if above else ""


def is_of_class(facts: ClassFacts, attribute: str) -> bool:
    """Whether an attribute is a class's own, and none of its objects has another of that name."""
    if attribute == "__class__":
        return True
    stored = {
        node.attr
        for method in facts.methods.values()
        for node in nodes_below(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and is_name(node.value, first_parameter(method))
    }
    return bool(facts.scope.bound(attribute)) and attribute not in stored


def _assigned(function: FunctionFacts, call: ast.AST) -> list[ast.expr]:
    """What a function assigns the value of a call to, at once or by a name of its own."""
    targets = _targets(function.module.statement_of(call), call)
    for name in [one for one in targets if isinstance(one, ast.Name) and function.scope.own(one.id)]:
        for other in nodes_below(function.node):
            if isinstance(other, ast.Assign) and is_name(other.value, name.id):
                targets += other.targets
    return targets


def _targets(statement: ast.stmt, value: ast.AST) -> list[ast.expr]:
    if isinstance(statement, ast.Assign) and statement.value is value:
        return list(statement.targets)
    if isinstance(statement, ast.AnnAssign) and statement.value is value:
        return [statement.target]
    return []


def _is_same(node: ast.AST | None, value: ast.AST) -> bool:
    """Whether a node is another, or the same name."""
    return node is value or (isinstance(value, ast.Name) and is_name(node, value.id))


def _asks_process(function: Function) -> bool:
    """Whether a function asks which process it runs in."""
    return any(last_name(node) in {*PROCESS_CALLS, *PROCESS_CHECKS} for node in nodes_below(function))
