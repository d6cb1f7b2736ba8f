"""Whether an iterable dataset is a stream without an end: it is iterated once, and no epoch comes after."""

from __future__ import annotations

import ast

from forklint.datasets.giving import has_yield, outermost, unwrapped
from forklint.datasets.stepping import is_left
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.project.scopes import Function
from forklint.project.spelling import last_name

MAX_HOPS = 4
"""Through how many methods that hand samples on it is asked whether they end."""


def is_endless(project: Project, facts: ClassFacts) -> bool:
    """Whether objects of a class give samples without an end."""
    found = project.method(facts, "__iter__")
    return found is not None and project.method(facts, "__getitem__") is None and _never_ends(project, facts, found[1])


def _never_ends(project: Project, facts: ClassFacts, function: Function, hops: int = MAX_HOPS) -> bool:
    """Whether a method gives samples without an end, itself or by another method that it hands on."""
    for statement in outermost(function.body):
        if isinstance(statement, (ast.While, ast.For)):
            if _goes_on(statement) and has_yield(statement.body) and not is_left(statement):
                return True
            continue
        value = statement.value if isinstance(statement, (ast.Return, ast.Expr)) else None
        if isinstance(value, ast.YieldFrom):
            value = value.value
        elif isinstance(statement, ast.Expr) or value is None:
            continue
        given = unwrapped(value)
        own = _own_method(project, facts, given)
        if _is_endless_call(given) or (own is not None and hops > 0 and _never_ends(project, facts, own, hops - 1)):
            return True
    return False


def _goes_on(loop: ast.While | ast.For) -> bool:
    """Whether nothing but its body can end a loop."""
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return _is_endless_call(loop.iter)


def _is_endless_call(value: ast.expr) -> bool:
    """Whether a value is ``itertools.count()``, ``cycle(...)`` or ``repeat(x)``."""
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    return name in {"count", "cycle"} or (name == "repeat" and len(value.args) == 1 and not value.keywords)


def _own_method(project: Project, facts: ClassFacts, value: ast.expr) -> Function | None:
    """The method of a class that ``self.method(...)`` calls."""
    func = value.func if isinstance(value, ast.Call) else None
    if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"):
        return None
    found = project.method(facts, func.attr)
    return found[1] if found is not None else None
