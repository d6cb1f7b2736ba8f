"""The calls that start what is left behind by a fork, or want it, as events of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from forklint.facts.forking.kinds import kind_of
from forklint.facts.forking.sites import names_of_sites
from forklint.knowledge.poisons import DecoratorRow, poisons
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.runs.trace import Event
from forklint.runs.walk import Topic
from forklint.values.devices import goes_to_cuda
from forklint.values.model import Expression

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol

SETTER_NAME = "set_num_interop_threads"


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
        self._asked = names_of_sites(project) | {SETTER_NAME}

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterator[Event]:
        """What a call turns off, and what it uses."""
        node = call.node
        assert isinstance(node, ast.Call)  # noqa: S101 - the walk says so
        if last_name(node.func) in self._asked:
            yield Calls(call)
        name = symbol.name if isinstance(symbol, External) else ""
        off = frozenset(row.name for row in poisons().poisons.values() if name in row.off) if name else frozenset()
        if off and not _asks_for_several(node):
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


def _asks_for_several(call: ast.Call) -> bool:
    """Whether a call that sets a number of threads sets more than one for certain."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return any(isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > 1 for one in given)
