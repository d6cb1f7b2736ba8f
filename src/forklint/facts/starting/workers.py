"""How many worker processes the loader of a call surely starts; ``facts/loading`` knows more of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forklint.facts.loading.loaders import loader_at, loader_row
from forklint.facts.loading.numbers import Workers
from forklint.facts.loading.values import Expression

if TYPE_CHECKING:
    from forklint.knowledge.starters import Starter
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

__all__ = ["LoaderArguments", "Workers", "arguments", "loader_row", "workers_of"]


@dataclass(frozen=True)
class LoaderArguments:
    """The arguments of a starter's call that decide what it starts; None where the call does not give them."""

    workers: ast.expr | None
    context: ast.expr | None
    threads: ast.expr | None
    unpacked: tuple[ast.expr, ...]
    """What is given as ``**kwargs``."""
    starred: bool
    """Whether ``*args`` hides what stands at which position."""


def arguments(call: ast.Call, row: Starter) -> LoaderArguments:
    """Pick the arguments of a call that ``row`` says matter, as they are written there."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)

    def pick(name: str) -> ast.expr | None:
        for keyword in call.keywords:
            if name and keyword.arg == name:
                return keyword.value
        position = row.position(name)
        placed = not starred and position is not None and position < len(call.args)
        return call.args[position] if placed and position is not None else None

    return LoaderArguments(
        workers=pick(row.workers),
        context=pick(row.context),
        threads=pick(row.threads),
        unpacked=tuple(keyword.value for keyword in call.keywords if keyword.arg is None),
        starred=starred,
    )


def workers_of(project: Project, module: Module, scope: Scope, call: ast.Call) -> Workers | None:
    """How many workers a loader starts when it is iterated, a mere default left out; None if the call makes none."""
    loader = loader_at(project, Expression(module, scope, call))
    if loader is None:
        return None
    return Workers.UNKNOWN if loader.workers.by_default else loader.workers.kind
