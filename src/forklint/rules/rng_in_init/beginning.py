"""Whether the constructor of a class surely calls a method of a base, and nothing else does."""

from __future__ import annotations

import ast

from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.project.scopes import Function
from forklint.project.spelling import first_parameter, is_name


def begins_with(project: Project, facts: ClassFacts, base: ClassFacts, method: Function) -> bool:
    """Whether ``__init__`` of a class has a statement of its own that calls a method of a base on its object.

    No if that is called on another object anywhere: to start anew in a worker, or between epochs.
    """
    if project.method(facts, method.name) != (base, method):
        return False
    found = project.method(facts, "__init__")
    me = first_parameter(found[1]) if found is not None else ""
    begun = [_called(one, me) for one in (found[1].body if found is not None else ())]
    return method.name in begun and not _is_called_from_outside(project, method.name)


def _called(statement: ast.stmt, me: str) -> str:
    """The method that a statement calls of the object at hand."""
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    func = call.func if isinstance(call, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) and _is_own(func.value, me) else ""


def _is_own(node: ast.expr, me: str) -> bool:
    return is_name(node, me) or (isinstance(node, ast.Call) and is_name(node.func, "super"))


def _is_called_from_outside(project: Project, name: str) -> bool:
    def find() -> bool:
        calls = (call for module in project.mentioning(f".{name}(") for call in module.calls_of((name,)))
        owners = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
        return any(not _is_own(owner, "self") for owner in owners)

    return project.answer("called from outside", name, find)
