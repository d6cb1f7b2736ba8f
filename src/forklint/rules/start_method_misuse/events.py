"""What code does to the start method of its process, as events of a run: measured with Python 3.11 for each kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.starters import iteration, settling
from forklint.project.index import External
from forklint.project.module import FunctionFacts
from forklint.project.scopes import Function
from forklint.project.spelling import argument
from forklint.records import dataclass
from forklint.runs.programs import Program, budget_for
from forklint.runs.trace import Event
from forklint.runs.walk import Topic, trace_of_module
from forklint.starting.methods import named
from forklint.summaries.terms import CALL, WORD
from forklint.values.model import Made

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol
    from forklint.project.module import Module
    from forklint.project.scopes import Scope
    from forklint.values.model import Expression


@dataclass(frozen=True)
class Settles(Event):
    """Something that matters to the start method."""

    kind: str
    """``set``: set_start_method; ``settled``: something else that settles it; ``start``: a process starts;
    ``context``: a context is asked for by name; ``environment``: a variable is set."""
    method: str = ""
    """The start method, where it is a literal; for ``environment`` the variable."""
    forced: bool = False

    @property
    def module(self) -> Module:
        """The module in which it happens."""
        return self.place.module

    @property
    def node(self) -> ast.AST:
        """The call or statement by which it happens."""
        return self.place.node


SERVER = "forkserver"
ASKING = ("set_start_method", "get_context")
"""What is called to have processes started by a method."""
Root = Function | None
"""A function, or None for the top level of a module."""


def may_misuse(project: Project, module: Module) -> bool:
    """Whether a module sets the start method, or a variable where a fork server may run: all else is no misuse."""
    topic, has_server = StartMethods(project), _may_have_server(project)
    for node in module.nodes:
        if isinstance(node, ast.Call):
            name = project.qualified(module, module.scope_at(node), node.func)
            if name in iteration().setters:
                return True
        elif (
            has_server and isinstance(node, ast.Assign) and any(topic.of_statement(module, module.scope_at(node), node))
        ):
            return True
    return False


def _may_have_server(project: Project) -> bool:
    """Whether a file may ask for a fork server: it says so, and calls what sets a method or gives a context."""
    asked = {name for one in ASKING for name in project.hierarchy.names_for(one)}
    files = {path for name in asked for path in project.where(CALL, name)}
    return not files.isdisjoint(project.where(WORD, SERVER))


def events_in(project: Project, module: Module) -> dict[Root, tuple[Settles, ...]]:
    """What a module's top level does, run as a script, and each of its functions; nothing where that is too much."""
    topic = StartMethods(project)
    found: list[tuple[Root, FunctionFacts | None]] = [(None, None), *((one.node, one) for one in module.functions)]
    return {node: _events_of(topic, module, root, len(found)) for node, root in found}


def _events_of(topic: StartMethods, module: Module, root: FunctionFacts | None, number: int) -> tuple[Settles, ...]:
    events: list[Settles] = []

    def note(event: Event, _: Program) -> None:
        if isinstance(event, Settles):
            events.append(event)

    budget = budget_for(topic.project, root.node if root is not None else module, number)
    program = Program(topic, budget, module if root is None else None, met=note)
    if root is not None:
        program.call(root)
    else:
        program.play(trace_of_module(topic, module.path))
    return tuple(events) if not budget.has_run_out else ()


class StartMethods(Topic):
    """Follows what settles the start method, and what starts processes by it."""

    name = "start methods"
    with_values = True
    by_machine = True

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterator[Event]:
        """What a call of a library does."""
        node = call.node
        if isinstance(symbol, FunctionFacts) or not isinstance(node, ast.Call):
            return
        name = symbol.name if isinstance(symbol, External) else ""
        event = _library(name, node)
        if event is not None:
            yield event
        if name.rpartition(".")[2] in {"Pool", "ProcessPoolExecutor"} or self._starts(call, node):
            yield Settles("start")

    def of_statement(self, module: Module, scope: Scope, statement: ast.stmt) -> Iterator[Event]:
        """The variables that a statement sets."""
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Constant):
                continue
            if self.project.qualified(module, scope, target.value) == "os.environ":
                yield Settles("environment", str(target.slice.value))

    def _starts(self, call: Expression, node: ast.Call) -> bool:
        """``p.start()`` of a process made by multiprocessing, ``ctx.Pool()`` of one of its contexts."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in {"start", "Pool"}:
            return False
        found = self.evaluator.find(call.part(node.func.value))
        wanted = "Process" if node.func.attr == "start" else "get_context"
        made = (one.value for one in found.possible if isinstance(one.value, Made))
        return any(one.name.rpartition(".")[2] == wanted for one in made)


def _library(name: str, node: ast.Call) -> Settles | None:
    """What a call of a library does."""
    known = settling()
    owner, _, last = name.rpartition(".")
    if name in iteration().setters:
        given = argument(node, "method", 0)
        force = argument(node, "force", 1)
        forced = force is not None and not (isinstance(force, ast.Constant) and not force.value)
        return Settles("set", named(given), forced)
    if name in known.calls:
        return Settles("settled")
    if name in known.executors:
        context = argument(node, "mp_context", 1)
        is_open = any(keyword.arg is None for keyword in node.keywords)
        return Settles("settled") if context is None and not is_open else None
    if owner not in known.modules:
        return None
    given = argument(node, "method", 0)
    is_default = given is None or (isinstance(given, ast.Constant) and given.value is None)
    if last == "get_context":
        return Settles("settled") if is_default else Settles("context", named(given))
    if last == "get_start_method":
        given = argument(node, "allow_none", 0)
        is_false = given is None or (isinstance(given, ast.Constant) and not given.value)
        return Settles("settled") if is_false else None
    return None
