"""What the methods of a class assign to attributes of its objects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import entries, scopes
from forklint.project.spelling import last_name, text_of

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts

    Assigned = tuple[ast.stmt, ast.expr | None]


def has_own(project: Project, facts: ClassFacts, name: str) -> bool:
    """Whether a class has an attribute of its own, in its body or set by a method."""
    if name in facts.scope.bindings:
        return True
    return any(name in assigned(project, method, "self") for method in facts.methods.values())


def has_heir_with(project: Project, facts: ClassFacts, name: str) -> bool:
    """Whether a class that inherits from one has an attribute of its own."""

    def find() -> bool:
        return any(has_own(project, heir, name) for heir in project.subclasses(facts, word=name))

    return project.answer("heirs that have an attribute", (facts, name), find)


def assigned(project: Project, function: scopes.Function, first: str) -> dict[str, list[Assigned]]:
    """What a method assigns to attributes of its object, by their names: the statements, each with its plain value."""
    return project.answer("what a method assigns", (function, first), lambda: _find(function, first))


def _find(function: scopes.Function, first: str) -> dict[str, list[Assigned]]:
    found: dict[str, list[Assigned]] = {}
    for statement in scopes.statements(function.body):
        for attribute, value in entries.stored(statement, first):
            found.setdefault(attribute, []).append((statement, value))
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and last_name(call.func) == "register_buffer":
            named = dict(zip(("name", "tensor"), call.args, strict=False))
            found.setdefault(text_of(named.get("name")), []).append((statement, named.get("tensor")))
    return found
