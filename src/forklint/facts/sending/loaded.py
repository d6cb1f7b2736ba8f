"""Which of the project's classes a loader's dataset is an object of, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.facts.sending.unpicklable import kept_arguments
from forklint.facts.sending.values import Given, is_shadowed
from forklint.knowledge.unpicklable import keeper
from forklint.project.bindings import value_of
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.scopes import statements

if TYPE_CHECKING:
    from forklint.project.index import Project

MAX_DEPTH = 8


def classes_of(project: Project, given: Given, depth: int = MAX_DEPTH) -> Iterator[ClassFacts]:
    """Give the classes of which an expression may be an object, those of datasets inside it included."""
    node = given.node
    if depth <= 0:
        return
    if isinstance(node, ast.Name) and not is_shadowed(given.module, node):
        held = value_of(given.module, given.scope, node)
        if held is not None:
            yield from classes_of(project, Given(given.module, held[0], held[2]), depth - 1)
    elif isinstance(node, ast.Attribute):
        yield from _stored(project, given, node, depth)
    elif isinstance(node, ast.Call):
        yield from _made(project, given, node, depth)
    elif isinstance(node, (ast.List, ast.Tuple, ast.IfExp)):
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.elts
        for part in parts:
            yield from classes_of(project, given.part(part), depth - 1)


def _made(project: Project, given: Given, node: ast.Call, depth: int) -> Iterator[ClassFacts]:
    """What a call makes: an object of a class, what a function returns, a dataset made of others."""
    symbol = project.resolve(given.module, given.scope, node.func)
    if isinstance(symbol, ClassFacts):
        yield symbol
    elif isinstance(symbol, FunctionFacts) and not symbol.node.decorator_list:
        for statement in statements(symbol.node.body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                yield from classes_of(project, Given(symbol.module, symbol.scope, statement.value), depth - 1)
    elif isinstance(symbol, External) and (row := keeper(symbol.name)) is not None:
        for argument in kept_arguments(node, row):
            yield from classes_of(project, given.part(argument), depth - 1)


def _stored(project: Project, given: Given, node: ast.Attribute, depth: int) -> Iterator[ClassFacts]:
    """What a method of the same class stores as ``self.name``."""
    above = given.scope.parent.node if given.scope.parent else None
    if not isinstance(above, ast.ClassDef) or not isinstance(node.value, ast.Name):
        return
    for owner in project.ancestry(given.module.class_facts(above)).classes:
        for function in owner.methods.values():
            scope = owner.module.scope_of[function]
            for statement in statements(function.body):
                targets = statement.targets if isinstance(statement, ast.Assign) else []
                flat = [part for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
                if any(isinstance(one, ast.Attribute) and one.attr == node.attr for one in flat):
                    value = statement.value  # type: ignore[attr-defined]
                    yield from classes_of(project, Given(owner.module, scope, value), depth - 1)
