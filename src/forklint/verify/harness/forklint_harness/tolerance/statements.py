"""What a statement of a program reads and binds, and where it ends."""

from __future__ import annotations

import ast
import functools
from typing import List, Sequence, Set, Tuple


@functools.lru_cache(maxsize=4096)
def names_in(node: ast.stmt) -> Tuple[str, ...]:
    """Names that a statement reads, those of its blocks left out."""
    waiting: List[ast.AST] = [node]
    found: List[str] = []
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Name):
            found.append(one.id)
        waiting += [child for child in ast.iter_child_nodes(one) if not isinstance(child, ast.stmt)]
    return tuple(dict.fromkeys(found))


def bound_by(node: ast.stmt) -> List[str]:
    """Names that a statement stores to, those of its blocks included."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def imported_by(node: ast.stmt) -> List[str]:
    """The names that an import binds, which its handler may leave unbound."""
    aliases = node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []
    return [alias.asname or alias.name.partition(".")[0] for alias in aliases]


def head_end(node: ast.stmt) -> int:
    """The last row of a statement, of a compound one that of its head."""
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if body else node.end_lineno or node.lineno


def unbound_in(statements: Sequence[ast.stmt]) -> List[str]:
    """Names that a file reads and nothing in it binds."""
    read: List[str] = []
    bound: Set[str] = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    read.append(node.id)
                else:
                    bound.add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, ast.alias):
                bound.add(node.asname or node.name.partition(".")[0])
    return [name for name in dict.fromkeys(read) if name not in bound]
