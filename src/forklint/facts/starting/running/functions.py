"""A project function in an abstract run: its decorators, its parameters, whether it is a generator."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from forklint.facts.starting.running import evaluation
from forklint.facts.starting.running.values import UNKNOWN, Arguments, Dictionary, Foreign, Frame, Sequence
from forklint.knowledge.starters import iteration
from forklint.project.scopes import FUNCTIONS

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution
    from forklint.project.module import FunctionFacts

EXITS = {"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "os.abort"}


@lru_cache(maxsize=1024)  # bounded, or functions of texts that are long replaced would stay
def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function holds a ``yield`` of its own."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        current = waiting.pop()
        if isinstance(current, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(current, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(current))
    return False


def decorators(run: Execution, facts: FunctionFacts) -> list[str]:
    """Qualified names of a function's decorators; empty strings for those not known."""
    scope = facts.scope.parent or facts.module.scope
    found = []
    for decorator in facts.node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        plain = isinstance(function, ast.Name) and scope.find(function.id) is None
        found.append(f"builtins.{function.id}" if plain else run.project.qualified(facts.module, scope, function))  # type: ignore[attr-defined]
    return found


def changes_result(run: Execution, facts: FunctionFacts) -> bool:
    """Whether a decorator may give something else than the function does."""
    return any(mark not in iteration().transparent_decorators for mark in decorators(run, facts))


def bind_parameters(run: Execution, frame: Frame, facts: FunctionFacts, given: Arguments) -> None:
    """Put a call's arguments, or else the defaults, into the function's frame; UNKNOWN where neither is certain."""
    arguments = facts.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    defaults.update(
        {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    )
    hidden = given.open or changes_result(run, facts)
    outer = frame.parent or run.frame_of(facts.module)
    for position, parameter in enumerate([*names, *(argument.arg for argument in arguments.kwonlyargs)]):
        value = given.get(parameter, position if position < len(names) else None)
        if value is None:
            default = defaults.get(parameter)
            value = evaluation.evaluate(run, outer, default) if default is not None and not hidden else UNKNOWN
        run.put(frame, parameter, value)
    if arguments.vararg is not None:
        run.put(frame, arguments.vararg.arg, Sequence(given.positional[len(names) :], not hidden))
    if arguments.kwarg is not None:
        known = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
        extra = tuple((key, value) for key, value in given.keywords.items() if key not in known)
        run.put(frame, arguments.kwarg.arg, Dictionary(extra, not hidden))


def is_exit(run: Execution, frame: Frame, call: ast.Call) -> bool:
    """Whether a call ends the process."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    function = evaluation.evaluate(run, frame, call.func)
    return isinstance(function, Foreign) and function.name in EXITS
