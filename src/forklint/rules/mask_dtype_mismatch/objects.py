"""Which class of attention.toml an attribute of ``self``, or a variable, surely holds an object of."""

from __future__ import annotations

import ast
from functools import cache

from forklint.knowledge.attention import attention
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance, Made

STACKS = ("TransformerEncoder", "TransformerDecoder")
"""Classes that are given their layers."""


def held(project: Project, module: Module, node: ast.expr) -> str:
    """Qualified name of the class whose object ``self.x``, ``x`` or a call gives; empty if it is not in the table."""
    if not isinstance(node, (ast.Name, ast.Call, ast.Attribute)):
        return ""
    evaluator = Evaluator(project)
    value = evaluator.find(Expression(module, module.scope_at(node), node)).value
    if not isinstance(value, Made) or value.name.rpartition(".")[2] not in names():
        return ""
    call = value.call
    if not isinstance(call.node, ast.Call) or not is_certain(project, call.module, call.scope, call.node.func):
        return ""
    is_stack = value.name.endswith(STACKS)
    return "" if is_stack and _has_own_layers(evaluator, call, call.node) else value.name


def _has_own_layers(evaluator: Evaluator, place: Expression, call: ast.Call) -> bool:
    """Whether the layers are of a class of the project, which does with masks what it likes."""
    given = [*call.args[:1], *(one.value for one in call.keywords if (one.arg or "").endswith("_layer"))]
    return any(isinstance(evaluator.find(place.part(one)).value, Instance) for one in given)


@cache
def names() -> frozenset[str]:
    """Last names of the classes that are asked for; others, and those imported under another name, are unknown."""
    return frozenset(row.name for row in attention().values())
