"""What has certainly run before a statement: third-party modules loaded and calls made, through the project's imports.

It answers from the top of a module, as Python runs it: statements in order, each imported project module once,
functions that are called for certain once each. The module at hand is taken by itself: what its importers ran before
it is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from forklint.facts.environment.trace import (
    Frame,
    Happens,
    Imports,
    Place,
    Step,
    Walk,
    trace_of_function,
    trace_of_module,
)
from forklint.knowledge.environment import Environment
from forklint.project.budget import Budget, size
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, statements
from forklint.records import dataclass

MAX_MODULES_DEEP = 40
"""How long a chain of imports is followed."""
MAX_CALLS_DEEP = 4
"""How many calls of functions deep."""
STEPS_PER_FILE = 20_000
"""Imports, calls and loaded modules that are looked at for one file, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of it."""


@dataclass(frozen=True)
class Event:
    """Something that has certainly happened: third-party modules were loaded, or a call was made."""

    cause: str
    """The module as imported, or the call as written."""
    loaded: frozenset[str]
    """Modules outside the project that an import loaded; empty for a call."""
    calls: frozenset[str]
    """Names of the tables in [calls] that a call falls under; empty for an import."""
    path: tuple[Place, ...]
    """From the statement of the file at hand, through imports and calls, to the one where it happens."""


def before(project: Project, environment: Environment, module: Module, statement: ast.stmt, number: int) -> list[Event]:
    """Give what has certainly happened before a statement runs, in order, its own expressions included.

    It is one of a ``number`` of statements of the file of which that is asked.
    """
    functions = [node for node in module.above(statement) if isinstance(node, FUNCTIONS)][::-1]
    stop = first_use(project, module, outermost_definition(module, statement)) if functions else statement
    run = _started(project, environment, module, stop, _budget(project, module, number))
    blocks = [(module.scope_of[function], function.body) for function in functions]
    for (scope, body), until in zip(blocks, [*functions[1:], statement], strict=bool(functions)):
        run.walk.until(Frame(module, scope), body, until)
    run.walk.expressions(Frame(module, module.scope_at(statement)), statement)
    return run.events


def _budget(project: Project, module: Module, number: int) -> Budget:
    steps = STEPS_PER_FILE + STEPS_PER_NODE * size(module.tree)
    return project.budgets.of("following imports", steps // number)


def _started(project: Project, environment: Environment, module: Module, stop: ast.stmt | None, budget: Budget) -> _Run:
    """A run of the module's body up to a statement: where that stands in the body itself, from the one whole run."""
    run = _Run(project, environment, module, budget)
    if stop is not None and module.parents.get(stop) is not module.tree:
        run.walk.until(Frame(module, module.scope), module.tree.body, stop)
    else:
        run.take(project.answer("whole runs", module, lambda: _whole(project, environment, module)), stop)
    return run


def _whole(project: Project, environment: Environment, module: Module) -> _Run:
    whole = _Run(project, environment, module, _budget(project, module, 1))
    whole.walk.until(Frame(module, module.scope), module.tree.body, None)
    return whole


def outermost_definition(module: Module, node: ast.AST) -> Function | ast.ClassDef | None:
    """The module-level function or class that a node stands in, if any."""
    found = [above for above in module.above(node) if isinstance(above, (*FUNCTIONS, ast.ClassDef))]
    return found[-1] if found else None


def first_use(project: Project, module: Module, definition: Function | ast.ClassDef | None) -> ast.stmt | None:
    """The first top-level statement that may run code of a definition; None if only other modules can.

    A statement may do so if it mentions the name, or that of another definition that mentions it.
    """
    if definition is None:
        return None
    if definition.decorator_list:
        return definition
    index = project.answer("first uses", module, lambda: _first_uses(module)).get(definition.name)
    return None if index is None else module.tree.body[index]


def is_run(project: Project, module: Module, statement: ast.stmt) -> bool:
    """Whether a module's own body runs a statement, or a definition that it stands in."""
    definition = outermost_definition(module, statement)
    return definition is None or first_use(project, module, definition) is not None


def leading_to(project: Project, module: Module) -> dict[str, frozenset[str]]:
    """For each name, the definitions of a module that mention it, or one another that does; "" is the top level."""
    return project.answer("definitions that lead to names", module, lambda: _find_leading(module))


def _find_leading(module: Module) -> dict[str, frozenset[str]]:
    mentions = {**_mentions(module), "": {name for one in module.tree.body for name in _names_now(one)}}
    reached: dict[str, set[str]] = {}
    for definition, names in mentions.items():
        waiting, seen = list(names), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                reached.setdefault(name, set()).add(definition)
                waiting += mentions.get(name, ())
    return {name: frozenset(definitions) for name, definitions in reached.items()}


def _mentions(module: Module) -> dict[str, set[str]]:
    """The names that each function and class of a module mentions."""
    mentions: dict[str, set[str]] = {}
    for one in statements(module.tree.body):
        if isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            names = {node.id for node in nodes_below(one) if isinstance(node, ast.Name)}
            mentions.setdefault(one.name, set()).update(names)
    return mentions


def _first_uses(module: Module) -> dict[str, int]:
    """For each name, the number of the first top-level statement that mentions it or leads to a mention of it."""
    mentions = _mentions(module)
    first: dict[str, int] = {}
    for index, statement in enumerate(module.tree.body):
        waiting = list(_names_now(statement))
        while waiting:
            name = waiting.pop()
            if name not in first:
                first[name] = index
                waiting += mentions.get(name, ())
    return first


def _names_now(statement: ast.stmt) -> set[str]:
    """Names that are read when a statement runs, as against when a function defined by it is called."""
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, FUNCTIONS):
            waiting += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return names


class _Run:
    """One run of a module, or of a part of it."""

    def __init__(self, project: Project, environment: Environment, root: Module, budget: Budget) -> None:
        self._project = project
        self._environment = environment
        self._root = root
        self._budget = budget
        self.walk = Walk(project, environment, self._play, self._mark)
        self.events: list[Event] = []
        self._ran = dict.fromkeys([root.path, *_packages_above(project, root.path)])
        self._entered: dict[Function, None] = {}
        self._marks: dict[ast.stmt, tuple[int, int, int]] = {}
        """How much had happened when each statement of the module's own body was reached."""

    def take(self, whole: _Run, stop: ast.stmt | None) -> None:
        """Begin with what had happened in another run when it reached a statement; with all of it if it never did."""
        events, ran, entered = whole._marks.get(stop, (None, None, None)) if stop is not None else (None, None, None)
        self.events = whole.events[:events]
        self._ran = dict.fromkeys(islice(whole._ran, ran))
        self._entered = dict.fromkeys(islice(whole._entered, entered))

    def _mark(self, statement: ast.stmt) -> None:
        self._marks[statement] = len(self.events), len(self._ran), len(self._entered)

    def _play(self, step: Step, path: tuple[Place, ...] = (), modules_deep: int = 0, calls_deep: int = 0) -> None:
        """Let a step happen, with all that it leads to."""
        if not self._budget.spend():
            return
        path = (*path, step.place)
        if isinstance(step, Happens):
            groups = step.calls | {key for key, word in step.unless if word.encode() not in self._root.document.code}
            if step.loaded or groups:
                self.events.append(Event(step.cause, step.loaded, groups, path))
        elif isinstance(step, Imports):
            if step.file not in self._ran and modules_deep < MAX_MODULES_DEEP:
                self._ran[step.file] = None
                for inner in trace_of_module(self._project, self._environment, step.file):
                    self._play(inner, path, modules_deep + 1, 0)
        elif step.function.node not in self._entered and calls_deep < MAX_CALLS_DEEP:
            self._entered[step.function.node] = None
            for inner in trace_of_function(self._project, self._environment, step.function):
                self._play(inner, path, modules_deep, calls_deep + 1)


def _packages_above(project: Project, path: Path) -> Iterator[Path]:
    """Give the ``__init__.py`` of each package around a module: running, or run, when the module is."""
    for folder in path.parents:
        init = folder / "__init__.py"
        if not project.has_file(init):
            return
        yield init
