"""Datasets whose loaders never have workers, as far as the project shows its loaders."""

from __future__ import annotations

import ast

from forklint.facts.starting.workers import Workers, workers_of
from forklint.project.index import Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import Scope


def never_has_workers(project: Project, facts: ClassFacts) -> bool:
    """Whether the project gives objects of a class to loaders, and each of those surely has no workers."""
    memory = project.memory("never_has_workers")
    if facts not in memory:
        found = _workers(project, facts)
        memory[facts] = bool(found) and all(one is Workers.NONE for one in found)
    return bool(memory[facts])


def _workers(project: Project, facts: ClassFacts) -> list[Workers]:
    found = []
    for module in project.mentioning(facts.name):
        if b"DataLoader" not in module.document.code:
            continue
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or not _last(node.func).endswith("DataLoader"):
                continue
            scope = module.scope_at(node)
            given = next((one.value for one in node.keywords if one.arg == "dataset"), None)
            given = given or (node.args[0] if node.args else None)
            if given is not None and _is_object(project, module, scope, given, facts):
                found.append(workers_of(project, module, scope, node) or Workers.UNKNOWN)
    return found


def _is_object(project: Project, module: Module, scope: Scope, expression: ast.expr, facts: ClassFacts) -> bool:
    if isinstance(expression, ast.Call):
        return project.resolve(module, scope, expression.func) == facts
    symbol = project.lookup(module, scope, expression.id) if isinstance(expression, ast.Name) else None
    value = symbol.binding.value if isinstance(symbol, Value) else None
    if isinstance(symbol, Value) and isinstance(value, ast.Call):
        return project.resolve(symbol.module, symbol.scope, value.func) == facts
    return False


def _last(expression: ast.expr) -> str:
    return str(getattr(expression, "attr", getattr(expression, "id", "")))
