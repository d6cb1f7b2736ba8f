"""Which decorators of classes give back the class itself, with nothing added to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from forklint.project.index import External, Project, Symbol, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Scope, statements
from forklint.project.spelling import dotted, is_name, is_static, last_name

HARMLESS = frozenset(
    {"dataclass", "dataclasses.dataclass", "final", "typing.final", "total_ordering", "functools.total_ordering"}
    | {"typing_extensions.final", "runtime_checkable", "typing.runtime_checkable", "unique", "enum.unique"}
)
"""As they are spelt."""
REGISTERING = "register"
"""So begin the names of the decorators by which libraries list classes: ``register_module``, ``register_model``."""
MOST_CALLS = 3
"""So many functions in a row are followed that hand a class to one another."""
ADDED = frozenset({"__dict__", "__class__", "__bases__"})
"""By these a function may give an object whatever it likes."""

MayAdd = Callable[[Module, str], bool]
"""Whether a function, by its name in a module, may add attributes to what it gets."""


def keeps_class(project: Project, module: Module, scope: Scope, decorator: ast.expr, may_add: MayAdd) -> bool:
    """Whether a class is what it was before, once it is decorated; False where that is not known."""
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    if dotted(callee) in HARMLESS:
        return True
    found = _decorator(project, module, scope, callee)
    if isinstance(found, ClassFacts) and isinstance(decorator, ast.Call):
        called = project.method(found, "__call__")
        found = FunctionFacts(called[0].module, called[1]) if called is not None else None
    if isinstance(found, FunctionFacts):
        return _Followed(project, may_add).keeps(found, MOST_CALLS)
    return isinstance(found, External) and found.name.rpartition(".")[2].startswith(REGISTERING)


def leaves_alone(module: Module, function: Function, parameter: str, may_add: MayAdd) -> bool:
    """Whether a function gives its parameter no attributes of which the names are not written out."""
    for node in nodes_below(function):
        if isinstance(node, ast.Attribute) and node.attr in ADDED and is_name(node.value, parameter):
            if node.attr != "__class__" or not isinstance(node.ctx, ast.Load):
                return False
        elif isinstance(node, ast.Call) and any(is_name(one, parameter) for one in node.args):
            callee = dotted(node.func)
            if callee and not _names_what_it_sets(node) and may_add(module, callee):
                return False
    return True


def _names_what_it_sets(call: ast.Call) -> bool:
    return last_name(call.func) == "setattr" and len(call.args) > 1 and isinstance(call.args[1], ast.Constant)


def _decorator(project: Project, module: Module, scope: Scope, callee: ast.expr) -> Symbol | None:
    """What a decorator is: also a method of an object that the project makes once, such as a registry."""
    found = project.resolve(module, scope, callee)
    if found is not None or not isinstance(callee, ast.Attribute):
        return found
    made = callee.value
    owner = project.resolve(module, scope, made)
    if isinstance(owner, Value):
        return _method(project, owner.module, owner.scope, owner.binding.value, callee.attr)
    holder = project.resolve(module, scope, made.value) if isinstance(made, ast.Attribute) else None
    kept = holder.scope.bindings.get(last_name(made), []) if isinstance(holder, ClassFacts) else []
    if not isinstance(holder, ClassFacts) or len(kept) != 1:
        return None
    return _method(project, holder.module, holder.scope, kept[0].value, callee.attr)


def _method(project: Project, module: Module, scope: Scope, made: ast.expr | None, name: str) -> Symbol | None:
    """A method of the object that an expression makes."""
    owner = project.resolve(module, scope, made.func) if isinstance(made, ast.Call) else None
    return project.member(owner, name) if owner is not None else None


class _Followed:
    """Follows what a decorator returns."""

    def __init__(self, project: Project, may_add: MayAdd) -> None:
        self._project = project
        self._may_add = may_add

    def keeps(self, facts: FunctionFacts, calls: int) -> bool:
        """Whether a function returns the class that it is given, or another function that does."""
        own = [*facts.node.args.posonlyargs, *facts.node.args.args]
        first = own[1:] if facts.owner is not None and not is_static(facts.node) else own
        given = {one.arg for one in first if len(facts.scope.bindings[one.arg]) == 1}
        returned = [value for value in _returned(facts.node) if value is not None]
        return bool(returned) and all(self._is_kept(facts, given, value, calls) for value in returned)

    def _is_kept(self, facts: FunctionFacts, given: set[str], value: ast.expr, calls: int) -> bool:
        if isinstance(value, ast.Constant):
            return value.value is None
        if isinstance(value, ast.Lambda):
            own = {one.arg for one in value.args.args}
            if isinstance(value.body, ast.Call):
                return bool(own) and self._is_kept(facts, own, value.body, calls)
            return bool(value.args.args) and is_name(value.body, value.args.args[0].arg)
        if isinstance(value, ast.Name) and value.id in given:
            return leaves_alone(facts.module, facts.node, value.id, self._may_add)
        if isinstance(value, ast.Call) and not any(isinstance(one, ast.Name) and one.id in given for one in value.args):
            return False
        callee = value.func if isinstance(value, ast.Call) else value
        found = self._called(facts, callee) if calls else None
        return found is not None and self.keeps(found, calls - 1)

    def _called(self, facts: FunctionFacts, callee: ast.expr) -> FunctionFacts | None:
        """A function of the project, or a method of the object that the decorator belongs to."""
        found = self._project.resolve(facts.module, facts.scope, callee)
        if isinstance(found, FunctionFacts):
            return found
        if found is None and isinstance(callee, ast.Attribute) and facts.owner is not None:
            method = self._project.method(facts.owner, callee.attr) if is_name(callee.value, "self") else None
            return FunctionFacts(method[0].module, method[1]) if method is not None else None
        return None


def _returned(function: Function) -> Iterator[ast.expr | None]:
    """What the function's own ``return`` statements return."""
    return (one.value for one in statements(function.body) if isinstance(one, ast.Return))
