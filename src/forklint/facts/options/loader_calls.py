"""The calls of a module that make a loader, each with the arguments that it gives, ``**`` of literals included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from forklint.facts.loading.rows import sure_row, sure_row_of
from forklint.facts.loading.screening import may_be_loader
from forklint.facts.options import mappings
from forklint.facts.options.mappings import Given
from forklint.knowledge.starters import Starter
from forklint.project.certainty import is_certain
from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.scopes import Scope
from forklint.records import dataclass


@dataclass(frozen=True)
class LoaderCall:
    """One call that makes a loader."""

    module: Module
    scope: Scope
    call: ast.Call
    row: Starter
    given: Mapping[str, Given]
    """By the name of the option, without the row's prefix."""
    is_closed: bool
    """Whether these are all arguments: nothing else can come by ``*args`` or ``**kwargs``."""


def loader_calls(project: Project, module: Module) -> Iterator[LoaderCall]:
    """Give the calls of a module that surely make one of the known loaders, or a plain subclass of one."""
    has_partial = "partial(" in module.document.text
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not (node.args or node.keywords) or not may_be_loader(project, node):
            continue
        scope = module.scope_at(node)
        partial = _partial(project, module, scope, node.func) if has_partial else None
        if partial is not None:
            yield _of_partial(project, module, scope, node, partial)
        elif len(node.args) > 1 or node.keywords:
            row = sure_row(project, module, scope, node)
            if row is not None:
                yield _call(project, module, scope, node, row)


def _call(project: Project, module: Module, scope: Scope, call: ast.Call, row: Starter) -> LoaderCall:
    given: dict[str, Given] = {}
    arguments = call.args[1:] if _is_unbound(call) else call.args
    for argument, name in zip(arguments, row.positions, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given[name] = Given(name, argument, module, scope, call, is_unpacked=False)
    is_closed = not any(isinstance(argument, ast.Starred) for argument in call.args)
    for keyword in call.keywords:
        if keyword.arg is None:
            unpacked = mappings.entries(project, module, scope, keyword.value)
            is_closed &= unpacked is not None
            given |= {row.option(one.name): one for one in unpacked or () if row.option(one.name)}
        elif row.option(keyword.arg):
            name = row.option(keyword.arg)
            given[name] = Given(keyword.arg, keyword.value, module, scope, call, is_unpacked=False)
    return LoaderCall(module, scope, call, row, given, is_closed)


def _is_unbound(call: ast.Call) -> bool:
    """Whether the constructor is called by the name of the class, ``DataLoader.__init__(self, ...)``."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == "__init__" and not isinstance(func.value, ast.Call)


def _partial(project: Project, module: Module, scope: Scope, called: ast.expr) -> LoaderCall | None:
    """What a name that is called surely holds: ``partial(DataLoader, ...)``, made in the same module."""
    symbol = project.lookup(module, scope, called.id) if isinstance(called, ast.Name) else None
    value = symbol.binding.value if isinstance(symbol, Value) and symbol.module is module else None
    if not isinstance(value, ast.Call) or not value.args or not is_certain(project, module, scope, called):
        return None
    assert isinstance(symbol, Value)  # noqa: S101 - or there were no value
    if project.qualified(module, symbol.scope, value.func) != "functools.partial":
        return None
    if not mappings.is_of_module_alone(project, symbol, symbol.binding.name):
        return None
    row = sure_row_of(project, module, symbol.scope, value.args[0])
    if row is None:
        return None
    inner = ast.Call(func=value.args[0], args=value.args[1:], keywords=value.keywords)
    found = _call(project, module, symbol.scope, inner, row)
    options = {k: replace(one, home=value, is_unpacked=True) for k, one in found.given.items()}
    return replace(found, call=value, given=options)


def _of_partial(project: Project, module: Module, scope: Scope, call: ast.Call, partial: LoaderCall) -> LoaderCall:
    """A call of what a partial made: it adds to the options, or puts others in their place."""
    after = partial.row.positions[len(partial.call.args) - 1 :]
    own = _call(project, module, scope, call, replace(partial.row, positions=after))
    is_closed = own.is_closed and partial.is_closed
    return replace(own, row=partial.row, given={**partial.given, **own.given}, is_closed=is_closed)
