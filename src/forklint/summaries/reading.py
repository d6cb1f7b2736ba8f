"""From the tree of a file to its summary, in one walk."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from forklint.source.document import SHARED
from forklint.summaries.path_roots import may_add, path_roots
from forklint.summaries.spelling import base, decorators, spelt, typed
from forklint.summaries.summary import CLASS, FUNCTION, MODULE, STAR, Given, Import, Scope, Statement, Summary
from forklint.summaries.text_imports import IMPORTING, only_looks
from forklint.summaries.top_level import ALL, exports, is_guard

LONGEST_STRING = 80
"""Characters of the longest string constant that is kept."""
SELF = "self"
NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def summarise(tree: ast.Module) -> Summary:
    """Summarise a file, given its tree; raises RecursionError for one that nests too deeply."""
    walk = _Walk(tree)
    scopes = tuple(one.scope() for one in walk.scopes)
    mentions = any(ALL in one.binds or ALL in one.bare for one in walk.scopes if one.kind != FUNCTION)
    return Summary(
        tuple(walk.imports),
        exports(tree) if mentions else None,
        scopes,
        tuple(walk.statements),
        path_roots(tree) if may_add(scopes) else (),
    )


class _Open:
    """A scope while it is read."""

    __slots__ = (
        "attributes", "bare", "bases", "binds", "calls", "decorators", "dotted", "given", "gives", "keywords", "kind",
        "looks", "name", "own", "parameters", "parent", "passed", "retained", "runs", "stores", "strings", "typed",
    )  # fmt: skip

    def __init__(self, kind: str, name: str, parent: int) -> None:
        self.kind, self.name, self.parent = kind, name, parent
        self.bases: tuple[str, ...] = ()
        self.keywords: tuple[str, ...] = ()
        self.decorators: tuple[str, ...] = ()
        self.parameters: tuple[str, ...] = ()
        self.binds: set[str] = set()
        self.bare: set[str] = set()
        self.attributes: set[str] = set()
        self.calls: set[str] = set()
        self.stores: set[str] = set()
        self.given: dict[Given, None] = {}
        self.passed: set[str] = set()
        self.strings: set[str] = set()
        self.gives = False
        self.retained: set[str] = set()
        self.runs = False
        self.dotted: set[str] = set()
        self.own: set[str] = set()
        self.looks = False
        self.typed: tuple[Given, ...] = ()

    def scope(self) -> Scope:
        """The scope as it was read."""
        return Scope(
            self.kind, self.name, self.parent, self.bases, self.keywords, self.decorators, self.parameters,
            frozenset(self.binds), frozenset(self.bare), frozenset(self.attributes), frozenset(self.calls),
            frozenset(self.stores), tuple(self.given), frozenset(self.passed), frozenset(self.strings), self.gives,
            frozenset(self.retained), frozenset(self.dotted), self.runs, frozenset(self.own), self.looks, self.typed,
        )  # fmt: skip


class _Walk:
    """Reads one tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.scopes = [_Open(MODULE, "", -1)]
        self.imports: list[Import] = []
        self.statements: list[Statement] = []
        self._here = self.scopes[0]
        self._number = 0
        self._fleeting: ast.AST | None = None
        """A call whose value does not outlive it, or an attribute that is called: what is above it says so."""
        for statement in tree.body:
            self._top(statement)

    def _top(self, node: ast.stmt) -> None:
        """Read a statement of the top level, and what it says by itself."""
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._visit(node)
            return
        if isinstance(node, ast.If) and node.orelse and is_guard(node):
            self._top(ast.If(node.test, node.body, []))
            for other in node.orelse:
                self._top(other)
            return
        whole = self._here
        alone = self._here = self.scopes[0] = _Open(MODULE, "", -1)
        self._visit(node)
        self._here = self.scopes[0] = whole
        names = (frozenset(alone.binds), frozenset(alone.bare), frozenset(alone.attributes))
        self.statements.append(Statement(*names, is_guard=is_guard(node), runs=alone.runs))
        for mine, its in (
            (whole.binds, alone.binds), (whole.bare, alone.bare), (whole.attributes, alone.attributes),
            (whole.calls, alone.calls), (whole.stores, alone.stores), (whole.passed, alone.passed),
            (whole.strings, alone.strings), (whole.retained, alone.retained), (whole.dotted, alone.dotted),
            (whole.own, alone.own),
        ):  # fmt: skip
            mine.update(its)
        whole.given.update(alone.given)
        whole.runs |= alone.runs

    def _visit(self, node: ast.AST) -> None:
        read = READERS.get(node.__class__)
        if read is not None:
            read(self, node)
        else:
            self._below(node)

    def read_nothing(self, _: ast.AST) -> None:
        pass

    def _below(self, node: ast.AST) -> None:
        for value in node.__dict__.values():
            if value.__class__ is list:
                for one in value:
                    if isinstance(one, ast.AST):
                        self._visit(one)
            elif isinstance(value, ast.AST):
                self._visit(value)

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self._visit(node)

    # Expressions

    def read_name(self, node: ast.Name) -> None:
        (self._here.bare if node.ctx.__class__ is ast.Load else self._here.binds).add(node.id)

    def read_attribute(self, node: ast.Attribute) -> None:
        if node.ctx.__class__ is ast.Store:
            self._here.stores.add(spelt(node))
        written = self._chain(node)
        if written:
            self._here.dotted.add(written)

    def _chain(self, node: ast.Attribute) -> str:
        """Read an attribute and all that it is taken from; the dotted name, if that is one and not on ``self``."""
        here, last, parts = self._here, node, [node.attr]
        while isinstance(last.value, ast.Attribute):
            last = last.value
            parts.append(last.attr)
        here.attributes.update(parts)
        root = last.value
        if isinstance(root, ast.Name):
            here.bare.add(root.id)
            if root.id == SELF and (len(parts) > 1 or node.ctx.__class__ is ast.Load):
                here.own.add(parts[-1])
            return ".".join((root.id, *reversed(parts))) if root.id != SELF or len(parts) > 1 else ""
        if isinstance(root, ast.Call):
            if last is not self._fleeting:
                here.retained.add(spelt(last))
            self._fleeting = root
        self._visit(root)
        return ""

    def read_constant(self, node: ast.Constant) -> None:
        value = node.value
        if value.__class__ is str and 0 < len(value) <= LONGEST_STRING and NAMES.issuperset(value):
            self._here.strings.add(value)

    def read_call(self, node: ast.Call) -> None:
        called, spelling = node.func, spelt(node.func)
        self._here.calls.add(spelling)
        self._here.runs = True
        if node is not self._fleeting:
            self._here.retained.add(spelling)
        self._fleeting = called
        if isinstance(called, ast.Attribute):
            self._chain(called)
        else:
            self._visit(called)
        self._all(node.args)
        for keyword in node.keywords:
            if keyword.arg is not None:
                self._here.passed.add(keyword.arg)
            self._visit(keyword.value)

    def read_named(self, node: ast.NamedExpr) -> None:
        self._give(node.target, node.value)
        self._visit(node.target)
        self._visit(node.value)

    def read_lambda(self, node: ast.Lambda) -> None:
        if self._here.kind != CLASS:
            self._here.binds.update(one.arg for one in _parameters(node.args))
        self._all((*node.args.defaults, *node.args.kw_defaults, node.body))

    def read_yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self._here.gives = True
        self._below(node)

    # Statements

    def read_assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._give(target, node.value)
        self._below(node)

    def read_annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._give(node.target, node.value)
        elif node.simple:  # `x: int` binds nothing
            self._visit(node.annotation)
            return
        self._below(node)

    def read_loop(self, node: ast.For | ast.AsyncFor | ast.comprehension) -> None:
        self._here.runs = True
        self._below(node)

    def read_with(self, node: ast.With | ast.AsyncWith) -> None:
        self._here.runs = True
        for item in node.items:
            if item.optional_vars is not None:
                self._give(item.optional_vars, item.context_expr)
        self._below(node)

    def _give(self, target: ast.expr, value: ast.expr) -> None:
        """Note each value that a target is given, tuples taken apart where both sides are written out."""
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            alike = len(parts) == len(target.elts)
            if alike and not any(isinstance(one, ast.Starred) for one in (*parts, *target.elts)):
                for one, part in zip(target.elts, parts, strict=True):
                    self._give(one, part)
                return
            for one in target.elts:
                self._give_whole(one, value)
            return
        self._give_whole(target, value)

    def _give_whole(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self._give_whole(one, value)
            return
        written = spelt(target)
        for part in _choices(value):
            spelling = spelt(part)
            if spelling[0] != "?":
                self._here.given[Given(written, spelling)] = None

    def read_with_item(self, node: ast.withitem) -> None:
        self._fleeting = node.context_expr
        self._below(node)

    def read_expression(self, node: ast.Expr) -> None:
        self._fleeting = node.value
        self._visit(node.value)

    def read_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._here.gives = True
            self._visit(node.value)

    def read_import(self, node: ast.Import) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self._here.binds.add(bound)
            self.imports.append(Import(bound, alias.name, scope=self._number, is_renamed=alias.asname is not None))

    def read_import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            bound = alias.asname or alias.name
            if bound != STAR:
                self._here.binds.add(bound)
            renamed = alias.asname is not None
            self.imports.append(Import(bound, module, alias.name, node.level, self._number, renamed))

    def read_names(self, node: ast.Global | ast.Nonlocal) -> None:
        if self._here.kind != CLASS:
            self._here.binds.update(node.names)

    def read_handler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._here.binds.add(node.name)
        self._below(node)

    def read_pattern(self, node: ast.AST) -> None:
        bound = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(bound, str):
            self._here.binds.add(bound)
        self._below(node)

    # Definitions

    def read_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        self._here.binds.add(node.name)
        self._all((*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, node.returns))
        self._all(one.annotation for one in _parameters(arguments))
        inner = self._enter(FUNCTION, node.name)
        inner.decorators = decorators(node)
        inner.parameters, inner.typed = tuple(_starred(arguments)), typed(arguments)
        inner.binds.update(one.arg for one in _parameters(arguments))
        self._body(inner, node.body)
        inner.looks = not IMPORTING.isdisjoint(inner.attributes | inner.bare) and only_looks(node)

    def read_class(self, node: ast.ClassDef) -> None:
        self._here.binds.add(node.name)
        self._all((*node.decorator_list, *node.bases, *(one.value for one in node.keywords)))
        inner = self._enter(CLASS, node.name)
        inner.decorators = decorators(node)
        inner.bases = tuple(map(base, node.bases))
        inner.keywords = tuple(one.arg or "**" for one in node.keywords)
        self._body(inner, node.body)

    def _enter(self, kind: str, name: str) -> _Open:
        inner = _Open(kind, name, self._number)
        self.scopes.append(inner)
        return inner

    def _body(self, inner: _Open, body: list[ast.stmt]) -> None:
        outer = self._here, self._number
        self._here, self._number = inner, len(self.scopes) - 1
        self._all(body)
        self._here, self._number = outer


READERS: dict[type, Callable[[_Walk, Any], None]] = {
    ast.Name: _Walk.read_name,
    ast.Attribute: _Walk.read_attribute,
    ast.Constant: _Walk.read_constant,
    ast.Call: _Walk.read_call,
    ast.NamedExpr: _Walk.read_named,
    ast.Lambda: _Walk.read_lambda,
    ast.Yield: _Walk.read_yield,
    ast.YieldFrom: _Walk.read_yield,
    ast.Assign: _Walk.read_assign,
    ast.AnnAssign: _Walk.read_annotated,
    ast.For: _Walk.read_loop,
    ast.AsyncFor: _Walk.read_loop,
    ast.comprehension: _Walk.read_loop,
    ast.With: _Walk.read_with,
    ast.AsyncWith: _Walk.read_with,
    ast.withitem: _Walk.read_with_item,
    ast.Expr: _Walk.read_expression,
    ast.Return: _Walk.read_return,
    ast.Import: _Walk.read_import,
    ast.ImportFrom: _Walk.read_import_from,
    ast.Global: _Walk.read_names,
    ast.Nonlocal: _Walk.read_names,
    ast.ExceptHandler: _Walk.read_handler,
    ast.MatchAs: _Walk.read_pattern,
    ast.MatchStar: _Walk.read_pattern,
    ast.MatchMapping: _Walk.read_pattern,
    ast.FunctionDef: _Walk.read_function,
    ast.AsyncFunctionDef: _Walk.read_function,
    ast.ClassDef: _Walk.read_class,
    **dict.fromkeys(SHARED, _Walk.read_nothing),
}
"""How each kind of node is read; of others, what stands below them is."""


def _choices(value: ast.expr) -> Iterable[ast.expr]:
    """Give the values that an expression may have: both of a condition, each of ``a or b``."""
    if isinstance(value, ast.IfExp):
        yield from _choices(value.body)
        yield from _choices(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _choices(part)
    else:
        yield value


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    extra = (one for one in (arguments.vararg, arguments.kwarg) if one is not None)
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _starred(arguments: ast.arguments) -> Iterable[str]:
    yield from (one.arg for one in (*arguments.posonlyargs, *arguments.args))
    if arguments.vararg is not None:
        yield f"*{arguments.vararg.arg}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from (one.arg for one in arguments.kwonlyargs)
    if arguments.kwarg is not None:
        yield f"**{arguments.kwarg.arg}"
