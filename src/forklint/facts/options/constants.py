"""What an expression surely is: a constant, something other than None, an object of some class."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from forklint.knowledge.starters import iteration
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import Binding, Kind, Scope

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
    """What a name, or an attribute of a module, a class or ``self``, is bound to, once and for all."""
    if isinstance(expression, ast.Attribute):
        return _bound_attribute(project, module, scope, expression)
    if not isinstance(expression, ast.Name):
        return None
    symbol = project.lookup(module, scope, expression.id)
    if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE:
        return None
    return symbol if is_certain(project, module, scope, expression) else None


def _bound_attribute(project: Project, module: Module, scope: Scope, expression: ast.Attribute) -> Value | None:
    name = expression.attr
    if isinstance(expression.value, ast.Name) and expression.value.id == "self":
        home = scope.parent.node if scope.parent else None
        return _bound_on_self(project, module.class_facts(home), name) if isinstance(home, ast.ClassDef) else None
    if _stores(project, name):
        return None
    owner = project.resolve(module, scope, expression.value)
    if isinstance(owner, Module):
        symbol = project.resolve(module, scope, expression)
        if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE:
            return None
        return symbol if is_certain(project, module, scope, expression) else None
    is_sure = isinstance(owner, ClassFacts) and is_certain(project, module, scope, expression.value)
    if not is_sure or project.ancestry(owner).external:  # type: ignore[arg-type]
        return None  # the members of an Enum, say, are no constants
    return _bound_in_body(owner, name)  # type: ignore[arg-type]


def _bound_in_body(facts: ClassFacts, name: str) -> Value | None:
    bindings = facts.scope.bindings.get(name, [])
    is_plain = len(bindings) == 1 and bindings[0].kind is Kind.VALUE and not facts.node.keywords
    return Value(facts.module, facts.scope, bindings[0]) if is_plain else None


def _bound_on_self(project: Project, facts: ClassFacts, name: str) -> Value | None:
    """An attribute of objects of a class: of its body, or stored by one statement of ``__init__`` and no other."""
    others = [*project.ancestry(facts).classes[1:], *project.subclasses(facts)]
    if any(name in other.scope.bindings for other in others):
        return None
    number = _stores(project, name)
    if not number:
        return _bound_in_body(facts, name)
    init = facts.methods.get("__init__")
    if init is None or name in facts.scope.bindings or number > 1:
        return None
    for statement in init.body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "attr", "") == name:
            binding = Binding(name, Kind.VALUE, statement, statement.value)
            return Value(facts.module, facts.module.scope_of[init], binding)
    return None


def _stores(project: Project, name: str) -> int:
    """How many lines of the project may store an attribute of this name, on whatever object."""
    find = lambda: sum(_stores_in(project, path, name) for path in project.containing(name.encode()))  # noqa: E731
    return project.answer("lines that store a name", name, find, compared=True)


def _stores_in(project: Project, path: Path, name: str) -> int:
    find = lambda: len(_storing(name).findall(project.data(path)))  # noqa: E731 - it is short
    return project.answer("lines of a file that store a name", (path, name), find, compared=True)


@cache
def _storing(name: str) -> re.Pattern[bytes]:
    word = name.encode()
    return re.compile(rb"^[^\n=(]*\.%b\b[^\n=()]*=(?!=)|setattr\([^\n]*%b" % (word, word), re.MULTILINE)
