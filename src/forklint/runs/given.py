"""Whether what a call is given may be what is sought, judged by names (see ``runs.reached``)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.project.nodes import nodes_below
from forklint.project.scopes import bodies, expressions
from forklint.runs.reached import COMMON, Names, Sought, may_hold

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.values.model import Expression

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
CONSTANT = frozenset({"__name__", "__file__", "__spec__", "__doc__", "__package__"})
"""Names of each file that stand for nothing that runs."""


def may_be_given(project: Project, call: Expression, sought: Sought) -> bool:
    """Whether an argument of a call may be what is sought, or reach it.

    At the top level of a file, each name is followed to all statements that name it, but for that of the call itself.
    """
    node, module = call.node, call.module
    assert isinstance(node, ast.Call)  # noqa: S101 - who asks says so
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if all(isinstance(one, ast.Constant) or (isinstance(one, ast.Name) and one.id in CONSTANT) for one in given):
        return False
    if call.frame is not None or call.scope is not module.scope:
        return True
    own = {node, *module.above(node)}
    naming = project.answer("top level by name", module, lambda: _by_name(module))
    followed: set[str] = set()
    text = _names(given)
    while True:
        if may_hold(project, module.path, text, sought):
            return True
        followed |= text.bare
        found = [one for name in text.bare for one in naming.get(name, ()) if one not in own]
        text = _names(part for one in dict.fromkeys(found) for part in expressions(one))
        text = text._replace(bare=text.bare - followed)
        if not text.bare:
            return bool(text.attributes) and may_hold(project, module.path, text, sought)


def _by_name(module: Module) -> dict[str, list[ast.stmt]]:
    """The statements of a file's top level that are no definitions, by the names in them."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in _statements(module.tree.body):
        for name in _names(expressions(statement)).bare:
            found.setdefault(name, []).append(statement)
    return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if not isinstance(statement, DEFINITIONS):
            yield statement
            for inner in bodies(statement):
                yield from _statements(inner)


def _names(parts: Iterable[ast.AST]) -> Names:
    nodes = [node for part in parts for node in nodes_below(part)]
    bare = frozenset(node.id for node in nodes if isinstance(node, ast.Name))
    attributes = frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))
    return Names(bare - COMMON - CONSTANT, attributes)
