"""Keywords of loaders that no loader has, and that are a slip away from one that it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from forklint.knowledge.hooks import meant_keywords
from forklint.knowledge.starters import Starter
from forklint.loading.conflicts import is_expected
from forklint.loading.given import Given
from forklint.loading.loader_calls import LoaderCall, loader_calls
from forklint.loading.rows import plain_row, sole_row
from forklint.loading.screening import may_be_loader
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, parameters
from forklint.records import dataclass
from forklint.rules.misspelt_hook.collected import collected
from forklint.rules.misspelt_hook.forwarded import forwarding
from forklint.rules.misspelt_hook.meaning import SHORT, meant_by
from forklint.values.model import Expression

FORGIVING = frozenset({"TypeError", "Exception", "BaseException"})


@dataclass(frozen=True)
class MisspeltKeyword:
    """A keyword that raises TypeError where it is given."""

    call: ast.Call
    given: Given
    meant: str
    row: Starter
    is_free: bool
    """Whether the keyword that is meant is not given as well."""
    is_collected: bool = False
    """Whether it is put into a mapping that several calls may unpack, or that a branch changes."""


def misspelt_keywords(project: Project, module: Module) -> Iterator[MisspeltKeyword]:
    """Give the misspelt keywords of a module's calls that surely make a loader."""
    seen: set[ast.expr] = set()
    for loader in loader_calls(project, module):
        if not loader.row.prefix:
            for wrong in _wrong(module, loader.call, loader.row, loader.row.arguments, dict(loader.given)):
                seen.add(wrong.given.value)
                yield wrong
            for wrong in _collected(module, loader):
                if wrong.given.value not in seen:
                    seen.add(wrong.given.value)
                    yield wrong
    for node in module.nodes:
        if isinstance(node, ast.Call) and node.keywords:
            if may_be_loader(project, node):
                yield from _of_subclass(project, module, node)
            else:
                yield from _of_function(project, module, node)


def _collected(module: Module, loader: LoaderCall) -> Iterator[MisspeltKeyword]:
    """Give those that stand in a mapping which the function fills before the call."""
    call, scope = loader.call, loader.place.scope
    given = {
        name: Given(name, Expression(module, scope, value), call)
        for name, value in collected(module, scope, call)
        if name not in loader.row.arguments
    }
    for wrong in _wrong(module, call, loader.row, loader.row.arguments, given):
        yield replace(wrong, is_collected=True, is_free=wrong.meant not in loader.given)


def _of_function(project: Project, module: Module, call: ast.Call) -> Iterator[MisspeltKeyword]:
    """Give those of a call of a function that hands its keywords on to a loader."""
    scope = module.scope_at(call)
    given = {
        word.arg: Given(word.arg, Expression(module, scope, word.value), call) for word in call.keywords if word.arg
    }
    if not any(name in meant_keywords() or len(name) >= SHORT for name in given):
        return
    found = forwarding(project, module, call)
    if found is not None:
        row, known = found
        yield from _wrong(module, call, row, known, given)


def _wrong(
    module: Module, call: ast.Call, row: Starter, known: frozenset[str], given: dict[str, Given]
) -> Iterator[MisspeltKeyword]:
    for name, one in given.items():
        meant = meant_by(name, known) if name not in known else ""
        if meant and not is_expected(module, call, FORGIVING):
            yield MisspeltKeyword(call, one, meant, row, meant not in given)


def _of_subclass(project: Project, module: Module, call: ast.Call) -> Iterator[MisspeltKeyword]:
    """Give those of a call of a project's loader that has an ``__init__`` of its own and hands its keywords on."""
    names = [keyword.arg for keyword in call.keywords if keyword.arg]
    if not any(name in meant_keywords() or len(name) >= SHORT for name in names):
        return
    scope = module.scope_at(call)
    symbol = project.resolve(module, scope, call.func)
    if not isinstance(symbol, ClassFacts) or not is_certain(project, module, scope, call.func):
        return
    known = _accepted(project, symbol) if plain_row(project, symbol) is None else None
    row = sole_row(project, symbol)
    if known is not None and row is not None and not row.prefix:
        given = {
            word.arg: Given(word.arg, Expression(module, scope, word.value), call) for word in call.keywords if word.arg
        }
        yield from _wrong(module, call, row, known, given)


def _accepted(project: Project, facts: ClassFacts) -> frozenset[str] | None:
    """The keywords that a subclass of a loader takes, all of them; None if that cannot be told."""
    row = sole_row(project, facts)
    classes = project.ancestry(facts).classes
    if row is None or any("__new__" in owner.methods for owner in classes):
        return None
    known: set[str] = set()
    for owner in classes:
        method = owner.methods.get("__init__")
        if method is None:
            continue
        known |= {argument.arg for argument in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)}
        if method.args.kwarg is None:
            return frozenset(known)
        if not _hands_on(method, method.args.kwarg.arg):
            return None
    return frozenset(known | row.arguments)


def _hands_on(method: Function, name: str) -> bool:
    """Whether a method does nothing with its ``**kwargs`` but hand them to ``super().__init__``."""
    if method.decorator_list or name not in {argument.arg for argument in parameters(method)}:
        return False
    uses = [node for node in nodes_below(method) if isinstance(node, ast.Name) and node.id == name]
    handed = [
        keyword.value
        for call in nodes_below(method)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__"
        for keyword in call.keywords
        if keyword.arg is None
    ]
    return bool(uses) and all(use in handed for use in uses)
