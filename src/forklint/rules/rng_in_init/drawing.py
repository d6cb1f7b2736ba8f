"""What a piece of code does with a generator: draw from it, start it anew, or neither."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from enum import Enum

from forklint.knowledge.random_streams import Generator
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Kind
from forklint.project.spelling import last_name

LOOKS = frozenset({"copy", "deepcopy", "isinstance", "str", "repr", "type", "id", "hasattr", "getattr", "print", "len"})
"""Functions that draw nothing from a generator that they are given."""
QUIET = frozenset(
    {"get_state", "getstate", "initial_seed", "device", "spawn", "clone_state", "__class__", "keys", "append"}
)
"""What can be asked of a generator without a draw."""

ORDERING = frozenset({"shuffle", "permutation", "permuted", "sample"})
"""Draws that put things in an order. Workers of a stream that share the things out later need the same one."""


class StreamUse(Enum):
    """One use of a generator."""

    DRAWS = "draws"
    ORDERS = "orders"
    RESTARTS = "restarts"


IsIt = Callable[[ast.AST], bool]


def uses(module: Module, function: Function, is_it: IsIt, row: Generator) -> Iterator[tuple[StreamUse, ast.AST]]:
    """Give what a function does with the generator that ``is_it`` tells; a local name for it is followed."""
    for node in nodes_below(function):
        if not is_it(node):
            continue
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            yield StreamUse.RESTARTS, node
            continue
        alias = _alias(module, node)
        for place in _loads(function, alias) if alias else [node]:
            use = _use(module, place, row)
            if use is not None:
                yield use, place


def _alias(module: Module, node: ast.AST) -> str:
    """The local name that a use only gives to the generator, or to one of those in what it is."""
    above = module.parents[node]
    if isinstance(above, ast.Assign) and above.value is node and len(above.targets) == 1:
        return above.targets[0].id if isinstance(above.targets[0], ast.Name) else ""
    if isinstance(above, ast.Attribute) and above.attr in {"values", "items"}:
        node = module.parents[above]
        above = module.parents[node]
    if isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
        parts = above.target.elts if isinstance(above.target, ast.Tuple) else [above.target]
        return parts[-1].id if isinstance(parts[-1], ast.Name) else ""
    return ""


def _loads(function: Function, name: str) -> Iterator[ast.AST]:
    """Give the places where a function reads a local name."""
    for node in nodes_below(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _use(module: Module, node: ast.AST, row: Generator) -> StreamUse | None:
    above = module.parents[node]
    if isinstance(above, ast.Subscript) and above.value is node:  # one of several
        is_stored = isinstance(above.ctx, (ast.Store, ast.Del))
        return StreamUse.RESTARTS if is_stored or _is_given(module, above.slice) else _use(module, above, row)
    if isinstance(above, ast.Attribute):
        if above.attr in row.restarts:
            return StreamUse.RESTARTS
        if above.attr in ORDERING:
            return StreamUse.ORDERS
        return None if above.attr in QUIET else StreamUse.DRAWS
    call = module.parents[above] if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or call.func is node:
        return None
    name = last_name(call.func)
    return None if name in LOOKS else StreamUse.DRAWS


def _is_given(module: Module, index: ast.expr) -> bool:
    """Whether an index is a parameter: each sample has a generator of its own, and one worker reads it."""
    found = module.scope_at(index).find(index.id) if isinstance(index, ast.Name) else None
    return found is not None and any(binding.kind is Kind.PARAMETER for binding in found[1])


def is_attribute(name: str, *owners: str) -> IsIt:
    """Tell ``self.name``, or ``Class.name``: an attribute of one of these names."""

    def is_it(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.value, ast.Name)
            and node.value.id in owners
        )

    return is_it
