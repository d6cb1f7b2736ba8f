"""Functions that import a module whose name is a text, and look at it without calling anything in it.

``module = import_module(name)`` and ``getattr(module, "__version__")``: whatever it is that is imported, nothing but
its top level runs. Asked by names alone, such a function would reach all that the project has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

IMPORTING = frozenset({"__import__", "import_module"})
"""What imports what a text names."""
TOLD = frozenset({"__doc__", "__file__", "__name__", "__package__", "__path__", "__spec__", "__version__"})
"""Attributes of a module that are no code of it."""
ASKING = frozenset({"getattr", "hasattr"})


def only_looks(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function imports by texts, and does no more with each module than to ask what it is."""
    above = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    naming = [node for node in above if _name(node) in IMPORTING]
    return bool(naming) and all(_is_idle(node, above) for node in naming)


def _is_idle(importing: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Whether a name of what imports is called, and what that gives is nowhere more than looked at."""
    call = above[importing]
    if not isinstance(call, ast.Call) or call.func is not importing:
        return False
    return all(_is_looked_at(one, above) for one in _held(call, above))


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _held(call: ast.Call, above: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    """The places where a function has the module that a call imports: the call, or what reads the name it is given."""
    statement = above[call]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        yield call
        return
    name = targets[0].id
    for node in above:
        is_read = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if is_read or (isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names):
            yield node


def _is_looked_at(module: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Whether a module is dropped, asked for what is no code of it, or compared."""
    around = above[module]
    if isinstance(around, ast.Attribute):
        return around.attr in TOLD
    if isinstance(around, ast.Call) and around.func is not module and _name(around.func) in ASKING:
        return _name(around.func) == "hasattr" or _is_told(around.args[1:2])
    return isinstance(around, (ast.Expr, ast.Compare))


def _is_told(names: list[ast.expr]) -> bool:
    return any(isinstance(one, ast.Constant) and one.value in TOLD for one in names)
