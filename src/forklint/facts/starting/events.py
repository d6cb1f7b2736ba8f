"""What code surely does to the start method of its process, in the order in which it runs.

Followed are the statements of a module or function, the body under its main guard, and calls of functions of the
project. A test of the platform leaves some worlds of an event; what stands under any other condition, in a loop or in
a handler may not happen: it is told with ``certain`` false. Measured with Python 3.11 for each kind of event.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.facts.starting.methods import named
from forklint.knowledge.starters import iteration, settling
from forklint.project.budget import size
from forklint.project.guard import is_main_guard
from forklint.project.index import External
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Kind, expressions
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass
from forklint.values.worlds import EVERYWHERE, Conditions, Regions, Worlds

if TYPE_CHECKING:
    from forklint.project.budget import Budget
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

MAX_DEPTH = 4
STEPS_PER_FILE = 8_000
"""Statements and calls that are looked at for what is run of one file, all together, whatever is in it, ..."""
STEPS_PER_NODE = 4
"""... and besides for each node of it."""


@dataclass(frozen=True)
class Way:
    """How code is come to."""

    certain: bool = True
    """Whether it surely runs in its worlds."""
    usual: bool = True
    """Whether it runs unless an error comes before it in a ``try``, or another start method is set already."""
    if_unset: bool = False
    """Whether it asks first which start method is set."""
    caught: frozenset[str] = frozenset()
    """Names of the errors that something around it catches; of those that can end ``set_start_method``."""
    worlds: Worlds = EVERYWHERE
    guarded: bool = False
    """Whether it stands under a main guard."""

    def where(self, worlds: Worlds) -> Way:
        """The way on, in these of its worlds alone."""
        return replace(self, worlds=self.worlds & worlds)

    def perhaps(self, *, usual: bool = False) -> Way:
        """The way on to what may not run."""
        return replace(self, certain=False, usual=self.usual and usual)


@dataclass(frozen=True)
class Event:
    """Something that matters to the start method."""

    kind: str
    """``set``: set_start_method; ``settled``: something else that settles it; ``start``: a process starts;
    ``environment``: a variable is set."""
    module: Module
    node: ast.AST
    way: Way
    method: str = ""
    """The start method, where it is a literal; for ``environment`` the variable."""
    forced: bool = False

    @property
    def certain(self) -> bool:
        """Whether it surely happens in its worlds."""
        return self.way.certain

    @property
    def guarded(self) -> bool:
        """Whether it stands under a main guard."""
        return self.way.guarded


RAISED_AGAIN = "RuntimeError"
"""What ``set_start_method`` raises where a start method is set already."""
RAISED_UNKNOWN = "ValueError"
"""What it raises for a start method that the platform does not have."""
Root = Function | None
"""A function, or None for the top level of a module."""


def events_in(project: Project, module: Module) -> dict[Root, tuple[Event, ...]]:
    """What a module's top level does, run as a script, and each of its functions; nothing where that is too much."""
    roots: list[Root] = [None, *(function.node for function in module.functions)]
    shared = STEPS_PER_FILE // len(roots)
    return {root: _events_of(project, module, root, shared) for root in roots}


def _events_of(project: Project, module: Module, root: Root, steps: int) -> tuple[Event, ...]:
    home = module.tree if root is None else root
    budget = project.budgets.of("following calls", steps + STEPS_PER_NODE * size(home))
    events = tuple(_Walk(project, budget).block(module, home.body, Way()))
    return events if not budget.has_run_out else ()


class _Walk:
    """One walk; it knows which functions it is in."""

    def __init__(self, project: Project, budget: Budget) -> None:
        self.project = project
        self.budget = budget
        self.inside: list[ast.AST] = []

    def block(self, module: Module, body: Sequence[ast.stmt], way: Way) -> Iterator[Event]:
        regions = Regions(Conditions(self.project, module))
        for statement in body:
            if not way.worlds:
                return
            yield from self.statement(module, statement, way)
            way = way.where(regions.survivors([statement]))

    def statement(self, module: Module, node: ast.stmt, way: Way) -> Iterator[Event]:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) or not self.budget.spend():
            return
        for expression in expressions(node):
            yield from self._expression(module, expression, way)
        if isinstance(node, ast.Assign):
            yield from self._environment(module, node, way)
        if isinstance(node, ast.If):
            yield from self._branches(module, node, way)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from self.block(module, node.body, replace(way, caught=way.caught | _suppressed(node)))
        elif isinstance(node, ast.Try):
            yield from self._try(module, node, way)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield from self.block(module, node.body, way.perhaps())

    def _branches(self, module: Module, node: ast.If, way: Way) -> Iterator[Event]:
        if is_main_guard(node.test):
            yield from self.block(module, node.body, replace(way, guarded=True))
            yield from self.block(module, node.orelse, way.perhaps())
            return
        truth = Conditions(self.project, module).truth(node.test)
        told = not truth.true & truth.false  # each world takes one branch
        asks = not told and _asks_for_method(node.test)
        inside = way if told else replace(way.perhaps(usual=asks), if_unset=way.if_unset or asks)
        yield from self.block(module, node.body, inside.where(truth.true))
        yield from self.block(module, node.orelse, (way if told else way.perhaps()).where(truth.false))

    def _try(self, module: Module, node: ast.Try, way: Way) -> Iterator[Event]:
        """The statements of a ``try``: the first surely runs, the others unless it raises what is caught."""
        inside = replace(way, caught=way.caught.union(*map(_caught_by, node.handlers)))
        later = inside.perhaps(usual=True) if node.handlers else inside
        yield from self.block(module, node.body[:1], inside)
        yield from self.block(module, node.body[1:], later)
        for handler in node.handlers:
            yield from self.block(module, handler.body, way.perhaps())
        yield from self.block(module, node.orelse, way.perhaps(usual=True) if node.handlers else way)
        yield from self.block(module, node.finalbody, way)

    def _expression(self, module: Module, node: ast.expr, way: Way) -> Iterator[Event]:
        """The events of an expression; parts that need not run, such as the body of a lambda, are left out."""
        if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp)):
            return
        for child in ast.iter_child_nodes(node):
            part = child.value if isinstance(child, ast.keyword) else child
            if isinstance(part, ast.expr):
                yield from self._expression(module, part, way)
        if isinstance(node, ast.Call):
            yield from self._call(module, node, way)

    def _call(self, module: Module, node: ast.Call, way: Way) -> Iterator[Event]:
        if not self.budget.spend():
            return
        scope = module.scope_at(node)
        symbol = self.project.resolve(module, scope, node.func)
        if isinstance(symbol, FunctionFacts):
            yield from self._function(symbol, way)
            return
        name = symbol.name if isinstance(symbol, External) else ""
        event = _library(name, node)
        if event is not None:
            kind, method, forced = event
            yield Event(kind, module, node, way, method, forced)
        if name.rpartition(".")[2] in {"Pool", "ProcessPoolExecutor"} or self._starts(module, scope, node):
            yield Event("start", module, node, way)

    def _function(self, facts: FunctionFacts, way: Way) -> Iterator[Event]:
        """What a function of the project does; nothing for those that run later, or not in this way."""
        node = facts.node
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list and facts.owner is None
        if not plain or node in self.inside or len(self.inside) >= MAX_DEPTH:
            return
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in nodes_below(node)):
            return
        self.inside.append(node)
        yield from self.block(facts.module, node.body, way)
        self.inside.pop()

    def _starts(self, module: Module, scope: Scope, node: ast.Call) -> bool:
        """``p.start()`` of a process made by multiprocessing, ``ctx.Pool()`` of one of its contexts."""
        func = node.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return False
        made = _made_by(scope, func.value.id)
        if made is None:
            return False
        if func.attr == "start":
            last = made.func.attr if isinstance(made.func, ast.Attribute) else getattr(made.func, "id", "")
            return last == "Process"
        return func.attr == "Pool" and self.project.qualified(module, scope, made.func).endswith(".get_context")

    def _environment(self, module: Module, node: ast.Assign, way: Way) -> Iterator[Event]:
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Constant):
                continue
            if self.project.qualified(module, module.scope_at(node), target.value) == "os.environ":
                yield Event("environment", module, node, way, str(target.slice.value))


def _asks_for_method(test: ast.expr) -> bool:
    """Whether a condition asks which start method is set: what it guards runs in the usual case that none is."""
    return any(isinstance(node, ast.Call) and last_name(node.func) == "get_start_method" for node in nodes_below(test))


def _caught_by(handler: ast.ExceptHandler) -> frozenset[str]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return _errors([last_name(kind) if kind is not None else "BaseException" for kind in kinds])


def _suppressed(node: ast.With | ast.AsyncWith) -> frozenset[str]:
    calls = (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call))
    return _errors([last_name(kind) for call in calls if last_name(call.func) == "suppress" for kind in call.args])


def _errors(names: Sequence[str]) -> frozenset[str]:
    """The errors that names of exceptions stand for, of those that ``set_start_method`` can raise."""
    every = not {"Exception", "BaseException"}.isdisjoint(names)
    return frozenset({RAISED_AGAIN, RAISED_UNKNOWN} if every else {RAISED_AGAIN, RAISED_UNKNOWN}.intersection(names))


def _made_by(scope: Scope, name: str) -> ast.Call | None:
    """The one call that gives a variable its value."""
    found = scope.find(name)
    if found is None or len(found[1]) != 1 or found[1][0].kind is not Kind.VALUE:
        return None
    value = found[1][0].value
    return value if isinstance(value, ast.Call) else None


def _library(name: str, node: ast.Call) -> tuple[str, str, bool] | None:
    """What a call of a library does: the kind of event, the method, and whether by force."""
    known = settling()
    owner, _, last = name.rpartition(".")
    if name in iteration().setters:
        given = argument(node, "method", 0)
        force = argument(node, "force", 1)
        forced = force is not None and not (isinstance(force, ast.Constant) and not force.value)
        return "set", named(given), forced
    if name in known.calls:
        return "settled", "", False
    if name in known.executors:
        context = argument(node, "mp_context", 1)
        is_open = any(keyword.arg is None for keyword in node.keywords)
        return ("settled", "", False) if context is None and not is_open else None
    if owner not in known.modules:
        return None
    given = argument(node, "method", 0)
    is_default = given is None or (isinstance(given, ast.Constant) and given.value is None)
    if last == "get_context":
        return ("settled", "", False) if is_default else ("context", named(given), False)
    if last == "get_start_method":
        given = argument(node, "allow_none", 0)
        is_false = given is None or (isinstance(given, ast.Constant) and not given.value)
        return ("settled", "", False) if is_false else None
    return None
