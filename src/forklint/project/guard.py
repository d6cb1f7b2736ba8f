"""The main guard: ``if __name__ == "__main__":``, under which a module does what it does only as a script."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.module import Module


def is_main_guard(test: ast.expr) -> bool:
    """Whether a condition is ``__name__ == "__main__"``, and nothing else."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    parts = {ast.unparse(test.left), ast.unparse(test.comparators[0])}
    return parts == {"__name__", "'__main__'"}


def asks_for_name(test: ast.expr) -> bool:
    """Whether a condition looks at ``__name__`` in any way: it may be a guard."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))


def may_be_guarded(module: Module, node: ast.AST) -> bool:
    """Whether a node stands under a condition that looks at ``__name__``, in either of its blocks."""
    return any(isinstance(above, ast.If) and asks_for_name(above.test) for above in module.above(node))


def is_for_type_checkers(module: Module, node: ast.AST) -> bool:
    """Whether a node stands under ``if TYPE_CHECKING``, in either of its blocks."""
    tests = (above.test for above in module.above(node) if isinstance(above, ast.If))
    return any("TYPE_CHECKING" in ast.unparse(test) for test in tests)


def guard_of(module: Module, node: ast.AST) -> ast.If | None:
    """The guard that a node stands in, whose block no child process runs."""
    for above in module.above(node):
        test = above.test if isinstance(above, ast.If) else None
        if not isinstance(above, ast.If) or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
            continue
        if asks_for_name(test) and any(node is one or one in module.above(node) for one in above.body):
            return above
    return None
