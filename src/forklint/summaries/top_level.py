"""What the statements of a top level say: the guard of a script, the blocks in them, the names in ``__all__``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

ALL = "__all__"


def is_guard(node: ast.stmt) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``, either way round."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    test = node.test
    sides = [test.left, *test.comparators]
    names = any(isinstance(one, ast.Name) and one.id == "__name__" for one in sides)
    mains = any(isinstance(one, ast.Constant) and one.value == "__main__" for one in sides)
    return len(sides) == 2 and isinstance(test.ops[0], ast.Eq) and names and mains


def exports(tree: ast.Module) -> frozenset[str] | None:
    """The names in ``__all__``, if it is given a list or tuple of strings once, and is nowhere else changed."""
    found: frozenset[str] | None = None
    for statement in tree.body:
        mentions = any(isinstance(node, ast.Name) and node.id == ALL for node in _shallow(statement))
        if not mentions:
            continue
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if found is not None or not isinstance(value, (ast.List, ast.Tuple)):
            return None
        names = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if len(names) != len(value.elts):
            return None
        found = frozenset(names)
    return found


def _shallow(node: ast.AST) -> Iterable[ast.AST]:
    """Give a node and those below it, without entering functions."""
    waiting = [node]
    for one in waiting:
        yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(one)
