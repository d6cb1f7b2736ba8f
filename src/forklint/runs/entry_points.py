"""What entry points call: what ``fire.Fire`` is given, the commands of a group of click or of a typer app."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.starters import iteration
from forklint.project.index import Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.spelling import argument, is_name
from forklint.values.model import Expression, Found, Instance, Made, Ref, Table

if TYPE_CHECKING:
    from forklint.project.index import Symbol
    from forklint.runs.walk import Topic

REGISTERS = frozenset({"command", "group", "callback"})
"""Methods of a group that register what they decorate, ..."""
ADDS = frozenset({"add_command", "add_typer"})
"""... and those that register what they are given."""
DEPTH = 4
"""How deep groups stand in groups."""


def handed_to(topic: Topic, call: Expression, name: str) -> Iterator[tuple[FunctionFacts, bool]]:
    """The functions that a call of a library calls because they are given to it, and whether it surely does."""
    node, known = call.node, iteration()
    if not isinstance(node, ast.Call):
        return
    given = argument(node, *known.calls_argument[name]) if name in known.calls_argument else None
    if name in known.calls_its_argument and node.args:
        given = node.args[0]
    if given is not None:
        yield from _of_value(topic, topic.evaluator.find(call.part(given)))


def handed_to_method(topic: Topic, call: Expression) -> Iterator[tuple[FunctionFacts, bool]]:
    """The same for a method of what a library makes: ``study.optimize(objective)``."""
    node, known = call.node, iteration().calling_methods
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return
    if any(node.func.attr in methods for methods in known.values()):
        made = topic.evaluator.find(call.part(node.func.value)).value
        if isinstance(made, Made) and node.func.attr in known.get(made.name, ()):
            yield from _of_value(topic, topic.evaluator.find(call.part(node.args[0])))


def _of_value(topic: Topic, found: Found) -> Iterator[tuple[FunctionFacts, bool]]:
    value = found.value
    if isinstance(value, Ref) and isinstance(value.symbol, FunctionFacts):
        yield value.symbol, True
    elif isinstance(value, Ref) and isinstance(value.symbol, ClassFacts):
        yield from ((one, False) for one in _methods(topic, value.symbol))
    elif isinstance(value, Instance):
        yield from ((one, False) for one in _methods(topic, value.facts))
    elif isinstance(value, Table):
        for source in value.values:
            yield from ((one, False) for one, _ in _of_value(topic, topic.evaluator.find(source)))


def _methods(topic: Topic, facts: ClassFacts) -> Iterator[FunctionFacts]:
    """The methods that are commands, the constructor first."""
    seen: set[str] = set()
    for owner in topic.project.ancestry(facts).classes:
        for name in sorted(owner.methods, key=lambda one: one != "__init__"):
            if name not in seen and (name == "__init__" or not name.startswith("_")):
                seen.add(name)
                yield FunctionFacts(owner.module, owner.methods[name])


def commands_of(topic: Topic, called: Expression, symbol: Symbol | None) -> Iterator[FunctionFacts]:
    """The commands of which one runs when a group is called."""
    if isinstance(symbol, FunctionFacts) and symbol.node.decorator_list:
        yield from _registered(topic, symbol.module, symbol.node.name, DEPTH)
    elif isinstance(symbol, Value):
        made = topic.evaluator.find(called).value
        if isinstance(made, Made) and made.name in iteration().groups:
            yield from _registered(topic, symbol.module, symbol.binding.name, DEPTH)


def _registered(topic: Topic, module: Module, group: str, depth: int) -> Iterator[FunctionFacts]:
    """The functions that a module registers with what it has under a name."""
    for function in module.functions if depth else ():
        marks = (one.func if isinstance(one, ast.Call) else one for one in function.node.decorator_list)
        named = {one.attr for one in marks if isinstance(one, ast.Attribute) and is_name(one.value, group)}
        if named & REGISTERS:
            yield function
        if "group" in named:
            yield from _registered(topic, module, function.node.name, depth - 1)
    for node in module.nodes if depth and any(name in module.screened.text for name in ADDS) else ():
        func = node.func if isinstance(node, ast.Call) and node.args else None
        if isinstance(func, ast.Attribute) and func.attr in ADDS and is_name(func.value, group):
            yield from _added(topic, Expression(module, module.scope_at(node), node.args[0]), depth)  # type: ignore[attr-defined]


def _added(topic: Topic, given: Expression, depth: int) -> Iterator[FunctionFacts]:
    symbol = topic.project.resolve(given.module, given.scope, given.node)
    if isinstance(symbol, FunctionFacts):
        yield symbol
        yield from _registered(topic, symbol.module, symbol.node.name, depth - 1)
    elif isinstance(symbol, Value):
        yield from _registered(topic, symbol.module, symbol.binding.name, depth - 1)
