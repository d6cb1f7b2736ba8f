"""Whether a program uses a library itself once a variable is set, before it starts anything that may read it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from forklint.environment import loaded as execution
from forklint.environment.launching import Launch, function_of
from forklint.project.bindings import block_of
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS

LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def is_used_next(
    project: Project, module: Module, statement: ast.stmt, library: str, launches: Sequence[Launch]
) -> bool:
    """Whether a statement that surely follows calls a library, and none between may start something.

    So a variable is meant for this process, whatever the program starts later.
    """
    starting = _starting(project, module, launches)
    calls = {launch.call for launch in launches}
    for following in _following(module, statement):
        now = list(_run_now(following))
        if any(node in calls or _name(node) in starting for node in now):
            return False
        if any(isinstance(node, ast.Call) and _library(project, module, node) == library for node in now):
            return True
        if any(isinstance(node, LEAVING) for node in now):
            return False
    return False


def _following(module: Module, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Give what runs after a statement, in its block and then in those around it, up to the end of its function."""
    here: ast.AST = statement
    while isinstance(here, ast.stmt):
        block = block_of(module, here)
        yield from block[block.index(here) + 1 :]
        around = module.parents.get(here)
        while around is not None and not isinstance(around, (ast.stmt, ast.mod)):
            around = module.parents.get(around)  # the handler of a try, the case of a match
        if around is None or isinstance(around, (*FUNCTIONS, ast.ClassDef)):
            return
        here = around


def _run_now(statement: ast.stmt) -> Iterator[ast.AST]:
    """Give the nodes of a statement that run with it, not with a function that it defines."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _starting(project: Project, module: Module, launches: Sequence[Launch]) -> Collection[str]:
    """The names of functions and methods of a module that start something, or lead to one that does."""
    leading, found = execution.leading_to(project, module), set[str]()
    for launch in launches:
        for definition in (function_of(module, launch.call), execution.outermost_definition(module, launch.call)):
            name = getattr(definition, "name", "")
            found |= {name, *leading.get(name, ())} - {""}
    classes = (one for one in nodes_below(module.tree) if isinstance(one, ast.ClassDef) and one.name in found)
    return found.union(one.name for facts in classes for one in facts.body if isinstance(one, FUNCTIONS))


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _library(project: Project, module: Module, call: ast.Call) -> str:
    return project.qualified(module, module.scope_at(call), call.func).partition(".")[0]
