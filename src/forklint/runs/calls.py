"""Which functions of the project a call enters, and with what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from forklint.knowledge.starters import iteration
from forklint.project.constructors import AFTER_FIELDS
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.spelling import is_name, is_static, last_name, takes_class
from forklint.runs import entry_points
from forklint.values import arguments, by_name, calls, libraries, objects, registering
from forklint.values.model import (
    NO_ARGUMENTS,
    NOT_KNOWN,
    Arguments,
    Expression,
    Found,
    Frame,
    Instance,
    Made,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from forklint.project.index import Symbol
    from forklint.runs.walk import Topic
    from forklint.values.evaluator import Evaluator

Callee = tuple[FunctionFacts, Instance | None]
"""A function, and the object that it is a method of."""
BOUND_TO_NOTHING = frozenset({"classmethod", "staticmethod"})
COLLECTING = (ast.Starred, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)
"""What coroutines are collected in before they are handed on."""


class Entry(NamedTuple):
    """One function that a call enters."""

    function: FunctionFacts
    frame: Frame | None
    is_sure: bool
    """Whether it is surely this one, and its body runs."""


class Running(Enum):
    """When the body of a function runs that is called."""

    AT_ONCE = "at once"
    BY_OTHERS = "by others"
    """At once, with arguments that a decorator fills in."""
    PERHAPS = "perhaps"
    """Nobody knows what its decorators do."""
    AWAITED = "awaited"
    DRAWN = "drawn"


def entered(topic: Topic, call: Expression, symbol: Symbol | None) -> Iterator[Entry]:
    """The functions of which one runs where a call stands."""
    if not topic.with_values:
        if isinstance(symbol, FunctionFacts) and symbol.owner is None and _runs_here(topic.evaluator, call, symbol):
            yield Entry(symbol, None, is_sure=True)
        return
    if isinstance(symbol, External):
        yield from (Entry(one, None, is_sure) for one, is_sure in entry_points.handed_to(topic, call, symbol.name))
        return
    function = call.part(call.node.func)  # type: ignore[attr-defined]
    found = list(callees(topic.evaluator, function, symbol))
    given = arguments.of_call(topic.evaluator, call) if found else NO_ARGUMENTS
    for (one, receiver), kept in found:
        running = runs(topic.evaluator, one)
        if running in {Running.AT_ONCE, Running.PERHAPS} or (running is Running.AWAITED and _is_awaited(call)):
            made = Instance(symbol, given, call) if isinstance(symbol, ClassFacts) else receiver
            own = kept.then(given) if one.node.name not in AFTER_FIELDS else NOT_KNOWN
            frame = Frame(one, own, made, call.frame)
            yield Entry(one, frame, len(found) == 1 and running is not Running.PERHAPS)
        elif running is Running.BY_OTHERS:
            yield Entry(one, None, is_sure=len(found) == 1)
    yield from (Entry(one, None, is_sure) for one, is_sure in entry_points.handed_to_method(topic, call))
    yield from (Entry(one, None, is_sure=False) for one in entry_points.commands_of(topic, function, symbol))


def callees(evaluator: Evaluator, function: Expression, symbol: Symbol | None) -> Iterator[tuple[Callee, Arguments]]:
    """What calling an expression may enter, which may mean a symbol, with what a partial gives to it."""
    project, node = evaluator.project, function.node
    if isinstance(symbol, ClassFacts):
        yield from _with_nothing(_constructor(evaluator, symbol))
        return
    if isinstance(symbol, FunctionFacts):
        marks = {mark.id for mark in symbol.node.decorator_list if isinstance(mark, ast.Name)}
        if symbol.owner is None or marks & BOUND_TO_NOTHING:
            yield (symbol, Instance(symbol.owner) if symbol.owner is not None else None), NO_ARGUMENTS
        return
    if isinstance(node, ast.Attribute):
        inherited = above(project, function, node)
        owner = evaluator.find(function.part(node.value)) if inherited is None else Found(inherited[1])  # type: ignore[arg-type]
        found = [_bound(project, one.value, node.attr) for one in owner.possible]
        methods = [inherited] if inherited is not None else [one for one in found if one is not None]
        if methods:
            yield from ((one, NO_ARGUMENTS) for one in dict.fromkeys(methods))
            return
    called = [each for one in evaluator.find(function).possible for each in _called(evaluator, one)]
    yield from called or [(one, NO_ARGUMENTS) for one in _bound_elsewhere(evaluator, function)]


def _bound_elsewhere(evaluator: Evaluator, function: Expression) -> Iterator[Callee]:
    """The methods that are meant where one has another name, or is looked up: ``getattr(trainer, mode)()``."""
    yield from by_name.methods_meant(evaluator, function)
    for place in libraries.chosen(evaluator, function):
        if isinstance(place.node, ast.Attribute):
            owner = evaluator.find(place.part(place.node.value))
            found = (_bound(evaluator.project, one.value, place.node.attr) for one in owner.possible)
            yield from filter(None, found)


def _constructor(evaluator: Evaluator, facts: ClassFacts) -> Callee | None:
    """What of the project runs when an object of a class is made."""
    names = AFTER_FIELDS if objects.is_made_of_fields(evaluator, facts) else ("__init__",)
    return next(filter(None, (method(evaluator.project, Instance(facts), name) for name in names)), None)


def _with_nothing(found: Callee | None) -> Iterator[tuple[Callee, Arguments]]:
    if found is not None:
        yield found, NO_ARGUMENTS


def _called(evaluator: Evaluator, found: Found) -> Iterator[tuple[Callee, Arguments]]:
    """What calling a value enters."""
    project, value = evaluator.project, found.value
    if isinstance(value, Instance):
        yield from _with_nothing(method(project, value, "__call__"))
    elif isinstance(value, Ref) and isinstance(value.symbol, ClassFacts):
        yield from _with_nothing(_constructor(evaluator, value.symbol))
    elif isinstance(value, Ref) and isinstance(value.symbol, FunctionFacts) and value.symbol.owner is None:
        yield (value.symbol, None), NO_ARGUMENTS
    elif isinstance(value, Made) and value.name in calls.PARTIAL:
        kept = arguments.of_call(evaluator, value.call)
        first = kept.positional[0] if kept.positional else None
        if isinstance(first, Expression):
            symbol = project.resolve(first.module, first.scope, first.node)
            given = kept.without_first
            yield from ((one, given) for one, _ in callees(evaluator, first, symbol))


def callee(evaluator: Evaluator, function: Expression, symbol: Symbol | None) -> Callee | None:
    """What calling an expression surely enters."""
    found = [one for one, _ in callees(evaluator, function, symbol)]
    return found[0] if len(found) == 1 else None


def above(project: Project, function: Expression, node: ast.Attribute) -> Callee | None:
    """The method of a base class that ``super().method`` means."""
    call, parent = node.value, function.scope.parent
    home = parent.node if parent is not None else None
    if not isinstance(call, ast.Call) or not is_name(call.func, "super") or not isinstance(home, ast.ClassDef):
        return None
    owner, frame = function.module.class_facts(home), function.frame
    known = frame.receiver if frame is not None and frame.function.node is function.scope.node else None
    receiver = known if known is not None else Instance(owner)
    classes = project.ancestry(receiver.facts).classes
    later = classes[classes.index(owner) + 1 :] if owner in classes else ()
    facts = next((one for one in later if node.attr in one.methods), None)
    return (FunctionFacts(facts.module, facts.methods[node.attr]), receiver) if facts is not None else None


def method(project: Project, owner: Instance, name: str) -> Callee | None:
    """A method that an object has in the project."""
    found = project.method(owner.facts, name)
    return (FunctionFacts(found[0].module, found[1]), owner) if found is not None else None


def _bound(project: Project, owner: Value, name: str) -> Callee | None:
    """A method of an object, or one of a class that needs no object."""
    if isinstance(owner, Instance):
        return method(project, owner, name)
    is_class = isinstance(owner, Ref) and isinstance(owner.symbol, ClassFacts)
    found = method(project, Instance(owner.symbol), name) if is_class else None  # type: ignore[union-attr, arg-type]
    return found if found is not None and (is_static(found[0].node) or takes_class(found[0].node)) else None


def by_anyone(function: FunctionFacts, receiver: Instance | None = None) -> Frame:
    """The frame of a function of whose callers nothing is asked."""
    return Frame(function, NOT_KNOWN, receiver)


def _runs_here(evaluator: Evaluator, call: Expression, function: FunctionFacts) -> bool:
    is_awaited = runs(evaluator, function) is Running.AWAITED and _is_awaited(call)
    return is_awaited or runs_at_once(evaluator, function)


def runs_at_once(evaluator: Evaluator, function: FunctionFacts) -> bool:
    """Whether calling a function surely runs its body."""
    return runs(evaluator, function) in {Running.AT_ONCE, Running.BY_OTHERS}


def _is_awaited(call: Expression) -> bool:
    """Whether the coroutine that a call gives is run where it stands: it is awaited, or handed to what does so."""
    outer = call.module.parents.get(call.node)
    while isinstance(outer, COLLECTING):
        outer = call.module.parents.get(outer)
    if isinstance(outer, ast.Call):
        return last_name(outer.func) in iteration().awaiting
    return isinstance(outer, ast.Await)


def runs(evaluator: Evaluator, function: FunctionFacts) -> Running:
    """When the body of a function runs that is called."""
    return evaluator.project.answer("runs when called", function.node, lambda: _runs(evaluator, function))


def _runs(evaluator: Evaluator, facts: FunctionFacts) -> Running:
    node, scope, known = facts.node, facts.scope.parent or facts.module.scope, iteration()
    marks = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    places = (Expression(facts.module, scope, mark) for mark in node.decorator_list)
    given = [one for one, place in zip(marks, places, strict=True) if not registering.gives_the_same(evaluator, place)]
    names = {calls.qualified(evaluator, Expression(facts.module, scope, mark)) for mark in given}
    if isinstance(node, ast.AsyncFunctionDef):
        return Running.AWAITED
    if calls.is_generator(evaluator.project, node) and not marks:
        return Running.DRAWN
    if names & known.calling_decorators:
        return Running.BY_OTHERS
    return Running.AT_ONCE if names <= known.transparent_decorators else Running.PERHAPS
