"""What has certainly run before a statement: third-party modules loaded and calls made, through the project's imports.

It answers from the top of a module, as Python runs it: statements in order, each imported project module once,
functions that are called for certain. What stands under an ``if`` counts only for statements of the same branch,
so nothing under ``TYPE_CHECKING`` or in another module's main guard counts. The module at hand is taken by itself:
what its importers ran before it is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from forklint.knowledge.environment import Calls, Environment, loaded_by
from forklint.project.index import External, Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Scope, bodies, expressions, statements
from forklint.records import dataclass

MAX_MODULES_DEEP = 40
"""How long a chain of imports is followed."""
MAX_CALLS_DEEP = 4
"""How many calls of functions deep."""
NOT_NOW = (ast.Lambda, *FUNCTIONS)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LEAVES = (ast.Return, ast.Raise)


@dataclass(frozen=True)
class Place:
    """A node and the module it stands in."""

    module: Module
    node: ast.AST


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


@dataclass(frozen=True)
class _Frame:
    module: Module
    scope: Scope
    path: tuple[Place, ...] = ()
    modules_deep: int = 0
    calls_deep: int = 0


def before(project: Project, environment: Environment, module: Module, statement: ast.stmt) -> list[Event]:
    """Give what has certainly happened before a statement runs, in order, its own expressions included."""
    functions = [node for node in module.above(statement) if isinstance(node, FUNCTIONS)][::-1]
    stop = first_use(project, module, outermost_definition(module, statement)) if functions else statement
    run = _started(project, environment, module, stop)
    blocks = [(module.scope_of[function], function.body) for function in functions]
    for (scope, body), until in zip(blocks, [*functions[1:], statement], strict=bool(functions)):
        run.until(scope, body, until)
    run.expressions(statement, module.scope_at(statement))
    return run.events


def _started(project: Project, environment: Environment, module: Module, stop: ast.stmt | None) -> _Run:
    """A run of the module's body up to a statement: where that stands in the body itself, from the one whole run."""
    run = _Run(project, environment, module)
    if stop is not None and module.parents.get(stop) is not module.tree:
        run.until(module.scope, module.tree.body, stop)
        return run
    run.take(project.answer("whole runs", module, lambda: _whole(project, environment, module)), stop)
    return run


def _whole(project: Project, environment: Environment, module: Module) -> _Run:
    whole = _Run(project, environment, module)
    whole.until(module.scope, module.tree.body, None)
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


def _first_uses(module: Module) -> dict[str, int]:
    """For each name, the number of the first top-level statement that mentions it or leads to a mention of it."""
    mentions: dict[str, set[str]] = {}
    for one in statements(module.tree.body):
        if isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            names = {node.id for node in nodes_below(one) if isinstance(node, ast.Name)}
            mentions.setdefault(one.name, set()).update(names)
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

    def __init__(self, project: Project, environment: Environment, root: Module) -> None:
        self._project = project
        self._environment = environment
        self._root = root
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

    def until(self, scope: Scope, body: list[ast.stmt], stop: ast.stmt | None) -> None:
        """Run a block of the module at hand up to a statement in it, at any depth."""
        above = set(self._root.above(stop)) if stop is not None else set()
        self._block(_Frame(self._root, scope), body, stop, above)

    def _block(self, frame: _Frame, body: list[ast.stmt], stop: ast.stmt | None, above: set[ast.AST]) -> bool:
        """Run a block; True if ``stop`` was reached, or if what follows is no longer certain."""
        for statement in body:
            if body is self._root.tree.body:
                self._marks[statement] = len(self.events), len(self._ran), len(self._entered)
            if statement is stop:
                return True
            self._expressions(frame, statement)
            if statement in above:
                self._branch(frame, statement, stop, above)
                return True
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._imports(frame, statement)
            elif isinstance(statement, LEAVES) or self._compound(frame, statement, above):
                return True
        return False

    def _branch(self, frame: _Frame, statement: ast.stmt, stop: ast.stmt | None, above: set[ast.AST]) -> None:
        """Run the one block of a compound statement in which ``stop`` stands."""
        if isinstance(statement, ast.ClassDef):
            self._block(_inside(frame, statement), statement.body, stop, above)
            return
        if isinstance(statement, ast.Try) and any(s is stop or s in above for s in statement.orelse):
            self._block(frame, statement.body, None, set())
        for block in bodies(statement):
            if any(inner is stop or inner in above for inner in block):
                self._block(frame, block, stop, above)

    def _compound(self, frame: _Frame, statement: ast.stmt, above: set[ast.AST]) -> bool:
        """Run what certainly runs inside a compound statement; True if what follows it is not certain."""
        if isinstance(statement, ast.ClassDef):
            self._block(_inside(frame, statement), statement.body, None, above)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            return self._block(frame, statement.body, None, above)
        elif isinstance(statement, ast.Try):
            for block in (statement.body, statement.orelse, statement.finalbody):
                self._block(frame, block, None, above)
        if frame.calls_deep and not isinstance(statement, FUNCTIONS):
            return any(isinstance(inner, LEAVES) for block in bodies(statement) for inner in statements(block))
        return False

    # Imports

    def _imports(self, frame: _Frame, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                self._import(frame, statement, alias.name, 0, ())
        else:
            names = tuple(alias.name for alias in statement.names if alias.name != "*")
            self._import(frame, statement, statement.module or "", statement.level, names)

    def _import(self, frame: _Frame, statement: ast.stmt, name: str, level: int, names: tuple[str, ...]) -> None:
        importer, parts = frame.module.path, name.split(".") if name else []
        find = self._project.resolver.find
        for length in range(0 if level else 1, len(parts) + 1):
            prefix = ".".join(parts[:length])
            path = find(importer, prefix, level)
            if path is not None:
                self._module(frame, statement, path)
            elif length == 1 and not level and self._project.resolver.is_package(importer, prefix) is None:
                self._load(frame, statement, name, names)
                return
        package = find(importer, name, level)
        home = self._project.module(package) if package is not None else None
        for inner in names:
            path = find(importer, f"{name}.{inner}".strip("."), level)
            if path is not None and (home is None or inner not in home.scope.bindings):
                self._module(frame, statement, path)

    def _load(self, frame: _Frame, statement: ast.stmt, name: str, names: tuple[str, ...]) -> None:
        loaded = loaded_by(name, names)
        if loaded & self._environment.reader_modules:
            place = Place(frame.module, statement)
            self.events.append(Event(name, loaded, frozenset(), (*frame.path, place)))

    def _module(self, frame: _Frame, statement: ast.stmt, path: Path) -> None:
        if path in self._ran or frame.modules_deep >= MAX_MODULES_DEEP:
            return
        self._ran[path] = None
        module = self._project.module(path)
        if module is not None:
            path_to = (*frame.path, Place(frame.module, statement))
            inner = _Frame(module, module.scope, path_to, frame.modules_deep + 1, 0)
            self._block(inner, module.tree.body, None, set())

    # Calls

    def expressions(self, statement: ast.stmt, scope: Scope) -> None:
        """Evaluate the expressions of a statement of the module at hand."""
        self._expressions(_Frame(self._root, scope), statement)

    def _expressions(self, frame: _Frame, statement: ast.stmt) -> None:
        for expression in expressions(statement):
            for call in _calls_now(expression):
                self._call(frame, statement, call)

    def _call(self, frame: _Frame, statement: ast.stmt, call: ast.Call) -> None:
        symbol = self._project.resolve(frame.module, frame.scope, call.func)
        if isinstance(symbol, FunctionFacts):
            self._enter(frame, statement, symbol)
            return
        name = symbol.name if isinstance(symbol, External) else ""
        if name in {"importlib.import_module", "builtins.__import__"} and call.args:
            target = call.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                self._import(frame, statement, target.value, 0, ())
            return
        groups = {key for key, row in self._environment.calls.items() if self._falls_under(frame, call, name, row)}
        if groups:
            place = Place(frame.module, call)
            cause = f"{name}()" if name else f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else "call"
            self.events.append(Event(cause, frozenset(), frozenset(groups), (*frame.path, place)))

    def _falls_under(self, frame: _Frame, call: ast.Call, name: str, row: Calls) -> bool:
        if name in row.unless_functions and any(
            row.unless_set.encode() in module.document.code for module in (self._root, frame.module)
        ):
            return False
        if name in row.functions:
            return True
        method = call.func.attr if isinstance(call.func, ast.Attribute) and not name else ""
        if row.cuda_methods and (method == "cuda" or (method == "to" and call.args and _is_cuda(call.args[0]))):
            return True
        if not row.device_literals or not name.startswith("torch.") or name in PLAIN_VALUES:
            return False
        is_function = name.rpartition(".")[2].islower()
        return is_function and any(keyword.arg == "device" and _is_cuda(keyword.value) for keyword in call.keywords)

    def _enter(self, frame: _Frame, statement: ast.stmt, function: FunctionFacts) -> None:
        """Run a project function that is called, if calling it runs its body at once."""
        node = function.node
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list and function.owner is None
        if not plain or node in self._entered or frame.calls_deep >= MAX_CALLS_DEEP or _is_generator(node):
            return
        self._entered[node] = None
        path = (*frame.path, Place(frame.module, statement))
        inner = _Frame(function.module, function.scope, path, frame.modules_deep, frame.calls_deep + 1)
        self._block(inner, node.body, None, set())


PLAIN_VALUES = frozenset({"torch.device", "torch.load", "torch.autocast", "torch.set_default_device"})
"""Torch functions that take a device and need not touch it."""


def _inside(frame: _Frame, node: ast.ClassDef) -> _Frame:
    return _Frame(frame.module, frame.module.scope_of[node], frame.path, frame.modules_deep, frame.calls_deep)


def _packages_above(project: Project, path: Path) -> Iterator[Path]:
    """Give the ``__init__.py`` of each package around a module: running, or run, when the module is."""
    for folder in path.parents:
        init = folder / "__init__.py"
        if not project.has_file(init):
            return
        yield init


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
