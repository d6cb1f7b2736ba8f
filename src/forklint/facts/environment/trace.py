"""What a block of code certainly does: the third-party modules that it loads, and the calls that it makes, in order.

Each module and each function is followed once, whoever runs it; what it imports and calls of the project is named in
its trace, and is played by a program (see ``loaded``). What stands under an ``if`` counts only for statements of the
same branch, so nothing under ``TYPE_CHECKING`` or in another module's main guard counts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from forklint.knowledge.environment import Calls, Environment, loaded_by
from forklint.project.index import External, Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Scope, bodies, expressions, statements
from forklint.records import dataclass

NOT_NOW = (ast.Lambda, *FUNCTIONS)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LEAVES = (ast.Return, ast.Raise)


@dataclass(frozen=True)
class Place:
    """A node and the module it stands in."""

    module: Module
    node: ast.AST


@dataclass(frozen=True)
class Happens:
    """Third-party modules are loaded, or a call is made."""

    cause: str
    """The module as imported, or the call as written."""
    loaded: frozenset[str]
    """Modules outside the project that an import loads; empty for a call."""
    calls: frozenset[str]
    """Names of the tables in [calls] that a call falls under; empty for an import."""
    place: Place
    unless: tuple[tuple[str, str], ...] = ()
    """Further tables, each with a word: a call falls under them in programs that do not hold it."""


@dataclass(frozen=True)
class Imports:
    """A file of the project runs, if it has not yet."""

    file: Path
    place: Place


@dataclass(frozen=True)
class Enters:
    """A function of the project is called."""

    function: FunctionFacts
    place: Place


Step = Happens | Imports | Enters


def trace_of_module(project: Project, environment: Environment, path: Path) -> tuple[Step, ...]:
    """What importing a file of the project does."""
    module = project.module(path)
    if module is None:
        return ()
    return project.answer("what a module runs", module, lambda: _trace(project, environment, module, None))


def trace_of_function(project: Project, environment: Environment, function: FunctionFacts) -> tuple[Step, ...]:
    """What calling a function of the project does at once."""
    if not _runs_at_once(function):
        return ()
    return project.answer(
        "what a function runs", function.node, lambda: _trace(project, environment, function.module, function)
    )


def _trace(
    project: Project, environment: Environment, module: Module, function: FunctionFacts | None
) -> tuple[Step, ...]:
    found: list[Step] = []
    walk = Walk(project, environment, found.append)
    if function is None:
        walk.block(Frame(module, module.scope), module.tree.body)
    elif not _is_generator(function.node):
        walk.block(Frame(module, function.scope, is_call=True), function.node.body)
    return tuple(found)


def _runs_at_once(function: FunctionFacts) -> bool:
    """Whether calling a function runs its body, and not what a decorator or an event loop makes of it."""
    return isinstance(function.node, ast.FunctionDef) and not function.node.decorator_list and function.owner is None


@dataclass(frozen=True)
class Frame:
    """Where code stands, and whether it is run by a call."""

    module: Module
    scope: Scope
    is_call: bool = False

    def inside(self, node: ast.ClassDef) -> Frame:
        """The body of a class."""
        return Frame(self.module, self.module.scope_of[node], self.is_call)


class Walk:
    """Follows statements, and tells ``emit`` of each step."""

    def __init__(
        self,
        project: Project,
        environment: Environment,
        emit: Callable[[Step], None],
        reached: Callable[[ast.stmt], None] | None = None,
    ) -> None:
        """``reached`` is told of the statements of a module's own body before they run."""
        self._project = project
        self._environment = environment
        self._emit = emit
        self._reached = reached

    def until(self, frame: Frame, body: list[ast.stmt], stop: ast.stmt | None) -> None:
        """Follow a block up to a statement in it, at any depth."""
        above = set(frame.module.above(stop)) if stop is not None else set()
        self.block(frame, body, stop, above)

    def block(
        self,
        frame: Frame,
        body: list[ast.stmt],
        stop: ast.stmt | None = None,
        above: AbstractSet[ast.AST] = frozenset(),
    ) -> bool:
        """Follow a block; True if ``stop`` was reached, or if what follows is no longer certain."""
        for statement in body:
            if self._reached is not None and body is frame.module.tree.body:
                self._reached(statement)
            if statement is stop:
                return True
            self.expressions(frame, statement)
            if statement in above:
                self._branch(frame, statement, stop, above)
                return True
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._imports(frame, statement)
            elif isinstance(statement, LEAVES) or self._compound(frame, statement, above):
                return True
        return False

    def _branch(self, frame: Frame, statement: ast.stmt, stop: ast.stmt | None, above: AbstractSet[ast.AST]) -> None:
        """Run the one block of a compound statement in which ``stop`` stands."""
        if isinstance(statement, ast.ClassDef):
            self.block(frame.inside(statement), statement.body, stop, above)
            return
        if isinstance(statement, ast.Try) and any(s is stop or s in above for s in statement.orelse):
            self.block(frame, statement.body)
        for block in bodies(statement):
            if any(inner is stop or inner in above for inner in block):
                self.block(frame, block, stop, above)

    def _compound(self, frame: Frame, statement: ast.stmt, above: AbstractSet[ast.AST]) -> bool:
        """Run what certainly runs inside a compound statement; True if what follows it is not certain."""
        if isinstance(statement, ast.ClassDef):
            self.block(frame.inside(statement), statement.body, None, above)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.block(frame, statement.body, None, above)
        elif isinstance(statement, ast.Try):
            for block in (statement.body, statement.orelse, statement.finalbody):
                self.block(frame, block, None, above)
        if frame.is_call and not isinstance(statement, FUNCTIONS):
            return any(isinstance(inner, LEAVES) for block in bodies(statement) for inner in statements(block))
        return False

    # Imports

    def _imports(self, frame: Frame, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                self._import(frame, statement, alias.name, 0, ())
        else:
            names = tuple(alias.name for alias in statement.names if alias.name != "*")
            self._import(frame, statement, statement.module or "", statement.level, names)

    def _import(self, frame: Frame, statement: ast.stmt, name: str, level: int, names: tuple[str, ...]) -> None:
        importer, parts = frame.module.path, name.split(".") if name else []
        find = self._project.resolver.find
        for length in range(0 if level else 1, len(parts) + 1):
            prefix = ".".join(parts[:length])
            path = find(importer, prefix, level)
            if path is not None:
                self._emit(Imports(path, Place(frame.module, statement)))
            elif length == 1 and not level and self._project.resolver.is_package(importer, prefix) is None:
                self._load(frame, statement, name, names)
                return
        package = find(importer, name, level)
        home = self._project.module(package) if package is not None else None
        for inner in names:
            path = find(importer, f"{name}.{inner}".strip("."), level)
            if path is not None and (home is None or inner not in home.scope.bindings):
                self._emit(Imports(path, Place(frame.module, statement)))

    def _load(self, frame: Frame, statement: ast.stmt, name: str, names: tuple[str, ...]) -> None:
        loaded = loaded_by(name, names)
        if loaded & self._environment.reader_modules:
            self._emit(Happens(name, loaded, frozenset(), Place(frame.module, statement)))

    # Calls

    def expressions(self, frame: Frame, statement: ast.stmt) -> None:
        """Evaluate the expressions of a statement."""
        for expression in expressions(statement):
            for call in _calls_now(expression):
                self._call(frame, statement, call)

    def _call(self, frame: Frame, statement: ast.stmt, call: ast.Call) -> None:
        symbol = self._project.resolve(frame.module, frame.scope, call.func)
        if isinstance(symbol, FunctionFacts):
            if _runs_at_once(symbol):
                self._emit(Enters(symbol, Place(frame.module, statement)))
            return
        name = symbol.name if isinstance(symbol, External) else ""
        if name in {"importlib.import_module", "builtins.__import__"} and call.args:
            target = call.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                self._import(frame, statement, target.value, 0, ())
            return
        groups = {key: row for key, row in self._environment.calls.items() if _falls_under(call, name, row)}
        unless = {key: row.unless_set for key, row in groups.items() if name in row.unless_functions}
        own = {key for key, word in unless.items() if word.encode() in frame.module.document.code}
        always, open_ = groups.keys() - unless.keys(), unless.keys() - own
        if always or open_:
            cause = f"{name}()" if name else f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else "call"
            place, asked = Place(frame.module, call), tuple((key, unless[key]) for key in sorted(open_))
            self._emit(Happens(cause, frozenset(), frozenset(always), place, asked))


def _falls_under(call: ast.Call, name: str, row: Calls) -> bool:
    """Whether a call falls under a table, whatever the program says of it."""
    if name in row.functions:
        return True
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not name else ""
    if row.cuda_methods and (method == "cuda" or (method == "to" and call.args and _is_cuda(call.args[0]))):
        return True
    if not row.device_literals or not name.startswith("torch.") or name in PLAIN_VALUES:
        return False
    is_function = name.rpartition(".")[2].islower()
    return is_function and any(keyword.arg == "device" and _is_cuda(keyword.value) for keyword in call.keywords)


PLAIN_VALUES = frozenset({"torch.device", "torch.load", "torch.autocast", "torch.set_default_device"})
"""Torch functions that take a device and need not touch it."""


def _is_cuda(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and str(expression.value).startswith("cuda")


def _is_generator(node: Function) -> bool:
    inner = (e for s in statements(node.body) for e in expressions(s))
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for expression in inner for n in nodes_below(expression))


def _calls_now(expression: ast.expr) -> Iterator[ast.Call]:
    """Give the calls that an expression certainly makes when it is evaluated, inner ones first."""
    if isinstance(expression, NOT_NOW):
        return
    if isinstance(expression, COMPREHENSIONS):
        yield from _calls_now(expression.generators[0].iter)
        return
    parts: list[ast.AST] = list(ast.iter_child_nodes(expression))
    if isinstance(expression, ast.BoolOp):
        parts = [expression.values[0]]
    elif isinstance(expression, ast.IfExp):
        parts = [expression.test]
    for part in parts:
        inner = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inner, ast.expr):
            yield from _calls_now(inner)
    if isinstance(expression, ast.Call):
        yield expression
