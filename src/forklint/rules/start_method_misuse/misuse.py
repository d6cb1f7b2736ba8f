"""Where the start method is set a second time, too late, for others, or to fork; and variables set too late for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from forklint.knowledge.starters import iteration
from forklint.project.guard import is_main_guard
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass
from forklint.rules.start_method_misuse.events import Settles, events_in, may_misuse
from forklint.runs.errors import RAISED_AGAIN, RAISED_UNKNOWN
from forklint.starting.reach import reached
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression
from forklint.values.origins import behind
from forklint.values.parameters import default_of
from forklint.values.worlds import DARWIN, EVERYWHERE, LINUX, NOWHERE, WINDOWS, Worlds, platforms_of

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module

SETTER = "set_start_method"
ASKING = frozenset({"get", "getattr", "getenv", "pop", "setdefault"})
"""Calls whose last argument is what they return where nothing is there."""


@dataclass(frozen=True)
class Misuse:
    """One misuse of the start method."""

    kind: str
    """``twice``, ``settled``, ``locked``, ``import``, ``fork`` or ``environment``."""
    event: Settles
    first: Settles | None = None
    """What came before and makes it one; for ``import`` there is none."""
    importer: Module | None = None
    worlds: Worlds = EVERYWHERE
    """Where it bites, as far as branches and methods decide that."""


def misuses(project: Project, module: Module) -> Iterator[Misuse]:
    """Find those whose place is in a module; one for each place, the surest first."""
    found: dict[ast.AST, Misuse] = {}
    runs = events_in(project, module) if may_misuse(project, module) else {None: ()}
    for events in runs.values():
        for misuse in _in_order(events):
            if misuse.event.module is module:
                found.setdefault(misuse.event.node, misuse)
    for misuse in (*_at_import(project, module, runs[None]), *_forks(project, module, runs.values())):
        found.setdefault(misuse.event.node, misuse)
    taken = _told_elsewhere(project, module) if found else None
    yield from (misuse for node, misuse in found.items() if node is not taken)


def _told_elsewhere(project: Project, module: Module) -> ast.AST | None:
    """The call that FKL201 reports, because each child makes it again."""
    return next((reach.node for reach in reached(project, module) if reach.sets_method), None)


def _in_order(events: Sequence[Settles]) -> Iterator[Misuse]:
    settled: list[Settles] = []
    known: Worlds = NOWHERE
    for event in events:
        first = next((one for one in settled if one.way.worlds & event.way.worlds), None)
        is_raised = event.kind == "set" and not event.forced and RAISED_AGAIN not in event.way.caught
        if first is not None and is_raised and event.way.certain:
            kind = "twice" if first.kind == "set" else "settled"
            yield Misuse(kind, event, first, worlds=first.way.worlds & event.way.worlds)
        if event.kind in {"set", "settled"} and event.way.certain and event.way.worlds - known:
            settled.append(event)
            known |= event.way.worlds
    yield from _locked_before(events)
    yield from _unseen_variables(events)


def _locked_before(events: Sequence[Settles]) -> Iterator[Misuse]:
    """Locks, and what has them inside, made by fork before another method is forced and processes are started by it."""
    locks: list[Settles] = []
    for index, event in enumerate(events):
        if event.kind == "set" and event.way.certain:
            is_other = event.forced and event.method in {"spawn", "forkserver"}
            if locks and is_other and any(later.kind == "start" for later in events[index:]):
                yield Misuse("locked", event, locks[0], worlds=event.way.worlds & LINUX)
            return
        made = last_name(getattr(event.node, "func", None)) if event.kind == "settled" and event.way.certain else ""
        if made in iteration().locked:
            locks.append(event)


def _unseen_variables(events: Sequence[Settles]) -> Iterator[Misuse]:
    """Variables set between two starts from a fork server, which keeps the environment that it began with."""
    server = [event for event in events if event.kind in {"set", "context"} and event.way.certain]
    if not server or {event.method for event in server} != {"forkserver"}:
        return
    starts = [index for index, event in enumerate(events) if event.kind == "start"]
    for index, event in enumerate(events):
        if event.kind == "environment" and event.way.certain and starts and starts[0] < index < starts[-1]:
            yield Misuse("environment", event, events[starts[0]])


def _at_import(project: Project, module: Module, events: Sequence[Settles]) -> Iterator[Misuse]:
    """The start method set by the top level of a module that others import and that is no script."""
    if module.is_notebook or any(isinstance(one, ast.If) and is_main_guard(one.test) for one in module.tree.body):
        return
    set_here = [event for event in events if event.kind == "set" and event.way.usual and not _is_only_if_unset(event)]
    importer = next(_importers(project, module), None) if set_here else None
    if importer is not None:
        here = (event for event in set_here if event.module is module)
        yield from (Misuse("import", event, importer=importer, worlds=event.way.worlds) for event in here)


def _is_only_if_unset(event: Settles) -> bool:
    """Whether a method that is set already is kept, whichever: by a condition, or an error that is caught.

    Not by a condition that asks whether it is another.
    """
    if not event.forced and RAISED_AGAIN in event.way.caught and not _is_insisted_on(event):
        return True
    tests = (above.test for above in event.module.above(event.node) if isinstance(above, ast.If))
    named = (one for test in tests for one in nodes_below(test) if isinstance(one, ast.Constant))
    return event.way.if_unset and not any(isinstance(one.value, str) for one in named)


def _is_insisted_on(event: Settles) -> bool:
    """Whether what catches the error raises one itself, or sets the method after all."""
    around = next((above for above in event.module.above(event.node) if isinstance(above, ast.Try)), None)
    inside = (node for one in (around.handlers if around is not None else ()) for node in nodes_below(one))
    return any(isinstance(one, (ast.Raise, ast.Call)) and _insists(one) for one in inside)


def _insists(node: ast.Raise | ast.Call) -> bool:
    return isinstance(node, ast.Raise) or last_name(node.func) == SETTER


def _importers(project: Project, module: Module) -> Iterator[Module]:
    name = module.path.parent.name if module.path.stem == "__init__" else module.path.stem
    for other in project.mentioning(name):
        if other is not module and module.path in project.graph.imports(other.path):
            yield other


def _forks(project: Project, module: Module, runs: Iterable[Sequence[Settles]]) -> Iterator[Misuse]:
    """Fork asked for, in a project that also runs where it is unsafe or not to be had."""
    for events in runs:
        for event in events:
            if event.kind == "set" and event.way.usual and event.module is module:
                worlds = event.way.worlds & _where_fork_harms(project, event)
                if not set(project.settings.platforms).isdisjoint(platforms_of(worlds)):
                    yield Misuse("fork", event, worlds=worlds)


def _where_fork_harms(project: Project, event: Settles) -> Worlds:
    """Where a call may ask for fork and that is unsafe, or ends in an error that nothing catches."""
    call, module = event.node, event.module
    given = argument(call, "method", 0) if isinstance(call, ast.Call) else None
    if given is None:
        return NOWHERE
    harmed = DARWIN if RAISED_UNKNOWN in event.way.caught else DARWIN | WINDOWS
    evaluator, scope = Evaluator(project), module.scope_at(call)
    held = evaluator.find(Expression(module, scope, given))
    found, is_open = [*held.possible], not (held.known or held.is_all)
    if is_open and isinstance(given, ast.Name) and isinstance(scope.node, FUNCTIONS):
        found.append(default_of(evaluator, FunctionFacts(module, scope.node), given.id))
    asked = [given, *(one.node for one in behind(evaluator, Expression(module, scope, given)))] if is_open else []
    calls = [one for one in asked if isinstance(one, ast.Call) and last_name(one.func) in ASKING and len(one.args) > 1]
    found += [evaluator.find(Expression(module, scope, call.args[-1])) for call in calls]
    return harmed & NOWHERE.union(*(one.worlds for one in found if one.value == Constant("fork")))
