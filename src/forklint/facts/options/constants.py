"""What an expression surely is: a constant, something other than None, an object of some class."""

from __future__ import annotations

import ast
import re

from forklint.knowledge.starters import iteration
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import Kind, Scope

MAX_HOPS = 8
CLASS_NAME = re.compile(r"_*[A-Z]\w*[a-z]\w*$")
"""The usual spelling of a class: its call gives an object, never None."""


class Unknown:
    """Stands for a value that the text does not tell."""


UNKNOWN = Unknown()
Constant = str | bytes | int | float | bool | None | Unknown


def constant(project: Project, module: Module, scope: Scope, expression: ast.expr, hops: int = MAX_HOPS) -> Constant:
    """The constant that an expression is, by names that are bound once in the module; UNKNOWN for any other."""
    if isinstance(expression, ast.Constant):
        value = expression.value
        return value if value is None or isinstance(value, (str, bytes, int, float)) else UNKNOWN
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        number = constant(project, module, scope, expression.operand, hops - 1)
        return -number if isinstance(number, (int, float)) else UNKNOWN
    found = _bound(project, module, scope, expression) if hops > 0 else None
    if found is None or found.binding.value is None:
        return UNKNOWN
    return constant(project, found.module, found.scope, found.binding.value, hops - 1)


def is_something(project: Project, module: Module, scope: Scope, expression: ast.expr, hops: int = MAX_HOPS) -> bool:
    """Whether an expression is surely not None: a constant, a display, an object of a class."""
    if isinstance(expression, ast.Constant):
        return expression.value is not None
    if isinstance(expression, (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.Lambda, ast.JoinedStr)):
        return True
    if isinstance(expression, ast.Call):
        symbol = project.resolve(module, scope, expression.func)
        if isinstance(symbol, ClassFacts):
            return is_certain(project, module, scope, expression.func) and project.method(symbol, "__new__") is None
        name = symbol.name if isinstance(symbol, External) else ""
        if not is_certain(project, module, scope, expression.func):
            return False
        return name in iteration().contexts or (
            bool(CLASS_NAME.match(name.rpartition(".")[2])) and name.startswith("torch")
        )
    found = _bound(project, module, scope, expression) if hops > 0 else None
    if found is None or found.binding.value is None:
        return False
    return is_something(project, found.module, found.scope, found.binding.value, hops - 1)


def class_of(
    project: Project, module: Module, scope: Scope, expression: ast.expr, hops: int = MAX_HOPS
) -> ClassFacts | None:
    """The class of the project that an expression is surely an object of."""
    if isinstance(expression, ast.Call):
        symbol = project.resolve(module, scope, expression.func)
        certain = isinstance(symbol, ClassFacts) and is_certain(project, module, scope, expression.func)
        return symbol if certain and isinstance(symbol, ClassFacts) else None
    found = _bound(project, module, scope, expression) if hops > 0 else None
    if found is None or found.binding.value is None:
        return None
    return class_of(project, found.module, found.scope, found.binding.value, hops - 1)


def _bound(project: Project, module: Module, scope: Scope, expression: ast.expr) -> Value | None:
    """What a bare name is bound to, once and for all."""
    if not isinstance(expression, ast.Name):
        return None
    symbol = project.lookup(module, scope, expression.id)
    if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE:
        return None
    return symbol if is_certain(project, module, scope, expression) else None
