"""The calls that start what is left behind by a fork, or want it, as events of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from forklint.forking.kinds import kind_of
from forklint.forking.screening import SETTER_NAME, may_be_site, uses
from forklint.knowledge.poisons import DecoratorRow, poisons
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import all_arguments, last_name
from forklint.records import dataclass
from forklint.runs.reached import Place, may_reach
from forklint.runs.trace import Event
from forklint.runs.walk import Topic
from forklint.values.calls import PARTIAL
from forklint.values.devices import goes_to_cuda
from forklint.values.model import Absent, Constant, Expression, Made, Row, Source, Table, Text
from forklint.values.model import Value as Abstract

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol

MAX_NESTING, MOST_ITEMS = 1, 16
"""How deep, and how many of them, the items of what a call gives are looked at."""


@dataclass(frozen=True)
class Use(Event):
    """A call that starts what is left behind by a fork, or wants it."""

    poison: str
    who: str
    starts: bool
    hangs: bool


@dataclass(frozen=True)
class TurnsOff(Event):
    """A call after which nothing of some poisons happens."""

    poisons: frozenset[str]
    lasts: ClassVar[bool] = True


@dataclass(frozen=True)
class Calls(Event):
    """A call that may fork, or that sets the number of inter-op threads, before whatever it does."""

    call: Expression


def uses_in(events: Sequence[Event]) -> tuple[Use, ...]:
    """What was used, but for what was turned off by then."""
    off: set[str] = set()
    found: list[Use] = []
    for event in events:
        if isinstance(event, TurnsOff):
            off |= event.poisons
        elif isinstance(event, Use) and event.poison not in off:
            found.append(event)
    return tuple(found)


class Poisons(Topic):
    """Follows what poisons.toml knows."""

    name = "poisons"
    with_values = True

    def __init__(self, project: Project) -> None:
        """Follow the code of a project."""
        super().__init__(project)
        self._sought = uses(project)

    def may_matter(self, call: Expression, symbol: Symbol | None) -> bool:
        """Whether a call gives an object to what it calls, or that may reach an event by itself."""
        node = call.node
        assert isinstance(node, ast.Call)  # noqa: S101 - the walk says so
        if not isinstance(symbol, (ClassFacts, FunctionFacts)):
            return True
        home = symbol.scope.parent
        if home is None or home.parent is not None:
            return True
        name = symbol.name if isinstance(symbol, ClassFacts) else symbol.node.name
        if may_reach(self.project, Place(symbol.module.path, name), self._sought):
            return True
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return not all(self._is_plain(call.part(one)) for one in given)

    def _is_plain(self, source: Source, depth: int = MAX_NESTING) -> bool:
        """Whether what a source holds is surely no object, and leads to none, in which or by which something is used.

        Of what is not known nothing will be known where it is used, either.
        """
        found = self.evaluator.find(source)
        if found.stored.entries or depth < 0:
            return False
        return all(self._is_value_plain(one.value, depth) for one in found.possible)

    def _is_value_plain(self, value: Abstract, depth: int) -> bool:
        if isinstance(value, (Row, Table)):
            inner = value.items if isinstance(value, Row) else value.values
            return len(inner) <= MOST_ITEMS and all(self._is_plain(one, depth - 1) for one in inner)
        if isinstance(value, Made):
            return value.name not in PARTIAL and not poisons().kind_of(value.name)
        return isinstance(value, (Constant, Text, Absent))

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterator[Event]:
        """What a call turns off, and what it uses."""
        node = call.node
        assert isinstance(node, ast.Call)  # noqa: S101 - the walk says so
        called = last_name(node.func)
        if called == SETTER_NAME or may_be_site(self.project, called):
            yield Calls(call)
        name = symbol.name if isinstance(symbol, External) else ""
        off = turned_off_by(name, all_arguments(node))
        if off:
            yield TurnsOff(off)
        if isinstance(symbol, FunctionFacts):
            marked = self._marked(symbol)
            if marked is not None:
                yield Use(marked.poison, marked.who, starts=True, hangs=marked.hangs)
        elif not isinstance(symbol, ClassFacts):
            yield from self._of_library(call, node, name)

    def _of_library(self, call: Expression, node: ast.Call, name: str) -> Iterator[Use]:
        row = poisons().function(name)
        if row is not None:
            yield Use(row.poison, row.who, row.starts, row.hangs)
        elif goes_to_cuda(self.evaluator, call, name):
            yield Use("cuda", "CUDA", starts=True, hangs=True)
        elif not name:
            yield from self._of_object(call, node)

    def _of_object(self, call: Expression, node: ast.Call) -> Iterator[Use]:
        method, kind = "__call__", kind_of(self.evaluator, call.part(node.func))
        if not kind and isinstance(node.func, ast.Attribute) and node.func.attr in poisons().methods:
            method, kind = node.func.attr, kind_of(self.evaluator, call.part(node.func.value))
        found = poisons().method(kind, method) if kind else None
        if found is not None:
            yield Use(found.poison, found.who, method in found.starts, method in found.hangs)

    def _marked(self, function: FunctionFacts) -> DecoratorRow | None:
        """The row for a project function that a decorator compiles."""
        for decorator in function.node.decorator_list:
            mark = decorator.func if isinstance(decorator, ast.Call) else decorator
            scope = function.scope.parent or function.module.scope
            row = poisons().decorator(self.project.qualified(function.module, scope, mark))
            if row is None or (row.body and not _calls_named(function.node, row.body)):
                continue
            given = decorator.keywords if isinstance(decorator, ast.Call) else []
            asked = [one.value for one in given if one.arg == row.keyword]
            if not row.keyword or any(isinstance(one, ast.Constant) and one.value is True for one in asked):
                return row
        return None


def _calls_named(node: ast.AST, name: str) -> bool:
    calls = (one for one in nodes_below(node) if isinstance(one, ast.Call))
    return any(last_name(call.func) == name for call in calls)


def turned_off_by(name: str, given: Sequence[ast.expr]) -> frozenset[str]:
    """The poisons of which nothing happens after a call of a library; one that asks for several threads is none."""
    asks_for_several = any(
        isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > 1 for one in given
    )
    if not name or asks_for_several:
        return frozenset()
    return frozenset(row.name for row in poisons().poisons.values() if name in row.off)
