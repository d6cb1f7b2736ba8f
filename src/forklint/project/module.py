"""One module of the project and the facts that it holds by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from forklint.model import Link, Span
from forklint.project import scopes
from forklint.project.alignment import Alignment
from forklint.project.answers import Fact
from forklint.project.nodes import nodes_below, parents_below
from forklint.project.scopes import FUNCTIONS, Function, Scope
from forklint.project.spelling import last_name
from forklint.project.top_level import TREE, USES, Root, used_name
from forklint.project.trees import move
from forklint.records import dataclass
from forklint.source.document import Document
from forklint.summaries.parts import NUMBERS

DERIVED = (
    *("parents", "scope_of", "_scopes", "_numbers", "_all_classes", "_all_functions"),
    *("_nodes", "_all_uses", "_all_calls", "_ordinals"),
)
"""What a module works out from its tree."""


@dataclass(eq=False)
class Module:
    """A parsed module: its tree, its names, its classes and functions."""

    path: Path
    source: Document
    """Its text; who reads it asks for ``document``."""
    parsed: ast.Module
    """Its tree; who reads it asks for ``tree``."""
    is_notebook: bool = False
    note: Callable[[Fact], None] | None = None
    """Told of what is read of it beyond what stands in a statement of its top level."""

    def __repr__(self) -> str:
        return f"Module({self.path})"

    def dissolve(self) -> None:
        """Let go of all that it holds, scopes that know each other included; it is of no use afterwards."""
        if "scope" in self.__dict__:
            self.scope.dissolve()
        self.__dict__.clear()

    def take_in(self, source: Document, tree: ast.Module, alignment: Alignment) -> None:
        """Become what an edited text says: the statements that both have keep their nodes."""
        same = alignment.same
        for mine, fresh in same:
            move(mine, fresh, alignment.kept)
        self.source = source
        if len(same) == len(self.parsed.body) == len(tree.body):
            return
        kept = {fresh: mine for mine, fresh in same}
        self.parsed.body[:] = [kept.get(one, one) for one in tree.body]
        for name in DERIVED:
            self.__dict__.pop(name, None)
        if "scope" in self.__dict__:
            self._fill(self.scope)
            self._classes = {node: facts for node, facts in self._classes.items() if node in self.scope_of}

    def _fill(self, scope: Scope) -> Scope:
        scope.refill(self.parsed.body, self._read, has_walrus=":=" in self.source.text)
        return scope

    def _read(self, kind: str, /, *name: str) -> None:
        """Take note of what is read."""
        if self.note is not None:
            self.note((kind, self._name, *name))

    @cached_property
    def _name(self) -> str:
        return str(self.path)

    @property
    def document(self) -> Document:
        """The text of the module, comments and layout included."""
        self._read("text")
        return self.source

    @property
    def screened(self) -> Document:
        """The text of the module, for leaving out early what its code cannot hold.

        What is concluded must be the same whatever words stand in comments: it rests on the code alone.
        """
        self._read(TREE)
        return self.source

    @cached_property
    def tree(self) -> Root:
        """The tree of the module."""
        return Root(self.parsed, self._read)

    @cached_property
    def scope(self) -> Scope:
        """The module's own scope, with all others below it."""
        return self._fill(Scope(self.tree, None))

    @property
    def all_scopes(self) -> tuple[Scope, ...]:
        """Every scope of the module, outermost first."""
        self._read(TREE)
        return self._scopes

    @cached_property
    def _scopes(self) -> tuple[Scope, ...]:
        return tuple(self.scope.all_below())

    @cached_property
    def scope_of(self) -> dict[ast.AST, Scope]:
        """The scope that each class or function of the module opens."""
        return {scope.node: scope for scope in self._scopes}

    def number(self, definition: ast.AST) -> int:
        """The number by which the module's summary knows the scope of a class or function."""
        self._read(NUMBERS)
        return self._numbers[definition]

    @cached_property
    def _numbers(self) -> dict[ast.AST, int]:
        return {scope.node: number for number, scope in enumerate(self._scopes)}

    @property
    def classes(self) -> tuple[ClassFacts, ...]:
        """Every class of the module, nested ones included."""
        self._read(TREE)
        return self._all_classes

    @cached_property
    def _all_classes(self) -> tuple[ClassFacts, ...]:
        return tuple(self.class_facts(s.node) for s in self._scopes if isinstance(s.node, ast.ClassDef))

    @property
    def functions(self) -> tuple[FunctionFacts, ...]:
        """Every function and method of the module."""
        self._read(TREE)
        return self._all_functions

    @cached_property
    def _all_functions(self) -> tuple[FunctionFacts, ...]:
        return tuple(FunctionFacts(self, s.node) for s in self._scopes if isinstance(s.node, FUNCTIONS))

    def class_facts(self, node: ast.ClassDef) -> ClassFacts:
        """Facts of a class of this module; the same object each time."""
        facts = self._classes.get(node)
        if facts is None:
            facts = self._classes[node] = ClassFacts(self, node)
        return facts

    @cached_property
    def _classes(self) -> dict[ast.ClassDef, ClassFacts]:
        return {}

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node above each node; one walk over the whole tree, so ask late."""
        found = parents_below(self.parsed)
        found.update(dict.fromkeys(self.parsed.body, self.tree))
        return found

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the module, level by level, but for operators and contexts."""
        self._read(TREE)
        return self._nodes

    @property
    def weight(self) -> int:
        """How many nodes it has, for a budget that grows with them; no answer rests on it."""
        return len(self._nodes)

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        return (self.tree, *tuple(nodes_below(self.parsed))[1:])

    def reads(self, name: str) -> list[ast.Name | ast.Attribute]:
        """The places where a name is read, or an attribute of that name."""
        used = self.uses(name)
        return [one for one in used if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Load)]

    def classes_named(self, name: str) -> list[ClassFacts]:
        """The classes of a name, nested ones included, in the order of the text."""
        self._read(USES, name)
        return sorted((one for one in self._all_classes if one.name == name), key=lambda one: one.node.lineno)

    def calls_of(self, names: Iterable[str]) -> list[ast.Call]:
        """The calls of what has one of some last names, in the order of ``nodes``."""
        found: list[tuple[int, ast.Call]] = []
        for name in names:
            self._read(USES, name)
            found += self._all_calls.get(name, ())
        return [call for _, call in sorted(found, key=lambda one: one[0])]

    @cached_property
    def _all_calls(self) -> dict[str, list[tuple[int, ast.Call]]]:
        found: dict[str, list[tuple[int, ast.Call]]] = {}
        for number, node in enumerate(self._nodes):
            if isinstance(node, ast.Call):
                found.setdefault(last_name(node.func), []).append((number, node))
        return found

    def uses(self, name: str) -> list[ast.AST]:
        """The places where a name is read, or set as an attribute or key, and the classes of that name."""
        self._read(USES, name)
        return self._all_uses.get(name, [])

    @cached_property
    def _all_uses(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for node in self._nodes:
            name = used_name(node)
            if name:
                found.setdefault(name, []).append(node)
        return found

    def number_of(self, node: ast.AST) -> int:
        """The place of a node among ``nodes``: the same for two texts that differ in comments and layout alone."""
        return next((number for number, one in enumerate(self.nodes) if one is node), -1)

    def link(self, node: ast.AST, message: str) -> Link:
        """Make a step of the chain of a finding, which points to a node of this module."""
        span = self.span(node)
        return Link(str(self.path), span.row, span.column, message, node=self.number_of(node))

    def rows(self, nodes: Iterable[ast.AST]) -> tuple[int, ...]:
        """The rows of the statements that some nodes belong to."""
        return tuple(sorted({self.statement_of(node).lineno for node in nodes}))

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The statement that a node belongs to: itself, or the nearest above."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Give the nodes above a node, nearest first."""
        found = self.parents.get(node)
        while found is not None:
            yield found
            found = self.parents.get(found)

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope in which a node stands (for a class or function: the one it is defined in)."""
        while True:
            above = self.parents.get(node)
            if above is None:
                return self.scope
            if above in self.scope_of:
                inside = not isinstance(above, FUNCTIONS) or node in above.body
                return self.scope_of[above] if inside else self.scope_at(above)
            node = above

    @property
    def ordinals(self) -> dict[ast.stmt, int]:
        """Number of each statement in source order; LibCST's statements have the same numbers."""
        self._read(TREE)
        return self._ordinals

    @cached_property
    def _ordinals(self) -> dict[ast.stmt, int]:
        return {statement: number for number, statement in enumerate(_all_statements(self.parsed.body))}

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, with columns in characters (``ast`` counts UTF-8 bytes)."""
        row, end_row = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        return Span(
            row,
            self._column(row, getattr(node, "col_offset", 0)),
            end_row,
            self._column(end_row, getattr(node, "end_col_offset", None) or 0),
        )

    def line_named(self, node: ast.AST) -> str:
        """The line of a node in words, in a notebook with its cell: ``line 3 of cell 2``."""
        span, notebook = self.span(node), self.document.notebook  # what names a line rests on the text
        if notebook is None:
            return f"line {span.row}"
        cell, local = notebook.local(span)
        return f"line {local.row} of cell {cell}"

    def _column(self, row: int, offset: int) -> int:
        line = self.source.lines[row - 1]
        return 1 + (offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace")))

    def header_rows(self, statement: ast.stmt) -> tuple[int, int]:
        """Rows of a simple statement, or of a compound statement's header, decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        body = getattr(statement, "body", None) or getattr(statement, "cases", None)
        if isinstance(body, list):
            start = body[0].lineno if isinstance(body[0], ast.stmt) else body[0].pattern.lineno
            return first, max(statement.lineno, start - 1) if start > statement.lineno else statement.lineno
        return first, statement.end_lineno or statement.lineno

    def qualname_at(self, node: ast.AST) -> str:
        """Dotted path of the definitions around a node; empty at module level."""
        return self.scope_at(node).qualname


def _all_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield from _all_statements(statement.body)
        else:
            for block in scopes.bodies(statement):
                yield from _all_statements(block)


@dataclass(frozen=True)
class CodeLink:
    """A link of which nobody needs to know the row yet."""

    module: Module
    node: ast.AST
    message: str

    @property
    def path(self) -> str:
        """The file that it points to."""
        return str(self.module.path)


def linked(link: Link | CodeLink) -> Link:
    """A link with its row."""
    return link.module.link(link.node, link.message) if isinstance(link, CodeLink) else link


@dataclass(frozen=True)
class FunctionFacts:
    """A function or method and the module it stands in."""

    module: Module
    node: Function

    @property
    def scope(self) -> Scope:
        """The function's own scope."""
        return self.module.scope_of[self.node]

    @property
    def qualname(self) -> str:
        """Dotted path of definitions within the module."""
        return self.scope.qualname

    @property
    def owner(self) -> ClassFacts | None:
        """The class whose body it stands in, if any."""
        above = self.scope.parent.node if self.scope.parent else None
        return self.module.class_facts(above) if isinstance(above, ast.ClassDef) else None


@dataclass(frozen=True)
class ClassFacts:
    """A class by itself: what stands in its body. What comes from bases is asked of the index."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        """The class's name."""
        return self.node.name

    @property
    def scope(self) -> Scope:
        """The scope of the class body."""
        return self.module.scope_of[self.node]

    @property
    def qualname(self) -> str:
        """Dotted path of definitions within the module."""
        return self.scope.qualname

    @property
    def place(self) -> tuple[str, str]:
        """Its file and its qualified name: how it is found again where the program runs."""
        return str(self.module.path), self.qualname

    @cached_property
    def methods(self) -> dict[str, Function]:
        """Functions of the class body by name, the last of each name (decorated or not)."""
        body = scopes.statements(self.node.body)
        return {statement.name: statement for statement in body if isinstance(statement, FUNCTIONS)}
