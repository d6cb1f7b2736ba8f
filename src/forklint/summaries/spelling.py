"""How a summary spells an expression: by its names and calls alone (see ``Given``)."""

from __future__ import annotations

import ast

PARTIAL = "partial"


def spelt(node: ast.AST | None) -> str:
    """An expression as ``Given`` spells it: its names and calls."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{spelt(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        callee = spelt(node.func)
        if callee.rpartition(".")[2] == PARTIAL and node.args:
            return f"{callee}({spelt(node.args[0])})"
        return f"{callee}()"
    if isinstance(node, ast.Subscript):
        return f"{spelt(node.value)}[]"
    if isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
        return spelt(node.value)
    return "?"


def base(node: ast.expr) -> str:
    """A base of a class, ``Generic`` for ``Generic[T]``; ``?`` for what is no dotted name."""
    written = spelt(node.value if isinstance(node, ast.Subscript) else node)
    return written if all(part.isidentifier() for part in written.split(".")) else "?"


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[str, ...]:
    """The decorators of a definition, in order."""
    return tuple(map(spelt, node.decorator_list))
