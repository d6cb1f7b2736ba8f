"""Follow code as it runs, noting what starts threads that no child has and what wants them.

Statements in order; loops and ``with`` run once, calls of project functions, methods and constructors are entered.
What stands in a branch counts within the branch, and no longer after it. Imports are noted, not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forklint.facts.forking.objects import Instance, Objects, Thing, View
from forklint.facts.forking.trace import Calls, Event, Imports, MayHappen, Place, Trace, TurnsOff, Use, Way
from forklint.knowledge.poisons import DecoratorRow, poisons
from forklint.knowledge.starters import iteration
from forklint.project.budget import Budget
from forklint.project.guard import asks_for_name
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, bodies, expressions, statements
from forklint.project.spelling import is_static, last_name
from forklint.values.devices import devices
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

MAX_DEPTH = 6
"""How many calls deep."""
MAX_ENTRIES = 3
"""How often one function is entered in one walk."""
Entered = tuple[FunctionFacts, Instance | None]
"""A function, and the object that it is a method of."""


class Walk:
    """One walk over code of the project, from a block of statements."""

    def __init__(
        self,
        project: Project,
        budget: Budget,
        asked: frozenset[str] = frozenset(),
        *,
        is_program: bool = False,
        imported: bool = False,
    ) -> None:
        """Take the last names of calls that are ``asked`` for, and whether a program is followed, or an import."""
        self._project = project
        self._budget = budget
        self._asked = asked
        self._is_program = is_program
        self._is_imported = imported
        self._evaluator = Evaluator(project)
        self._objects = Objects(project, budget)
        self._entered: dict[Function, int] = {}
        self._active: list[Function] = []
        self._path: Way = ()
        self._events: list[Event] = []

    @property
    def trace(self) -> Trace:
        """What the code does that was followed so far."""
        return tuple(self._events)

    # Statements

    def top(self, module: Module) -> None:
        """Follow a module's top level."""
        self.block(View(module, module.scope), module.tree.body)

    def block(self, view: View, body: list[ast.stmt]) -> bool:
        """Follow statements; True if what comes after the block does not run, or is not known."""
        return any(self._statement(view, statement) for statement in body)

    def _statement(self, view: View, statement: ast.stmt) -> bool:
        if not self._budget.spend():
            return True
        for expression in expressions(statement):
            self.expression(view, expression)
        if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return True
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._import(view, statement)
        elif isinstance(statement, ast.ClassDef):
            self.block(replace(view, scope=view.module.scope_of[statement]), statement.body)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.block(view, statement.body)
        elif not isinstance(statement, FUNCTIONS):
            self._compound(view, statement)
        return self._is_program and bool(self._active) and _may_leave(statement)

    def _compound(self, view: View, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If):
            self._branches(view, statement)
        elif isinstance(statement, (ast.Try, *_try_star())):
            self.block(view, [*statement.body, *statement.orelse])  # type: ignore[attr-defined]
            for handler in statement.handlers:  # type: ignore[attr-defined]
                self._branch(view, handler.body)
            self.block(view, statement.finalbody)  # type: ignore[attr-defined]
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                self._branch(view, case.body)
        else:
            for body in bodies(statement):
                self.block(view, body)

    def _branches(self, view: View, statement: ast.If) -> None:
        if _is_main_guard(statement):
            if not self._is_imported:
                self.block(view, statement.body)
            return
        for body in (statement.body, statement.orelse):
            self._branch(view, body)

    def _branch(self, view: View, body: list[ast.stmt]) -> None:
        """Follow what may not run."""
        before, self._events = self._events, []
        self.block(view, body)
        if self._events:
            before.append(MayHappen(tuple(self._events)))
        self._events = before

    def _import(self, view: View, statement: ast.Import | ast.ImportFrom) -> None:
        """Note the project files that an import runs."""
        files = tuple(imported_files(self._project, view.module, statement)) if self._is_program else ()
        if files:
            self._events.append(Imports(files, (*self._path, Place(view.module, statement))))

    # Expressions

    def expression(self, view: View, node: ast.expr) -> None:
        """Follow the calls of an expression that it makes when it is evaluated, inner ones first."""
        for call in calls_now(node):
            if not self._budget.spend():
                return
            self._call(view, call)

    def _call(self, view: View, call: ast.Call) -> None:
        if last_name(call.func) in self._asked:
            self._events.append(Calls(view, call, self._path_to(view, call)))
        symbol = self._project.resolve(view.module, view.scope, call.func)
        name = symbol.name if isinstance(symbol, External) else ""
        if name and not _asks_for_several(call):
            off = frozenset(row.name for row in poisons().poisons.values() if name in row.off)
            self._events += [TurnsOff(off)] if off else []
        use = self._use(view, call, name)
        if use is not None:
            self._events.append(use)
            return
        found = self.target(view, call.func, call)
        if found is not None:
            self.enter(found, self.arguments(view, found, call.args, call.keywords), Place(view.module, call))

    def _path_to(self, view: View, call: ast.Call) -> Way:
        """The way to a call that is about to be followed."""
        return (*self._path, Place(view.module, call))

    def _use(self, view: View, call: ast.Call, name: str) -> Use | None:
        path = self._path_to(view, call)
        row = poisons().function(name)
        if row is not None:
            return Use(row.poison, row.who, row.starts, row.hangs, path)
        if self._goes_to_cuda(view, call, name):
            return Use("cuda", "CUDA", starts=True, hangs=True, path=path)
        marked = self._marked(view, call)
        if marked is not None:
            return Use(marked.poison, marked.who, starts=True, hangs=marked.hangs, path=path)
        method, owner = "__call__", self._objects.of(view, call.func)
        if not isinstance(owner, str) and isinstance(call.func, ast.Attribute):
            method, owner = call.func.attr, self._objects.of(view, call.func.value)
        found = poisons().method(owner, method) if isinstance(owner, str) else None
        if found is None:
            return None
        return Use(found.poison, found.who, method in found.starts, method in found.hangs, path)

    def _marked(self, view: View, call: ast.Call) -> DecoratorRow | None:
        """The row for a call of a project function that a decorator compiles."""
        symbol = self._project.resolve(view.module, view.scope, call.func)
        if not isinstance(symbol, FunctionFacts):
            return None
        for decorator in symbol.node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            scope = symbol.scope.parent or symbol.module.scope
            row = poisons().decorator(self._project.qualified(symbol.module, scope, function))
            if row is None or (row.body and not _calls_named(symbol.node, row.body)):
                continue
            given = decorator.keywords if isinstance(decorator, ast.Call) else []
            asked = [one.value for one in given if one.arg == row.keyword]
            if not row.keyword or any(isinstance(one, ast.Constant) and one.value is True for one in asked):
                return row
        return None

    def _goes_to_cuda(self, view: View, call: ast.Call, name: str) -> bool:
        """Whether a call puts something on a CUDA device where there is one."""
        if name.startswith("torch.") and name.rpartition(".")[2].islower() and name not in PLAIN_VALUES:
            given = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
        elif isinstance(call.func, ast.Attribute) and not name and b"torch" in view.module.document.code:
            if call.func.attr == "cuda":
                return not call.keywords and len(call.args) <= 1
            given = call.args[:1] if call.func.attr == "to" else []
        else:
            given = []
        named = [devices(self._evaluator, Expression(view.module, view.scope, one)) for one in given]
        return any(one.is_all and any(name == "cuda" for name, _ in one.names) for one in named)

    # Calls of the project's own code

    def target(self, view: View, function: ast.expr, call: ast.Call | None = None) -> Entered | None:
        """The function that a call enters, with the object that its first parameter is for a method."""
        symbol = self._project.resolve(view.module, view.scope, function)
        if isinstance(symbol, ClassFacts):
            made = self._objects.of(view, call) if call is not None else None
            return self.method(made if isinstance(made, Instance) else Instance(symbol), "__init__")
        if isinstance(symbol, FunctionFacts) and symbol.owner is None:
            return symbol, None
        if isinstance(function, ast.Attribute):
            owner = self._objects.of(view, function.value)
            if isinstance(owner, Instance) and self.method(owner, function.attr) is not None:
                return self.method(owner, function.attr)
        called = self._objects.of(view, function)
        return self.method(called, "__call__") if isinstance(called, Instance) else None

    def method(self, owner: Instance, name: str) -> Entered | None:
        """A method that an object has in the project."""
        found = self._project.method(owner.facts, name)
        return (FunctionFacts(found[0].module, found[1]), owner) if found else None

    def enter(self, entered: Entered, known: Mapping[str, Thing], by: Place | None = None) -> None:
        """Follow the body of a function or method."""
        facts, me = entered
        node = facts.node
        entries = self._entered[node] = self._entered.get(node, 0) + 1
        runs_once = any("cache" in ast.unparse(mark) for mark in node.decorator_list)
        deep = len(self._active) >= MAX_DEPTH or node in self._active or entries > (1 if runs_once else MAX_ENTRIES)
        if deep or isinstance(node, ast.AsyncFunctionDef) or not self._runs_at_once(facts):
            return
        path = self._path
        self._active.append(node)
        self._path = (*path, by) if by is not None else path
        self.block(View(facts.module, facts.scope, None if is_static(node) else me, known), node.body)
        self._active.pop()
        self._path = path

    def _runs_at_once(self, facts: FunctionFacts) -> bool:
        """Whether calling a function runs its body, and not what a decorator makes of it."""
        scope = facts.scope.parent or facts.module.scope
        for decorator in facts.node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self._project.qualified(facts.module, scope, function)
            if not name and isinstance(function, ast.Name) and scope.find(function.id) is None:
                name = f"builtins.{function.id}"
            if name not in iteration().transparent_decorators | iteration().calling_decorators:
                return False
        return True

    def arguments(
        self, view: View, entered: Entered, given: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()
    ) -> dict[str, Thing]:
        """What is known of the parameters of a function that is entered."""
        return self._objects.bound(view, entered[0].node, given, keywords, is_method=entered[1] is not None)


PLAIN_VALUES = frozenset({"torch.device", "torch.load", "torch.autocast", "torch.set_default_device", "torch.compile"})
"""Torch functions that take a device and need not touch it."""


def calls_now(node: ast.AST) -> Iterator[ast.Call]:
    """Give the calls that an expression makes when it is evaluated, inner ones first; a comprehension runs once."""
    if isinstance(node, (ast.Lambda, *FUNCTIONS)):
        return
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.IfExp):
        parts = [node.test]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        parts = [*(one.iter for one in node.generators), node.elt]
    for part in parts:
        yield from calls_now(part)
    if isinstance(node, ast.Call):
        yield node


def imported_files(project: Project, module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[Path]:
    """The project files that an import names, packages on the way included."""
    if isinstance(statement, ast.Import):
        names = [
            (".".join(alias.name.split(".")[: n + 1]), 0)
            for alias in statement.names
            for n in range(alias.name.count(".") + 1)
        ]
    else:
        base, level = statement.module or "", statement.level
        names = [(base, level), *((f"{base}.{alias.name}".strip("."), level) for alias in statement.names)]
    for name, level in names:
        path = project.resolver.find(module.path, name, level)
        if path is not None:
            yield path


def _may_leave(statement: ast.stmt) -> bool:
    """Whether a compound statement may end the function that it stands in."""
    inner = (one for body in bodies(statement) for one in statements(body))
    return any(isinstance(one, (ast.Return, ast.Raise)) for one in inner)


def _calls_named(node: Function, name: str) -> bool:
    calls = (one for one in nodes_below(node) if isinstance(one, ast.Call))
    return any(last_name(call.func) == name for call in calls)


def _asks_for_several(call: ast.Call) -> bool:
    """Whether a call that sets a number of threads sets more than one for certain."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return any(isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > 1 for one in given)


def _is_main_guard(statement: ast.If) -> bool:
    test = statement.test
    return isinstance(test, ast.Compare) and asks_for_name(test)


def _try_star() -> tuple[type[ast.AST], ...]:
    """``try`` with ``except*``, which Python 3.10 does not have."""
    return (ast.TryStar,) if hasattr(ast, "TryStar") else ()
