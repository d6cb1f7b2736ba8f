"""Which class of attention.toml an attribute of ``self``, or a variable, surely holds an object of."""

from __future__ import annotations

import ast
from functools import cache

from forklint.knowledge.attention import attention
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Made


def held(project: Project, module: Module, node: ast.expr) -> str:
    """Qualified name of the class whose object ``self.x``, ``x`` or a call gives; empty if it is not in the table."""
    if not isinstance(node, (ast.Name, ast.Call, ast.Attribute)):
        return ""
    value = Evaluator(project).find(Expression(module, module.scope_at(node), node)).value
    if not isinstance(value, Made) or value.name.rpartition(".")[2] not in names():
        return ""
    call = value.call
    is_sure = isinstance(call.node, ast.Call) and is_certain(project, call.module, call.scope, call.node.func)
    return value.name if is_sure else ""


@cache
def names() -> frozenset[str]:
    """Last names of the classes that are asked for; others, and those imported under another name, are unknown."""
    return frozenset(row.name for row in attention().values())
