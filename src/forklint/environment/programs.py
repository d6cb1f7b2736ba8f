"""What programs of the project have run by the time that they reach a function which sets a variable.

A function is reached by calls of it, a method by calls on objects of its class, and one that the constructor runs by
making such an object. A function that no code of its own module runs is looked at from who calls that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from forklint.datasets.workers import attributes_read
from forklint.environment import loaded as execution
from forklint.environment.launching import function_of, launches
from forklint.environment.reading import Reads
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function
from forklint.project.spelling import last_name
from forklint.project.trials import is_test_file
from forklint.summaries.terms import CALL, RENAMED
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance

MOST_PLACES = 16
"""From so many places a function is looked at; where there are more, nothing is said."""
MAX_DEPTH = 3
"""Through so many functions that their own modules do not run."""
Events = tuple[Reads, ...]


def runs_before(project: Project, module: Module, statement: ast.stmt) -> tuple[Events, ...]:
    """What has certainly run in each program when it comes to a statement of a function, up to the call of that.

    Empty if no program is known, if one of them starts others, and for a statement that its own module runs.
    """
    function = function_of(module, statement)
    if function is None or execution.is_run(project, module, statement):
        return ()
    key = FunctionFacts(module, function)
    return project.answer("runs before a function", key.node, lambda: _find(project, key, MAX_DEPTH))


def _find(project: Project, function: FunctionFacts, depth: int) -> tuple[Events, ...]:
    places = list(islice(_places(project, function), MOST_PLACES + 1))
    if len(places) > MOST_PLACES or any(_starts_others(project, module) for module, _ in places):
        return ()
    found: list[Events] = []
    for module, call in places:
        statement = module.statement_of(call)
        before = execution.before(project, module, statement, MOST_PLACES)
        events = tuple(one for one in before if not _is_within(one, function) and not _is_led_to_by(one, call))
        around = function_of(module, call)
        if around is not None and not execution.is_run(project, module, statement) and depth > 1:
            outer = _find(project, FunctionFacts(module, around), depth - 1)
            found += [(*above, *events) for above in outer] or [events]
        else:
            found.append(events)
    return tuple(found)


def _is_within(event: Reads, function: FunctionFacts) -> bool:
    """Whether the function itself has led to an event: when it ran before, it set what it sets."""
    places = (place for place in event.chain if place.module is function.module)
    return any(function.node in function.module.above(place.node) for place in places)


def _is_led_to_by(event: Reads, call: ast.Call) -> bool:
    """Whether the call that leads to the function leads to an event as well: which of them is first is not known."""
    return len(event.chain) > 1 and any(place.node is call for place in event.chain)


def _starts_others(project: Project, module: Module) -> bool:
    return any(launch.fresh for launch in launches(project, module))


def _places(project: Project, function: FunctionFacts) -> Iterator[tuple[Module, ast.Call]]:
    """Give the calls, outside of tests, by which a function comes to run."""
    owner, name = function.owner, function.node.name
    for module in _modules(project, name, CALL):
        for call in _calls_of(module, name):
            if _enters(project, module, call, function):
                yield module, call
    for one in [owner, *project.subclasses(owner)] if owner is not None else ():
        if _builds_by(project, one, function.node):
            yield from _makings(project, one)


def _enters(project: Project, module: Module, call: ast.Call, function: FunctionFacts) -> bool:
    """Whether a call surely enters a function: by its name, or as a method of an object whose class is known."""
    scope = module.scope_at(call)
    if function.owner is None or not isinstance(call.func, ast.Attribute):
        return project.resolve(module, scope, call.func) == function
    known = Evaluator(project).find(Expression(module, scope, call.func.value)).value
    found = project.method(known.facts, function.node.name) if isinstance(known, Instance) else None
    return found is not None and found[1] is function.node and function_of(module, call) not in _methods(function.owner)


def _methods(owner: ClassFacts) -> set[Function]:
    return set(owner.methods.values())


def _builds_by(project: Project, facts: ClassFacts, function: Function) -> bool:
    """Whether the constructor of a class runs one of its methods."""
    constructors = (owner.methods.get("__init__") for owner in project.ancestry(facts).classes)
    waiting, seen = [one for one in constructors if one is not None], set[str]()
    while waiting:
        method = waiting.pop()
        if method is function:
            return True
        new = attributes_read(method) - seen
        seen |= new
        waiting += [found[1] for name in new if (found := project.method(facts, name)) is not None]
    return False


def _makings(project: Project, facts: ClassFacts) -> Iterator[tuple[Module, ast.Call]]:
    """Give the calls that make objects of a class, under its own name or one that a function or module gives it."""
    for module in _modules(project, facts.name, CALL, RENAMED):
        for node in module.nodes:
            if isinstance(node, ast.Call) and _may_be(project, module, node.func, facts):
                yield module, node


def _may_be(project: Project, module: Module, function: ast.expr, facts: ClassFacts) -> bool:
    scope = module.scope_at(function)
    if last_name(function) == facts.name:
        return project.resolve(module, scope, function) == facts
    found = scope.find(function.id) if isinstance(function, ast.Name) else None
    values = [binding.value for binding in found[1]] if found is not None else []
    named = [value for value in values if value is not None and last_name(value) == facts.name]
    return found is not None and any(project.resolve(module, found[0], value) == facts for value in named)


def _modules(project: Project, name: str, *terms: str) -> Iterator[Module]:
    """Give the modules, but for tests, that may call something of a name."""
    paths = {path for term in terms for path in project.where(term, name) if not is_test_file(path)}
    return project.modules(project.in_order(paths))


def _calls_of(module: Module, name: str) -> Iterator[ast.Call]:
    for node in module.reads(name):
        call = module.parents.get(node)
        if isinstance(call, ast.Call) and call.func is node:
            yield call
