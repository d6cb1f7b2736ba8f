"""By which start method a call's processes begin, and in which cells what they are given is pickled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.starting.reach import cells_of
from forklint.facts.starting.running.values import DEFAULT_METHOD
from forklint.knowledge.starters import iteration
from forklint.model import Cell
from forklint.project.bindings import value_of
from forklint.project.spelling import argument, last_name

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

METHODS = ("fork", "spawn", "forkserver")
UNKNOWN = ""


def cells_for(project: Project, module: Module, method: str) -> tuple[Cell, ...]:
    """Cells in which what is sent by a call of a module is pickled, if the call asks for this start method."""
    settings = project.settings
    if method != DEFAULT_METHOD:
        return cells_of(method, settings)
    asked = set_for(project, module)
    if asked == {"fork"} or UNKNOWN in asked:
        return ()
    if len(asked) == 1:
        return cells_of(next(iter(asked)), settings)
    return cells_of(DEFAULT_METHOD, settings)


def set_for(project: Project, module: Module) -> frozenset[str]:
    """The start methods that the project sets for the programs that a module belongs to; UNKNOWN for one not told.

    Those are set by the module, by one that imports it at any depth, or by one that it imports.
    """
    memory = project.memory("start methods set")
    if module not in memory:
        found: set[str] = set()
        for other in _setters(project):
            reaches = other is module or module.path in project.graph.reached(other.path)
            if reaches or other.path in project.graph.reached(module.path):
                found |= _set_in(other)
        memory[module] = frozenset(found)
    known: frozenset[str] = memory[module]
    return known


def _setters(project: Project) -> tuple[Module, ...]:
    memory = project.memory("modules that set start methods")
    if "all" not in memory:
        memory["all"] = tuple(project.mentioning("set_start_method"))
    known: tuple[Module, ...] = memory["all"]
    return known


def _set_in(module: Module) -> set[str]:
    calls = (node for node in module.nodes if isinstance(node, ast.Call))
    return {_text(argument(call, "method", 0)) for call in calls if last_name(call.func) == "set_start_method"}


def method_of(project: Project, module: Module, scope: Scope, context: ast.expr | None) -> str:
    """The start method that an argument such as ``multiprocessing_context`` names; UNKNOWN if that is not plain."""
    if context is None or (isinstance(context, ast.Constant) and context.value is None):
        return DEFAULT_METHOD
    if isinstance(context, ast.Constant):
        return _text(context)
    if isinstance(context, ast.Name):
        held = value_of(module, scope, context)
        return method_of(project, module, held[0], held[2]) if held is not None else UNKNOWN
    if isinstance(context, ast.Call) and project.qualified(module, scope, context.func) in iteration().contexts:
        given = argument(context, "method", 0)
        return method_of(project, module, scope, given)
    return UNKNOWN


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) and node.value in METHODS else UNKNOWN
