"""Which classes are there to be derived from, and of which no object can exist."""

from __future__ import annotations

import ast
import re

from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.project.scopes import Function
from forklint.project.spelling import dotted, last_name

BASE_NAME = re.compile(r"^_*(?:Base|Abstract|I[A-Z][a-z])|(?:Base|Interface|Protocol|ABC)\d*$")
ABSTRACT = "abstract"
ABSTRACT_BASES = frozenset({"ABC", "Protocol"})
ABSTRACT_METACLASS = "ABCMeta"
NOT_IMPLEMENTED = frozenset({"NotImplementedError", "NotImplemented"})


def is_for_others(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is there to be derived from: by its name, its own bases, or methods that it leaves open.

    A method is left open that is abstract, or public with nothing in it but ``raise NotImplementedError``.
    """
    if BASE_NAME.search(facts.name) or _is_declared_abstract(facts) or _leaves_abstract(project, facts):
        return True
    return any(not name.startswith("_") and _raises(function) for name, function in facts.methods.items())


def can_be_made(project: Project, facts: ClassFacts) -> bool:
    """Whether an object of exactly this class can exist, as far as its constructor and abstract methods tell."""
    constructor = project.method(facts, "__init__")
    if constructor is not None and _raises(constructor[1]):
        return False
    return not (_leaves_abstract(project, facts) and _is_checked(project, facts))


def _is_declared_abstract(facts: ClassFacts) -> bool:
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in facts.node.bases)
    return any(last_name(base) in ABSTRACT_BASES for base in bases) or _has_abstract_metaclass(facts)


def _has_abstract_metaclass(facts: ClassFacts) -> bool:
    return any(last_name(keyword.value) == ABSTRACT_METACLASS for keyword in facts.node.keywords)


def _is_checked(project: Project, facts: ClassFacts) -> bool:
    """Whether Python refuses to make an object while a method is abstract."""
    ancestry = project.ancestry(facts)
    if any(map(_has_abstract_metaclass, ancestry.classes)):
        return True
    return any(name.rpartition(".")[2] in ABSTRACT_BASES for name in ancestry.external)


def _leaves_abstract(project: Project, facts: ClassFacts) -> bool:
    """Whether a method of a base is still abstract here, whether or not the metaclass is told of it."""
    return any(
        ABSTRACT in dotted(decorator)
        for owner in project.ancestry(facts).classes
        for name, function in owner.methods.items()
        if function.decorator_list and _first_to_bind(project, facts, name) is owner
        for decorator in function.decorator_list
    )


def _first_to_bind(project: Project, facts: ClassFacts, name: str) -> ClassFacts | None:
    """The class from which an object gets a name, as a method or as an attribute of the class."""
    return next((one for one in project.ancestry(facts).classes if name in one.scope.bindings), None)


def _raises(function: Function) -> bool:
    """Whether a function does nothing but raise NotImplementedError, whatever stands in its docstring."""
    body = [one for one in function.body if not _is_empty(one)]
    raised = body[0].exc if len(body) == 1 and isinstance(body[0], ast.Raise) else None
    return last_name(raised.func if isinstance(raised, ast.Call) else raised) in NOT_IMPLEMENTED


def _is_empty(statement: ast.stmt) -> bool:
    """Whether a statement is ``pass``, a docstring or ``...``."""
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant or isinstance(statement, ast.Pass)
