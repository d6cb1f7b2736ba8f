"""Which call makes a loader: the row of starters.toml for what it names, and whether it is surely that one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge import presets
from forklint.knowledge.starters import Starter, starters
from forklint.project.certainty import has_certain_bases, is_certain
from forklint.project.index import External, Project, Symbol
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Kind, Scope
from forklint.project.spelling import first_parameter, last_name, takes_class
from forklint.values.model import Expression

PARTIAL = frozenset({"functools.partial"})
HARMLESS_BASES = frozenset({"typing.Generic", "typing_extensions.Generic", "abc.ABC", "builtins.object"})
"""Bases that have no word in how an object is made."""
MAKING = ("__init__", "__new__", "__init_subclass__")


def loader_row(project: Project, module: Module, scope: Scope, call: ast.Call) -> Starter | None:
    """The row for a call that makes a loader, a subclass's, or a partial that will; None if it makes none."""
    return _row(project, Expression(module, scope, call), call.func)


def row_above(project: Project, facts: ClassFacts) -> Starter | None:
    """The row of a loader that a class of the project inherits from; None if it is no loader."""
    return next((row for row in rows_above(project, facts) if row.is_loader), None)


def rows_above(project: Project, facts: ClassFacts) -> Iterator[Starter]:
    """Give the rows, of loaders and of others, that a class of the project inherits from."""
    rows = starters(project.settings.starters)
    return (rows[name] for name in project.ancestry(facts).external if name in rows)


def partial_of(project: Project, symbol: Symbol | None) -> Expression | None:
    """The call of ``functools.partial`` that a name is bound to."""
    value = symbol.binding.value if isinstance(symbol, Bound) else None
    if not isinstance(symbol, Bound) or not isinstance(value, ast.Call):
        return None
    is_partial = project.qualified(symbol.module, symbol.scope, value.func) in PARTIAL
    return Expression(symbol.module, symbol.scope, value) if is_partial else None


def _row(project: Project, call: Expression, function: ast.expr) -> Starter | None:
    """The row for what ``function`` names in a call: the loader itself, a subclass, ``partial``, or a name for one."""
    if not isinstance(function, (ast.Name, ast.Attribute)):
        return None
    symbol = own_class(call.module, call.scope, function) or project.resolve(call.module, call.scope, function)
    if isinstance(symbol, External):
        partial = symbol.name in PARTIAL and isinstance(call.node, ast.Call) and bool(call.node.args)
        if partial and isinstance(call.node, ast.Call):
            return _row(project, call, call.node.args[0])
        row = starters(project.settings.starters).get(symbol.name)
        return row if row is not None and row.is_loader else None
    if isinstance(symbol, ClassFacts):
        return row_above(project, symbol)
    place = partial_of(project, symbol)
    return _row(project, place, place.node.func) if place is not None else None  # type: ignore[attr-defined]


def own_class(module: Module, scope: Scope, called: ast.expr) -> ClassFacts | None:
    """The class for which an expression stands in a class method: ``cls``."""
    found = scope.find(called.id) if isinstance(called, ast.Name) else None
    if found is None or len(found[1]) != 1 or found[1][0].kind is not Kind.PARAMETER:
        return None
    function = found[0].node
    is_it = isinstance(function, FUNCTIONS) and takes_class(function) and first_parameter(function) == called.id  # type: ignore[attr-defined]
    return FunctionFacts(module, function).owner if is_it else None  # type: ignore[arg-type]


# Those whose arguments are all known


def sure_row(project: Project, module: Module, scope: Scope, call: ast.Call) -> Starter | None:
    """The row of the loader that a call surely makes, or that ``super().__init__(...)`` of a subclass sets up.

    Only of a loader whose arguments are all known, and that gets them as they stand in the call.
    """
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        return _super_row(project, module, scope, call.func.value)
    return sure_row_of(project, module, scope, call.func)


def sure_row_of(project: Project, module: Module, scope: Scope, called: ast.expr) -> Starter | None:
    """The row of the loader whose class, or a partial of it, an expression surely names; as for ``sure_row``."""
    symbol = project.resolve(module, scope, called)
    partial = partial_of(project, symbol)
    if isinstance(symbol, ClassFacts):
        row = plain_row(project, symbol)
    elif partial is not None and isinstance(partial.node, ast.Call) and partial.node.args:
        row = sure_row_of(project, partial.module, partial.scope, partial.node.args[0])
    else:
        row = starters(project.settings.starters).get(symbol.name) if isinstance(symbol, External) else None
    is_known = row is not None and row.keywords is not None
    return row if is_known and is_certain(project, module, scope, called) else None


def plain_row(project: Project, facts: ClassFacts) -> Starter | None:
    """The row of the loader that makes the objects of a class: its own, if no class of the project has a word in it."""
    ancestry = project.ancestry(facts)
    if any(name in owner.methods for owner in ancestry.classes for name in MAKING):
        return None
    return sole_row(project, facts)


def sole_row(project: Project, facts: ClassFacts) -> Starter | None:
    """The row of the one loader that a class derives from, if all its bases are known and nothing else makes objects.

    Only of a loader whose arguments are all known.
    """
    ancestry = project.ancestry(facts)
    outside = [name for name in ancestry.external if name not in HARMLESS_BASES]
    row = row_above(project, facts)
    if not ancestry.complete or len(outside) != 1 or row is None or row.keywords is None:
        return None
    for owner in ancestry.classes:
        if owner.node.decorator_list or owner.node.keywords or not has_certain_bases(project, owner):
            return None
    return row


def _super_row(project: Project, module: Module, scope: Scope, owner: ast.expr) -> Starter | None:
    """The row that ``super()``, or its own name, means in the ``__init__`` of a class.

    None where a class of the project lies between.
    """
    is_super = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
    is_named = not is_super and sure_row_of(project, module, scope, owner) is not None
    home = scope.parent.node if scope.parent else None
    if not (is_super or is_named) or not isinstance(scope.node, FUNCTIONS) or not isinstance(home, ast.ClassDef):
        return None
    facts = module.class_facts(home)
    between = project.ancestry(facts).classes[1:]
    if scope.node.name != "__init__" or any(name in one.methods for one in between for name in MAKING):
        return None
    if any(True for _ in _combining(project, facts)):
        return None
    return sole_row(project, facts)


def _combining(project: Project, facts: ClassFacts) -> Iterator[ClassFacts]:
    """Give the classes that derive from one and from another class as well: ``super()`` may then mean the other."""
    return (one for one in project.subclasses(facts) if len(one.node.bases) > 1)


def is_other_call(call: ast.Call) -> bool:
    """Whether a call plainly takes its number of workers for something else: a pool, threads."""
    return last_name(call.func).lower().endswith(tuple(presets.listed("loaders", "other_calls")))
