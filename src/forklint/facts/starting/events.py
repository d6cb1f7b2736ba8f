"""What code surely does to the start method of its process, in the order in which it runs.

Followed are the statements of a module or function, the body under its main guard, and calls of functions of the
project. What stands under any other condition, in a loop or where a RuntimeError is caught may not happen: it is told
with ``certain`` false. Measured with Python 3.11 for each kind of event.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forklint.facts.starting.methods import named
from forklint.knowledge.starters import iteration, settling
from forklint.project.budget import size
from forklint.project.guard import is_main_guard
from forklint.project.index import External
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Kind, expressions
from forklint.project.spelling import argument
from forklint.records import dataclass

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
class Event:
    """Something that matters to the start method."""

    kind: str
    """``set``: set_start_method; ``settled``: something else that settles it; ``start``: a process starts;
    ``environment``: a variable is set."""
    module: Module
    node: ast.AST
    certain: bool
    method: str = ""
    """The start method, where it is a literal; for ``environment`` the variable."""
    forced: bool = False
    guarded: bool = False
    """Whether it stands under a main guard."""


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
    events = tuple(_Walk(project, budget).block(module, home.body, certain=True, guarded=False))
    return events if not budget.has_run_out else ()


class _Walk:
    """One walk; it knows which functions it is in."""

    def __init__(self, project: Project, budget: Budget) -> None:
        self.project = project
        self.budget = budget
        self.inside: list[ast.AST] = []

    def block(self, module: Module, body: Sequence[ast.stmt], *, certain: bool, guarded: bool) -> Iterator[Event]:
        for statement in body:
            yield from self.statement(module, statement, certain=certain, guarded=guarded)

    def statement(self, module: Module, node: ast.stmt, *, certain: bool, guarded: bool) -> Iterator[Event]:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) or not self.budget.spend():
            return
        for expression in expressions(node):
            yield from self._expression(module, expression, certain=certain, guarded=guarded)
        if isinstance(node, ast.Assign):
            yield from self._environment(module, node, certain=certain, guarded=guarded)
        if isinstance(node, ast.If):
            is_guard = is_main_guard(node.test)
            yield from self.block(module, node.body, certain=certain and is_guard, guarded=guarded or is_guard)
            yield from self.block(module, node.orelse, certain=False, guarded=guarded)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            catches = any("suppress" in ast.unparse(item.context_expr) for item in node.items)
            yield from self.block(module, node.body, certain=certain and not catches, guarded=guarded)
        elif isinstance(node, ast.Try):
            yield from self.block(module, node.body, certain=certain and not node.handlers, guarded=guarded)
            for handler in node.handlers:
                yield from self.block(module, handler.body, certain=False, guarded=guarded)
            yield from self.block(module, node.orelse, certain=certain and not node.handlers, guarded=guarded)
            yield from self.block(module, node.finalbody, certain=certain, guarded=guarded)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield from self.block(module, node.body, certain=False, guarded=guarded)

    def _expression(self, module: Module, node: ast.expr, *, certain: bool, guarded: bool) -> Iterator[Event]:
        """The events of an expression; parts that need not run, such as the body of a lambda, are left out."""
        if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp)):
            return
        for child in ast.iter_child_nodes(node):
            part = child.value if isinstance(child, ast.keyword) else child
            if isinstance(part, ast.expr):
                yield from self._expression(module, part, certain=certain, guarded=guarded)
        if isinstance(node, ast.Call):
            yield from self._call(module, node, certain=certain, guarded=guarded)

    def _call(self, module: Module, node: ast.Call, *, certain: bool, guarded: bool) -> Iterator[Event]:
        if not self.budget.spend():
            return
        scope = module.scope_at(node)
        symbol = self.project.resolve(module, scope, node.func)
        if isinstance(symbol, FunctionFacts):
            yield from self._function(symbol, certain=certain, guarded=guarded)
            return
        name = symbol.name if isinstance(symbol, External) else ""
        event = _library(name, node)
        if event is not None:
            kind, method, forced = event
            yield Event(kind, module, node, certain, method, forced, guarded)
        if name.rpartition(".")[2] in {"Pool", "ProcessPoolExecutor"} or self._starts(module, scope, node):
            yield Event("start", module, node, certain, guarded=guarded)

    def _function(self, facts: FunctionFacts, *, certain: bool, guarded: bool) -> Iterator[Event]:
        """What a function of the project does; nothing for those that run later, or not in this way."""
        node = facts.node
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list and facts.owner is None
        if not plain or node in self.inside or len(self.inside) >= MAX_DEPTH:
            return
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in nodes_below(node)):
            return
        self.inside.append(node)
        yield from self.block(facts.module, node.body, certain=certain, guarded=guarded)
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

    def _environment(self, module: Module, node: ast.Assign, *, certain: bool, guarded: bool) -> Iterator[Event]:
        for target in node.targets:
            if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Constant):
                continue
            if self.project.qualified(module, module.scope_at(node), target.value) == "os.environ":
                yield Event("environment", module, node, certain, str(target.slice.value), guarded=guarded)


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
