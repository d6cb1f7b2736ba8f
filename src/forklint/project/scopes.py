"""What each name of a module is bound to, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from forklint.project.nodes import nodes_below
from forklint.project.top_level import BINDING, STARS, TREE, Note, untold

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Kind(Enum):
    """How a name comes to be bound."""

    IMPORT = "import"
    CLASS = "class"
    FUNCTION = "function"
    VALUE = "value"
    """``name = expression``: the binding holds the expression."""
    PARAMETER = "parameter"
    OTHER = "other"
    """A loop variable, a target of unpacking, ``with ... as``, ``except ... as``, ``global`` and the like."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One place where a name is bound."""

    name: str
    kind: Kind
    node: ast.AST
    """The statement that binds it (the argument, for a parameter)."""
    value: ast.expr | None = None
    module: str = ""
    """For an import: the dotted module it names, without leading dots."""
    attribute: str = ""
    """For ``from module import attribute``."""
    level: int = 0
    """For an import: how many leading dots."""


class Scope:
    """A module, class or function body and the names bound in it."""

    __slots__ = ("_bindings", "_children", "_elsewhere", "_globals", "_known", "_note", "_stars", "node", "parent")

    def __init__(self, node: ast.Module | ast.ClassDef | Function, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self._note: Note = untold
        self._known: dict[ast.AST, Scope] = {}
        """While it is filled again: the scopes of definitions that it had."""
        self.clear()

    def clear(self) -> None:
        """Let go of all names and scopes in it."""
        self._bindings: dict[str, list[Binding]] = {}
        self._children: dict[ast.AST, Scope] = {}
        self._stars: list[Binding] = []
        self._elsewhere: set[str] = set()
        self._globals: list[Binding] = []
        """What its ``global`` statements bind in the module's scope."""

    def dissolve(self) -> None:
        """Let go of all names and scopes in it and below it, which know each other; it is of no use afterwards."""
        for scope in tuple(self.all_below()):
            scope.clear()

    @property
    def bindings(self) -> dict[str, list[Binding]]:
        """All bindings, by name."""
        self._note(TREE)
        return self._bindings

    @property
    def children(self) -> dict[ast.AST, Scope]:
        """The scopes of the definitions in it."""
        self._note(TREE)
        return self._children

    @property
    def stars(self) -> list[Binding]:
        """``from module import *``."""
        self._note(STARS)
        return self._stars

    @property
    def elsewhere(self) -> set[str]:
        """Names declared ``global`` or ``nonlocal``."""
        self._note(TREE)
        return self._elsewhere

    @property
    def qualname(self) -> str:
        """Dotted path of definitions from the module to here; empty for the module."""
        if self.parent is None or isinstance(self.node, ast.Module):
            return ""
        return f"{self.parent.qualname}.{self.node.name}".lstrip(".")

    def bound(self, name: str) -> list[Binding]:
        """The bindings of one name in this scope."""
        self._note(BINDING, name)
        return self._bindings.get(name, [])

    def own(self, name: str) -> list[Binding]:
        """The same, but none for a name that lives elsewhere."""
        found = self.bound(name)
        return found if name not in self._elsewhere else []

    def refill(self, body: list[ast.stmt], note: Note, *, has_walrus: bool) -> None:
        """Take in the statements of a module, whose scope it is; the scopes of those that it had stay what they are.

        From then on ``note`` is told of what is read.
        """
        self._known = self._children
        self.clear()
        self._note = untold
        _fill(self, body)
        if has_walrus:
            _bind_walruses(self, body)
        for node in self._known.keys() - self._children.keys():
            self._known[node].dissolve()
        self._known = {}
        self._note = note

    def known(self, node: ast.AST) -> Scope | None:
        """The scope that a definition had before this one was filled again."""
        return self._known.get(node)

    def add_global(self, binding: Binding) -> None:
        """Take in what a ``global`` statement of it binds in the module's scope."""
        self._globals.append(binding)

    def all_globals(self) -> list[Binding]:
        """What ``global`` statements in it and below it bind in the module's scope, in source order."""
        below = [binding for child in self._children.values() for binding in child.all_globals()]
        return sorted([*self._globals, *below], key=lambda one: getattr(one.node, "lineno", 0))

    def all_below(self) -> Iterator[Scope]:
        """Give it and all scopes in it, outermost first."""
        yield self
        for child in self._children.values():
            yield from child.all_below()

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """Look a name up as Python does: here, then outwards, passing over classes between."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            found = scope.own(name) if first or not isinstance(scope.node, ast.ClassDef) else None
            if found:
                return scope, found
            scope, first = scope.parent, False
        return None


def _fill(scope: Scope, body: list[ast.stmt]) -> None:
    for statement in body:
        _bind_statement(scope, statement)


def _add(scope: Scope, binding: Binding) -> None:
    scope.bindings.setdefault(binding.name, []).append(binding)


def _bind_statement(scope: Scope, statement: ast.stmt) -> None:
    bind = BINDERS.get(type(statement))
    if bind is not None:
        bind(scope, statement)
    for body in bodies(statement):
        _fill(scope, body)
    for handler in getattr(statement, "handlers", ()):
        if handler.name:
            _add(scope, Binding(handler.name, Kind.OTHER, statement))


def _bind_assignment(scope: Scope, statement: ast.Assign) -> None:
    for target in statement.targets:
        _bind_target(scope, target, statement, statement.value)


def _bind_annotated(scope: Scope, statement: ast.AnnAssign) -> None:
    if statement.value is not None:
        _bind_target(scope, statement.target, statement, statement.value)


def _bind_loop(scope: Scope, statement: ast.For | ast.AsyncFor | ast.AugAssign) -> None:
    _bind_target(scope, statement.target, statement, None)


def _bind_with(scope: Scope, statement: ast.With | ast.AsyncWith) -> None:
    for item in statement.items:
        if item.optional_vars is not None:
            _bind_target(scope, item.optional_vars, statement, None)


def _bind_delete(scope: Scope, statement: ast.Delete) -> None:
    for target in statement.targets:
        _bind_target(scope, target, statement, None)


def bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Give the blocks of a compound statement in source order; none for definitions, which are scopes."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            yield case.body
        return
    body = getattr(statement, "body", None)
    if isinstance(body, list):
        yield body
        for handler in getattr(statement, "handlers", ()):
            yield handler.body
        yield getattr(statement, "orelse", [])
        yield getattr(statement, "finalbody", [])


def _bind_definition(scope: Scope, node: Function | ast.ClassDef) -> None:
    is_class = isinstance(node, ast.ClassDef)
    _add(scope, Binding(node.name, Kind.CLASS if is_class else Kind.FUNCTION, node))
    known = scope.known(node)
    if known is not None:
        scope.children[node] = known
        for binding in known.all_globals():
            _add(scope, binding)
        return
    inner = Scope(node, scope)
    scope.children[node] = inner
    if not isinstance(node, ast.ClassDef):
        for argument in parameters(node):
            _add(inner, Binding(argument.arg, Kind.PARAMETER, argument))
    _fill(inner, node.body)


def parameters(node: Function) -> list[ast.arg]:
    """Give all parameters of a function, in the order in which they are written."""
    arguments = node.args
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _bind_import(scope: Scope, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            target = alias.name if alias.asname else alias.name.split(".")[0]
            _add(scope, Binding(alias.asname or target, Kind.IMPORT, node, module=target))
        return
    for alias in node.names:
        binding = Binding(
            alias.asname or alias.name,
            Kind.IMPORT,
            node,
            module=node.module or "",
            attribute=alias.name,
            level=node.level,
        )
        if alias.name == "*":
            scope.stars.append(binding)
        else:
            _add(scope, binding)


def _bind_target(scope: Scope, target: ast.expr, statement: ast.stmt, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        kind = Kind.OTHER if value is None else Kind.VALUE
        _add(scope, Binding(target.id, kind, statement, value))
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
        if parts is not None and any(isinstance(part, ast.Starred) for part in (*parts, *target.elts)):
            parts = None
        for index, element in enumerate(target.elts):
            _bind_target(scope, element, statement, parts[index] if parts else None)
    elif isinstance(target, ast.Starred):
        _bind_target(scope, target.value, statement, None)


def _bind_elsewhere(scope: Scope, statement: ast.Global | ast.Nonlocal) -> None:
    """Make a name that a function declares ``global`` unknown where it lives, since it changes out of sight."""
    scope.elsewhere.update(statement.names)
    home: Scope | None = scope.parent
    while home is not None and isinstance(statement, ast.Global) and home.parent is not None:
        home = home.parent
    for name in statement.names:
        if home is not None:
            binding = Binding(name, Kind.OTHER, statement)
            _add(home, binding)
            if isinstance(statement, ast.Global):
                scope.add_global(binding)


def _bind_walruses(scope: Scope, body: list[ast.stmt]) -> None:
    for statement in statements(body):
        for expression in expressions(statement):
            for node in nodes_below(expression):
                if isinstance(node, ast.NamedExpr):
                    _add(scope, Binding(node.target.id, Kind.OTHER, statement))
    for child in scope.children.values():
        if scope.known(child.node) is None:
            _bind_walruses(child, child.node.body)


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements of a block and of the blocks in it, in source order, without entering definitions."""
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from statements(inner)


def expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Give the expressions that belong to a statement itself, not to the statements in its blocks."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr
        elif isinstance(child, ast.match_case) and child.guard is not None:
            yield child.guard
        elif isinstance(child, ast.keyword):
            yield child.value
        elif isinstance(child, ast.ExceptHandler) and child.type is not None:
            yield child.type


def _bind_patterns(scope: Scope, statement: ast.Match) -> None:
    for case in statement.cases:
        for node in nodes_below(case.pattern):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):
                _add(scope, Binding(name, Kind.OTHER, statement))


BINDERS: dict[type[ast.stmt], Callable[[Scope, Any], None]] = {
    ast.FunctionDef: _bind_definition,
    ast.AsyncFunctionDef: _bind_definition,
    ast.ClassDef: _bind_definition,
    ast.Import: _bind_import,
    ast.ImportFrom: _bind_import,
    ast.Assign: _bind_assignment,
    ast.AnnAssign: _bind_annotated,
    ast.AugAssign: _bind_loop,
    ast.For: _bind_loop,
    ast.AsyncFor: _bind_loop,
    ast.With: _bind_with,
    ast.AsyncWith: _bind_with,
    ast.Delete: _bind_delete,
    ast.Global: _bind_elsewhere,
    ast.Nonlocal: _bind_elsewhere,
    ast.Match: _bind_patterns,
}
"""What each kind of statement binds; the others bind nothing themselves."""
