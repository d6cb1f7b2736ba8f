"""The calls of a module that make a loader, each with the arguments that it gets, by whatever ways they come."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from forklint.knowledge.starters import Starter
from forklint.loading.given import Given
from forklint.loading.loaders import Loader
from forklint.loading.rows import sure_row
from forklint.loading.screening import may_be_loader
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.records import dataclass
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression


@dataclass(frozen=True)
class LoaderCall:
    """One call that makes a loader."""

    place: Expression
    row: Starter
    given: Mapping[str, Given]
    """By the name of the option, without the row's prefix."""
    is_closed: bool
    """Whether these are all arguments, and it is known where each is written."""

    @property
    def call(self) -> ast.Call:
        """The call."""
        assert isinstance(self.place.node, ast.Call)  # noqa: S101 - it makes a loader
        return self.place.node


def loader_calls(project: Project, module: Module) -> Iterator[LoaderCall]:
    """Give the calls of a module that surely make one of the known loaders, or a plain subclass of one."""
    evaluator = Evaluator(project)
    for node in module.nodes:
        if isinstance(node, ast.Call) and (node.args or node.keywords) and may_be_loader(project, node):
            scope = module.scope_at(node)
            row = sure_row(project, module, scope, node)
            if row is not None:
                yield _call(evaluator, Expression(module, scope, node), node, row)


def _call(evaluator: Evaluator, place: Expression, call: ast.Call, row: Starter) -> LoaderCall:
    by_anyone = place.by_anyone()
    arguments = Loader(by_anyone, row, evaluator).given
    named = {**dict(zip(row.positions, arguments.positional, strict=False)), **arguments.keywords}
    written = {name: source for name, source in named.items() if isinstance(source, Expression)}
    given = {
        row.option(name) or name: Given(name, replace(one, frame=None) if one.frame == by_anyone.frame else one, call)
        for name, one in written.items()
        if row.option(name) or name in row.positions
    }
    if any(_is_handed_on(place, one.value) for one in call.keywords if one.arg is None):
        return LoaderCall(place, row, {name: one for name, one in given.items() if one.home is call}, is_closed=False)
    return LoaderCall(place, row, given, is_closed=not arguments.open and len(written) == len(named))


def _is_handed_on(place: Expression, mapping: ast.expr) -> bool:
    """Whether a mapping that a call unpacks is given to another call as it is, which may change it."""
    above = place.module.parents
    return any(
        isinstance(node, ast.Name)
        and node.id == getattr(mapping, "id", "")
        and (isinstance(above[node], ast.Call) or getattr(above[node], "arg", None) is not None)
        for node in nodes_below(place.scope.node)
    )
