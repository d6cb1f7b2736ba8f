"""By which start method a call's processes begin, and in which cells what they are given is pickled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.starters import Starter, iteration
from forklint.model import Cell
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass
from forklint.values.arguments import of_call
from forklint.values.model import Constant, Expression, Made
from forklint.values.origins import origins

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.values.evaluator import Evaluator
    from forklint.values.model import Source

METHODS = ("fork", "spawn", "forkserver")
DEFAULT_METHOD = "default"
"""Stands for the start method that a platform has when nothing is set."""
UNKNOWN = ""
SETTER = "set_start_method"


def cells_of(method: str, settings: Settings) -> tuple[Cell, ...]:
    """Cells where a start method makes children import the main module; none for UNKNOWN."""
    if method == DEFAULT_METHOD:
        return tuple(cell for cell in settings.cells if cell.start_method != "fork")
    if method == "spawn":
        return tuple(Cell(platform, method) for platform in settings.platforms)
    if method == "forkserver":
        return tuple(Cell(platform, method) for platform in settings.platforms if platform != "windows")
    return ()


def forked(settings: Settings) -> tuple[Cell, ...]:
    """Cells where children can be forked, if that is asked for."""
    return tuple(Cell(platform, "fork") for platform in settings.platforms if platform != "windows")


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
    return project.answer("start methods set", module.path, lambda: _set_for(project, module), compared=True)


def _set_for(project: Project, module: Module) -> frozenset[str]:
    reaches = project.graph.reaches
    found: set[str] = set()
    for other, methods in project.answer("who sets start methods", None, lambda: _setters(project)):
        is_new = not methods <= found
        if is_new and (reaches(other.path, module.path) or reaches(module.path, other.path)):
            found |= methods
    return frozenset(found)


def _setters(project: Project) -> tuple[tuple[Module, frozenset[str]], ...]:
    """The modules that set start methods, with those that they set."""
    return tuple((module, methods) for module in project.mentioning(SETTER) if (methods := set_in(module)))


def set_in(module: Module) -> frozenset[str]:
    """The start methods that the calls of one module set; UNKNOWN for one that is not written out."""
    if SETTER not in module.screened.text:
        return frozenset()
    calls = (node for node in module.nodes if isinstance(node, ast.Call) and last_name(node.func) == SETTER)
    return frozenset(named(argument(call, "method", 0)) for call in calls)


@dataclass(frozen=True)
class Asked:
    """The start method that an expression names."""

    method: str
    """UNKNOWN if that is not plain."""
    literal: ast.Constant | None = None
    """Where it is written out."""


def asked_by(evaluator: Evaluator, source: Source | None, default: str = DEFAULT_METHOD) -> Asked:
    """The start method that a source names, or has a context of; ``default`` where nothing is given."""
    value = evaluator.find(source).value if source is not None else Constant(None)
    if value == Constant(None):
        return Asked(default)
    if isinstance(value, Constant):
        return Asked(str(value.value) if value.value in METHODS else UNKNOWN, _literal(evaluator, source))
    if isinstance(value, Made) and value.name in iteration().contexts:
        return asked_by(evaluator, of_call(evaluator, value.call).get("method", 0))
    return Asked(UNKNOWN)


def asked_of(evaluator: Evaluator, row: Starter, call: Expression) -> Asked:
    """The start method by which a call starts processes: of the context whose method it is, or that it is given."""
    func = call.node.func if isinstance(call.node, ast.Call) else None
    owner = call.part(func.value) if isinstance(func, ast.Attribute) else None
    held = evaluator.find(owner).value if owner is not None else None
    if isinstance(held, Made) and held.name in iteration().contexts:
        return asked_by(evaluator, owner)
    given = of_call(evaluator, call).get(row.context, row.position(row.context)) if row.context else None
    return asked_by(evaluator, given, row.start_method or DEFAULT_METHOD)


def _literal(evaluator: Evaluator, source: Source | None) -> ast.Constant | None:
    """Where a constant is written out, if that is plain."""
    nodes = [one.node for one in origins(evaluator, source)] if isinstance(source, Expression) else []
    return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], ast.Constant) else None


def named(node: ast.expr | None) -> str:
    """The start method that a constant names; UNKNOWN for anything else."""
    return str(node.value) if isinstance(node, ast.Constant) and node.value in METHODS else UNKNOWN
