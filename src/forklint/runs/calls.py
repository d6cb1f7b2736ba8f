"""Which function of the project a call enters, and with what."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.starters import iteration
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, expressions, statements
from forklint.values import arguments, calls
from forklint.values.model import Expression, Frame, Instance

if TYPE_CHECKING:
    from forklint.project.index import Symbol
    from forklint.runs.walk import Topic
    from forklint.values.evaluator import Evaluator

Callee = tuple[FunctionFacts, Instance | None]
"""A function, and the object that it is a method of."""


def entered(topic: Topic, call: Expression, symbol: Symbol | None) -> tuple[FunctionFacts, Frame | None] | None:
    """The function whose body runs where a call stands, and the frame in which it does."""
    if isinstance(symbol, External):
        return None
    if not topic.with_values:
        if not isinstance(symbol, FunctionFacts) or symbol.owner is not None:
            return None
        return (symbol, None) if runs_at_once(topic.evaluator, symbol) else None
    function = call.part(call.node.func)  # type: ignore[attr-defined]
    found = callee(topic.evaluator, function, symbol)
    if found is None or not runs_at_once(topic.evaluator, found[0]):
        return None
    given = arguments.of_call(topic.evaluator, call)
    receiver = Instance(symbol, given) if isinstance(symbol, ClassFacts) else found[1]
    return found[0], Frame(found[0], given, receiver, call.frame)


def callee(evaluator: Evaluator, function: Expression, symbol: Symbol | None) -> Callee | None:
    """What calling an expression enters, which may mean a symbol."""
    project = evaluator.project
    if isinstance(symbol, ClassFacts):
        return method(project, Instance(symbol), "__init__")
    if isinstance(symbol, FunctionFacts) and symbol.owner is None:
        return symbol, None
    node = function.node
    if isinstance(node, ast.Attribute):
        owner = evaluator.find(function.part(node.value)).value
        found = method(project, owner, node.attr) if isinstance(owner, Instance) else None
        if found is not None:
            return found
    called = evaluator.find(function).value
    return method(project, called, "__call__") if isinstance(called, Instance) else None


def method(project: Project, owner: Instance, name: str) -> Callee | None:
    """A method that an object has in the project."""
    found = project.method(owner.facts, name)
    return (FunctionFacts(found[0].module, found[1]), owner) if found is not None else None


def by_anyone(function: FunctionFacts, receiver: Instance | None = None) -> Frame:
    """The frame of a function of whose callers nothing is asked."""
    return Frame(function, arguments.NOT_KNOWN, receiver)


def runs_at_once(evaluator: Evaluator, function: FunctionFacts) -> bool:
    """Whether calling a function runs its body: no coroutine, no plain generator, nothing else by its decorators."""
    return evaluator.project.answer("runs when called", function.node, lambda: _runs_at_once(evaluator, function))


def _runs_at_once(evaluator: Evaluator, facts: FunctionFacts) -> bool:
    node, scope = facts.node, facts.scope.parent or facts.module.scope
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    if isinstance(node, ast.AsyncFunctionDef) or (not marks and _is_generator(node)):
        return False
    known = iteration().transparent_decorators | iteration().calling_decorators
    return all(calls.qualified(evaluator, Expression(facts.module, scope, mark)) in known for mark in marks)


def _is_generator(node: Function) -> bool:
    inner = (e for s in statements(node.body) for e in expressions(s))
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for expression in inner for n in nodes_below(expression))
