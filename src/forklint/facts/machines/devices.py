"""Which devices an expression can come to."""

from __future__ import annotations

import ast

from forklint.project import entries
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name, text_of

UNKNOWN = frozenset({"?"})
DEPTH = 8
"""How many names and functions are followed for one expression."""


def devices(project: Project, module: Module, value: ast.expr, depth: int = DEPTH) -> frozenset[str]:
    """Names of devices without their numbers, such as ``mps``; ``?`` among them for what is not known."""
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    elif isinstance(value, ast.Call) and last_name(value.func) in {"device", "field", "str", "Field"}:
        parts = [*value.args[:1], *(given for name, given in entries.of_call(value) if name in {"default", "type"})]
    elif isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
        return _followed(project, module, value, depth)
    else:
        return frozenset({text_of(value).partition(":")[0].lower()}) if text_of(value) else UNKNOWN
    found = [devices(project, module, part, depth) for part in parts]
    return frozenset().union(*found) if found else UNKNOWN


def _followed(
    project: Project, module: Module, value: ast.Name | ast.Attribute | ast.Call, depth: int
) -> frozenset[str]:
    """From a name to what it is bound to, from a call to what the function returns."""
    if depth <= 0:
        return UNKNOWN
    called = value.func if isinstance(value, ast.Call) else value
    symbol = project.resolve(module, module.scope_at(value), called)
    if isinstance(symbol, Value) and symbol.binding.value is not None and called is value:
        return devices(project, symbol.module, symbol.binding.value, depth - 1)
    if isinstance(symbol, FunctionFacts) and called is not value:
        returned = [
            devices(project, symbol.module, node.value, depth - 1)
            for node in nodes_below(symbol.node)
            if isinstance(node, ast.Return) and node.value is not None
        ]
        return frozenset().union(*returned) if returned else UNKNOWN
    return UNKNOWN
