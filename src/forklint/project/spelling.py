"""How an expression is spelt, whatever it means: the names in it, and the text of a constant."""

from __future__ import annotations

import ast


def last_name(expression: ast.AST | None) -> str:
    """The last part of a dotted name; empty for anything else."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def dotted(expression: ast.AST) -> str:
    """``a.b.c`` as it is written; empty for an expression that is no such chain."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return ""
    return ".".join(reversed((*parts, expression.id)))


def text_of(expression: ast.AST | None) -> str:
    """The text of a constant; empty if it is none."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return expression.value
    return ""


def is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is marked as a static one, which gets no object."""
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in function.decorator_list)
