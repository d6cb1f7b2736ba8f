"""How expressions of the project are rewritten: calls, texts made of values and look-ups go through the runtime."""

from __future__ import annotations

import ast
from typing import Any, List

RUNTIME = "__forklint__"
BARE = frozenset(
    [
        "print",
        "isinstance",
        "issubclass",
        "hasattr",
        "getattr",
        "setattr",
        "delattr",
        "super",
        "type",
        "id",
        "callable",
        "locals",
        "globals",
        "vars",
        "dir",
        "eval",
        "exec",
        "repr",
        "enumerate",
        "zip",
        "iter",
        "next",
        "reversed",
        "map",
        "filter",
        "range",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "slice",
    ]
)
"""Builtins whose calls are left alone: they pass values on, or look at the frame that calls them."""
LOOKING = frozenset({"isinstance", "issubclass", "hasattr", "callable"})
"""Those that ask what a value is: of a stand-in the answer is made up."""


class Calls(ast.NodeTransformer):
    """Lets calls with arguments, and texts made of values, go through the runtime."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Let a call that is given values be prepared by the runtime."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in BARE:
            looks = node.func.id in LOOKING and node.args and spelt(node.args[0])
            return ast.copy_location(asking("looked", [node.args[0], node], []), node) if looks else node
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if all(isinstance(value, ast.Constant) for value in values):
            return node
        return ast.copy_location(ast.Call(asking("prepare", [node.func, *node.args], node.keywords), [], []), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Let a key that is computed be looked up by the runtime."""
        self.generic_visit(node)
        key: Any = node.slice
        key = getattr(key, "value", key) if type(key).__name__ == "Index" else key  # as Python 3.8 has it
        if isinstance(node.ctx, ast.Load) and isinstance(key, (ast.Name, ast.Attribute)):
            return ast.copy_location(asking("item", [node.value, key], []), node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Let the runtime join the parts of an f-string."""
        parts: List[ast.expr] = []
        for value in node.values:
            if not isinstance(value, ast.FormattedValue):
                parts.append(value)
                continue
            self.generic_visit(value)
            shape: ast.expr = value.format_spec if value.format_spec is not None else ast.Constant("")
            parts.append(ast.Tuple([value.value, ast.Constant(value.conversion), shape], ast.Load()))
        return ast.copy_location(asking("joined", parts, []), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Let the runtime format a text by ``%``."""
        self.generic_visit(node)
        is_text = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        if is_text and isinstance(node.left.value, str):  # type: ignore[attr-defined]
            return ast.copy_location(asking("percent", [node.left, node.right], []), node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave annotations as they are: what reads them wants types."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def asking(name: str, arguments: List[ast.expr], keywords: List[ast.keyword]) -> ast.Call:
    """A call of the runtime."""
    return ast.Call(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), arguments, keywords)


def spelt(node: ast.AST) -> str:
    """A name, or an attribute of a name, as it is written; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return "{}.{}".format(node.value.id, node.attr)
    return ""
