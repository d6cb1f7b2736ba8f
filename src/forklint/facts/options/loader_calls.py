"""The calls of a module that make a loader, each with the arguments that it gives, ``**`` of literals included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from forklint.facts.loading.rows import may_be_loader, sure_row
from forklint.facts.options import mappings
from forklint.facts.options.mappings import Given
from forklint.knowledge.starters import Starter
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.scopes import Scope


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
    for node in module.nodes:
        if isinstance(node, ast.Call) and (len(node.args) > 1 or node.keywords) and may_be_loader(project, node):
            scope = module.scope_at(node)
            row = sure_row(project, module, scope, node)
            if row is not None:
                yield _call(project, module, scope, node, row)


def _call(project: Project, module: Module, scope: Scope, call: ast.Call, row: Starter) -> LoaderCall:
    given: dict[str, Given] = {}
    is_closed = True
    for argument, name in zip(call.args, row.positions, strict=False):
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
