"""What is sent in place of a function that is decorated."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.unpicklable import naming_decorators
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import statements

if TYPE_CHECKING:
    from forklint.project.index import Project

RENAMES = {"update_wrapper", "wraps", "__name__", "__qualname__"}
"""What a decorator does to let its function pass for the one that it decorates."""


def keeps_its_name(project: Project, function: FunctionFacts) -> bool:
    """Whether a function is sent by its own name: it has no decorator, or those alone that give what has its name."""
    scope = function.scope.parent or function.module.scope
    marks = (one.func if isinstance(one, ast.Call) else one for one in function.node.decorator_list)
    return all(project.qualified(function.module, scope, mark) in naming_decorators() for mark in marks)


def put_in_its_place(project: Project, decorated: FunctionFacts) -> FunctionFacts | None:
    """The function that the one decorator of another one gives instead, under a name of its own."""
    mark, scope = decorated.node.decorator_list[0], decorated.scope.parent or decorated.module.scope
    symbol = project.resolve(decorated.module, scope, mark)
    if len(decorated.node.decorator_list) > 1 or not isinstance(symbol, FunctionFacts) or symbol.node.decorator_list:
        return None
    returned = [one.value for one in statements(symbol.node.body) if isinstance(one, ast.Return)]
    value = returned[0] if len(returned) == 1 else None
    inner = project.resolve(symbol.module, symbol.scope, value) if isinstance(value, ast.Name) else None
    names = (one for one in nodes_below(symbol.node) if isinstance(one, (ast.Name, ast.Attribute)))
    is_renamed = any(RENAMES & {getattr(one, "id", ""), getattr(one, "attr", "")} for one in names)
    is_other = isinstance(inner, FunctionFacts) and not inner.node.decorator_list and not is_renamed
    return inner if is_other and isinstance(inner, FunctionFacts) else None
