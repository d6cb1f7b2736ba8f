"""Where the statements of a file stand once it has been mended."""

from __future__ import annotations

import ast
import copy
from typing import Collection, Iterator, List, Sequence, Tuple

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def same_rows(before: ast.Module, after: ast.Module, rows: Collection[int]) -> List[int]:
    """The rows of a mended module on which the statements stand that stood on these rows of the module before."""
    return sorted({begin for begin, _ in rows_of(before, after, rows)})


def rows_of(before: ast.Module, after: ast.Module, rows: Collection[int]) -> List[Tuple[int, int]]:
    """First and last rows of those statements in the mended module."""
    statements = list(_placed(after.body, ()))
    found = []
    for row in rows:
        on_row = [(scope, one) for scope, one in _placed(before.body, ()) if one.lineno <= row <= _head_end(one)]
        if not on_row:
            continue
        home, statement = max(on_row, key=lambda pair: (pair[1].lineno, pair[1].col_offset))
        for sign in _signs(statement):
            same = [one for scope, one in statements if scope == home and sign in _signs(one)]
            were = [one for scope, one in _placed(before.body, ()) if scope == home and sign in _signs(one)]
            if len(were) == len(same):  # of several alike the one at its place
                same = [same[were.index(statement)]]
            if same:
                found += [(one.lineno, _head_end(one)) for one in same]
                break
    return found


def _placed(block: Sequence[ast.AST], scope: Tuple[str, ...]) -> Iterator[Tuple[Tuple[str, ...], ast.stmt]]:
    """All statements of a block and below, each with the names of the definitions around it."""
    for node in block:
        if isinstance(node, ast.stmt):
            yield scope, node
        name = getattr(node, "name", None) if isinstance(node, DEFINITIONS) else None
        inner = (*scope, name) if name else scope
        yield from _placed([one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr)], inner)


def _head_end(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno or node.lineno


def _signs(node: ast.stmt) -> List[str]:
    """What a statement is known by, wherever it is moved, the surest first: its head, its target, what it calls."""
    bare = copy.copy(node)
    for field in ("body", "orelse", "handlers", "finalbody"):
        if isinstance(getattr(bare, field, None), list):
            setattr(bare, field, [])
    signs = [ast.dump(bare)]
    if isinstance(node, ast.Assign):
        signs += ["{} =".format(ast.dump(target)) for target in node.targets]
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call):
        signs.append("{} {}".format(type(node).__name__, ast.dump(value.func)))
    return signs
