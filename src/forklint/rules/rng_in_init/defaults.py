"""Generators that are the default of a parameter: made once, as the function is defined, and the same in each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.project import entries
from forklint.project.index import Project
from forklint.project.module import FunctionFacts, Module
from forklint.records import dataclass
from forklint.rules.rng_in_init.drawing import StreamUse, uses
from forklint.rules.rng_in_init.made import Made, generator_of
from forklint.values import callers, parameters
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.model import Made as Call


@dataclass(frozen=True)
class Default:
    """A parameter whose default is a generator, from which its function draws."""

    function: FunctionFacts
    name: str
    made: Made
    drawn: ast.AST
    """Where it draws first."""


def defaults_drawn_from(project: Project, module: Module) -> Iterator[Default]:
    """Give the defaults of a module's functions that some call may use, and that their own body draws from."""
    for function in module.functions:
        for name, value in entries.of_arguments(function.node.args):
            made = _made(project, module, value)
            if made is not None and not _is_always_given(project, function, name):
                drawn = _drawn(module, function, name, made)
                if drawn is not None:
                    yield Default(function, name, made, drawn)


def _made(project: Project, module: Module, value: ast.expr) -> Made | None:
    if not isinstance(value, ast.Call):
        return None
    scope = module.scope_at(value)
    return generator_of(Call(project.qualified(module, scope, value.func), Expression(module, scope, value)))


def _is_always_given(project: Project, function: FunctionFacts, name: str) -> bool:
    """Whether all calls are known, and each gives something else."""
    known = callers.of(Evaluator(project), function)
    given = [one.get(name, parameters.position(function, name)) for one in known.calls]
    return not known.escapes and bool(given) and all(given)


def _drawn(module: Module, function: FunctionFacts, name: str, made: Made) -> ast.AST | None:
    """Where a function draws from its parameter; None if it does not, or starts it anew or puts another there."""

    def is_it(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    found = list(uses(module, function.node, is_it, made.row))
    if any(use is StreamUse.RESTARTS for use, _ in found):
        return None
    return next((node for use, node in found if use is StreamUse.DRAWS), None)
