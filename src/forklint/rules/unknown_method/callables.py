"""Which names of a project class can be called for certain, so that a call may have meant them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Scope, statements
from forklint.project.spelling import dotted, first_parameter


def callables(project: Project, facts: ClassFacts, *, attributes: bool = True) -> frozenset[str]:
    """Names of the methods of a class and its bases in the project, and of attributes that hold callables alone.

    Left out are properties, and attributes of which one assignment at least is not known to give a callable.
    """
    values = project.answer("attributes that can be called", facts, lambda: _values(project, facts))
    certain = frozenset(name for name, given in values.items() if all(given))
    if attributes:
        return certain
    return certain & {name for owner in project.ancestry(facts).classes for name in owner.methods}


def _values(project: Project, facts: ClassFacts) -> dict[str, list[bool]]:
    """By name: for each value that the class or a base gives it, whether that can be called."""
    values: dict[str, list[bool]] = {}
    for owner in project.ancestry(facts).classes:
        for name, can_be_called in _given(project, owner):
            values.setdefault(name, []).append(can_be_called)
    return values


def _given(project: Project, facts: ClassFacts) -> Iterator[tuple[str, bool]]:
    """Each binding in a class body, and each assignment through ``self``, with whether it gives a callable."""
    for statement in statements(facts.node.body):
        if isinstance(statement, FUNCTIONS):
            yield statement.name, not _is_property(statement)
            yield from _stored(project, facts.module, statement)
        elif isinstance(statement, ast.ClassDef):
            yield statement.name, True
        else:
            for name, value in _assigned(statement):
                yield name, value is not None and _can_be_called(project, facts.module, facts.scope, value)


def _stored(project: Project, module: Module, method: Function) -> Iterator[tuple[str, bool]]:
    me = first_parameter(method)
    scope = module.scope_of[method]
    for node in nodes_below(method):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and dotted(node.value) == me:
            above = module.parents[node]
            value = above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) else None
            yield node.attr, value is not None and _can_be_called(project, module, scope, value)


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    for node in nodes_below(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, value


def _can_be_called(project: Project, module: Module, scope: Scope, value: ast.expr) -> bool:
    """Whether a value is a lambda, or an object whose class says that it can be called: a module of torch, say."""
    if isinstance(value, ast.Lambda):
        return True
    if not isinstance(value, ast.Call):
        return False
    made = project.resolve(module, scope, value.func)
    if isinstance(made, ClassFacts):
        bases = project.ancestry(made).external
        called = project.method(made, "__call__") or project.method(made, "forward")
        return called is not None or any(base.startswith("torch.nn.") for base in bases)
    parts = made.name.split(".") if isinstance(made, External) else []
    return parts[:2] == ["torch", "nn"] and parts[-1][:1].isupper() and parts[-1] not in CONTAINERS


CONTAINERS = frozenset({"Parameter", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Buffer"})
"""What torch.nn makes that cannot be called."""


def _is_property(function: Function) -> bool:
    last = (dotted(decorator).rpartition(".")[2] for decorator in function.decorator_list)
    return any(name.endswith("property") or name in {"setter", "getter", "deleter"} for name in last)
