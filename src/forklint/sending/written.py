"""What an argument of a call may be, judged by its text, and where it is written down what a function was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.bindings import reaching
from forklint.project.scopes import Binding, Kind
from forklint.values.model import Case, Either, Expression, Source
from forklint.values.parameters import position as place_of

if TYPE_CHECKING:
    from forklint.project.module import Module


def may_be_refused(module: Module, value: ast.expr) -> bool:
    """Whether an argument is a lambda, a name of one, or that of a function that is defined in a function."""
    if isinstance(value, ast.Lambda):
        return True
    if isinstance(value, ast.IfExp):
        return may_be_refused(module, value.body) or may_be_refused(module, value.orelse)
    found = module.scope_at(value).find(value.id) if isinstance(value, ast.Name) else None
    if found is None:
        return False
    is_local = found[0].parent is not None and any(one.kind is Kind.FUNCTION for one in found[1])
    return is_local or any(isinstance(one.value, ast.Lambda) for one in found[1])


def may_be_dataset(module: Module, value: ast.expr) -> bool:
    """Whether an argument is something that a call has made, or may be refused by itself, or a list of such things."""
    if isinstance(value, (ast.Call, ast.Attribute)):
        return True
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(may_be_dataset(module, one) for one in value.elts)
    if isinstance(value, ast.IfExp):
        return may_be_dataset(module, value.body) or may_be_dataset(module, value.orelse)
    found = module.scope_at(value).find(value.id) if isinstance(value, ast.Name) else None
    is_made = found is not None and any(isinstance(_given_to(one), ast.Call) for one in found[1])
    return is_made or may_be_refused(module, value)


def _given_to(name: Binding) -> ast.expr | None:
    """What an assignment gives to a name, or to several at once."""
    return name.node.value if isinstance(name.node, ast.Assign) else name.value


def is_refused(source: Source | None) -> bool:
    """Whether what a source is written as may be refused."""
    value = written(source)
    return value is not None and may_be_refused(value.module, value.node)


def _bindings(name: Expression) -> list[Binding]:
    """Those that a name may have where it is read."""
    assert isinstance(name.node, ast.Name)  # noqa: S101 - the caller says so
    found = reaching(name.module, name.scope, name.node)
    return found[1] if found is not None else []


def all_written(source: Source | None) -> Iterator[Expression]:
    """Give each place where a value is written down that a branch may have put there."""
    if isinstance(source, Either):
        for one in source.sources:
            yield from all_written(one)
    elif isinstance(source, Case):
        yield from all_written(source.source)
    else:
        found = written(source)
        yield from [found] if found is not None else []


def written(source: Source | None) -> Expression | None:
    """Where a value is written down that a function was given: in the call that gave it."""
    while isinstance(source, Expression) and isinstance(source.node, ast.Name) and source.frame is not None:
        frame = source.frame
        if source.scope is not frame.function.scope:
            break
        further = frame.given.get(source.node.id, place_of(frame.function, source.node.id))
        is_rebound = all(one.kind is not Kind.PARAMETER for one in _bindings(source))
        if further is None or is_rebound:
            break
        source = further
    return source if isinstance(source, Expression) else None
