"""In which worlds an expression may name the start method fork, its defaults counted as what it may be."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project.module import FunctionFacts
from forklint.project.scopes import Binding, Kind
from forklint.project.spelling import last_name
from forklint.values import callers, parameters
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found
from forklint.values.worlds import EVERYWHERE, NOWHERE, Conditions, Regions, Worlds

if TYPE_CHECKING:
    from forklint.project.index import Project

FORK = Constant("fork")
ASKING = frozenset({"get", "getattr", "getenv", "pop", "setdefault"})
"""Calls whose last argument is what they give where nothing is there."""
DEPTH = 6
"""How many names are followed for one expression."""


def forking(project: Project, method: Expression, depth: int = DEPTH) -> Worlds:
    """The worlds in which an expression may be ``"fork"``; of what is not known, none."""
    node = method.node
    if isinstance(node, ast.Constant):
        return EVERYWHERE if node.value == "fork" else NOWHERE
    if depth <= 0:
        return NOWHERE
    if isinstance(node, ast.IfExp):
        truth = Conditions(project, method.module).truth(node.test)
        body, other = (forking(project, method.part(arm), depth - 1) for arm in (node.body, node.orelse))
        return (truth.true & body) | (truth.false & other)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return NOWHERE.union(*(forking(project, method.part(value), depth - 1) for value in node.values))
    if isinstance(node, ast.Call) and last_name(node.func) in ASKING and len(node.args) > 1:
        return forking(project, method.part(node.args[-1]), depth - 1)
    if isinstance(node, ast.Name):
        home, bindings = method.scope.find(node.id) or (method.scope, [])
        if any(binding.kind is Kind.PARAMETER for binding in bindings):
            return _by_callers(project, FunctionFacts(method.module, home.node), node.id)  # type: ignore[arg-type]
        if bindings and all(binding.kind is Kind.VALUE for binding in bindings):
            return _by_assignments(project, method, bindings, depth - 1)
    return _if_fork(Evaluator(project).find(method))


def _if_fork(found: Found) -> Worlds:
    return EVERYWHERE if found.value == FORK else NOWHERE


def _by_callers(project: Project, function: FunctionFacts, name: str) -> Worlds:
    """What the calls of a function give for a parameter, or its default where they may give nothing."""
    evaluator = Evaluator(project)
    known = callers.of(evaluator, function)
    given = [parameters.in_call(evaluator, function, name, call) for call in known.calls]
    if known.escapes or not given or any(call.open for call in known.calls):
        given.append(parameters.default_of(evaluator, function, name))
    return NOWHERE.union(*map(_if_fork, given))


def _by_assignments(project: Project, method: Expression, bindings: list[Binding], depth: int) -> Worlds:
    """Where an assignment gives fork that no later one takes back on the platform."""
    regions = Regions(Conditions(project, method.module))
    left = NOWHERE
    for binding in sorted(bindings, key=lambda one: getattr(one.node, "lineno", 0)):
        here = regions.branches(binding.node)
        is_sure = here != EVERYWHERE or not any(isinstance(one, ast.If) for one in method.module.above(binding.node))
        left = left - here if is_sure else left
        if binding.value is not None:
            left |= here & forking(project, method.part(binding.value), depth)
    return left
