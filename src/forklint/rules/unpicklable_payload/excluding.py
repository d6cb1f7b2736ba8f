"""Places of which a run comes through one: the same question, asked around both, comes out differently for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.spelling import dotted

if TYPE_CHECKING:
    from forklint.project.module import Module

OWN = "self"


def exclude_each_other(module: Module, first: ast.AST, second: ast.AST) -> bool:
    """Whether no run comes through both of two places, as far as questions to options or to the object tell."""
    asked = dict(_questions(module, first))
    return any(asked.get(name, answer) is not answer for name, answer in _questions(module, second))


def _questions(module: Module, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Give what is asked around a place, as spelt, and how it came out: of a name of the module, or of the object."""
    below = node
    for above in module.above(node):
        if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
            body = above.body if isinstance(above.body, list) else [above.body]
            test, answer = above.test, below in body
            while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, answer = test.operand, not answer
            name = dotted(test)
            if name and _is_shared(module, above, name.partition(".")[0]):
                yield name, answer
        below = above


def _is_shared(module: Module, node: ast.AST, root: str) -> bool:
    found = module.scope_at(node).find(root)
    return root == OWN or (found is not None and found[0] is module.scope)
