"""The keywords that a function collects in a mapping before it unpacks that in a call, under a condition or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.project.bindings import block_of, reaching
from forklint.project.module import Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import Scope
from forklint.project.spelling import dotted

Entry = tuple[str, ast.expr]
"""A key, and the value that it gets."""
MOST_STEPS = 3
"""So many mappings are followed that are put into one another."""
LOOKING = frozenset({"update", "setdefault", "get", "items", "keys", "values", "copy"})
"""Methods that take nothing out of a mapping."""
READING = frozenset({"dict", "len", "print", "sorted", "str", "repr"})
"""Functions that change nothing in what they are given."""


def collected(module: Module, scope: Scope, call: ast.Call) -> Iterator[Entry]:
    """Give what a function puts into the mappings that a call unpacks, as far as it is written there."""
    for keyword in call.keywords:
        if keyword.arg is None:
            yield from _written(module, scope, call, keyword.value, MOST_STEPS)


def _written(module: Module, scope: Scope, place: ast.expr, value: ast.expr, steps: int) -> Iterator[Entry]:
    """Give the entries of a mapping as it is written, those of both branches and of mappings inside included."""
    if isinstance(value, ast.Dict):
        for key, given in zip(value.keys, value.values, strict=True):
            if key is None:
                yield from _written(module, scope, place, given, steps)
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, given
    elif isinstance(value, ast.Call) and dotted(value.func) == "dict":
        yield from _given(module, scope, value, steps)
    elif isinstance(value, ast.IfExp):
        for part in (value.body, value.orelse):
            yield from _written(module, scope, place, part, steps)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        for part in (value.left, value.right):
            yield from _written(module, scope, place, part, steps)
    elif isinstance(value, ast.Name) and steps:
        yield from _of_name(module, scope, place, value, steps - 1)


def _given(module: Module, scope: Scope, call: ast.Call, steps: int) -> Iterator[Entry]:
    """Give the entries that ``dict(...)`` or ``update(...)`` is given."""
    for argument in call.args[:1]:
        yield from _written(module, scope, call, argument, steps)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
        else:
            yield from _written(module, scope, call, keyword.value, steps)


def _of_name(module: Module, scope: Scope, place: ast.expr, name: ast.Name, steps: int) -> Iterator[Entry]:
    """Give what a variable of the same scope is assigned and what is put into it before a place."""
    found = reaching(module, scope, name)
    if found is None or found[0] is not scope or not found[1]:
        return
    named = (node for node in nodes_below(scope.node) if isinstance(node, ast.Name) and node.id == name.id)
    uses = [node for node in named if isinstance(node.ctx, ast.Load) and module.scope_at(node) is scope]
    if not all(_leaves_entries(module, use) for use in uses):
        return
    for binding in found[1]:
        if binding.value is not None:
            yield from _written(module, scope, binding.value, binding.value, steps)
    since = min(start_of(binding.node) for binding in found[1])
    for use in uses:
        if since < start_of(use) < start_of(place) and _may_lead_to(module, use, place):
            yield from _put_in(module, scope, use, steps)


def _put_in(module: Module, scope: Scope, use: ast.Name, steps: int) -> Iterator[Entry]:
    """Give what a use of a mapping puts into it: ``kwargs["shuffle"] = True``, ``kwargs.update(shuffle=True)``."""
    above = module.parents[use]
    further = module.parents[above]
    if isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store) and isinstance(further, ast.Assign):
        if isinstance(above.slice, ast.Constant) and isinstance(above.slice.value, str):
            yield above.slice.value, further.value
    elif isinstance(above, ast.Attribute) and isinstance(further, ast.Call) and further.func is above:
        if above.attr == "update":
            yield from _given(module, scope, further, steps)
        elif above.attr == "setdefault" and len(further.args) == 2 and isinstance(further.args[0], ast.Constant):
            yield str(further.args[0].value), further.args[1]


def _leaves_entries(module: Module, use: ast.Name) -> bool:
    """Whether a use of a mapping takes nothing out of it, and gives it to nobody who may."""
    above = module.parents[use]
    if isinstance(above, ast.Attribute):
        return above.attr in LOOKING
    if isinstance(above, ast.Subscript):
        return not isinstance(above.ctx, ast.Del)
    if isinstance(above, ast.keyword):
        return above.arg is None
    if isinstance(above, ast.Call):
        function = above.func
        is_update = isinstance(function, ast.Attribute) and function.attr == "update"
        return is_update or dotted(function) in READING
    return isinstance(above, (ast.Compare, ast.Dict, ast.BinOp, ast.If, ast.FormattedValue))


def _may_lead_to(module: Module, use: ast.AST, place: ast.AST) -> bool:
    """Whether a place may be reached after a use: they stand in no two branches, and the branch of the use goes on."""
    chain = [place, *module.above(place)]
    below: ast.AST = module.statement_of(use)
    for above in module.above(below):
        if not isinstance(below, ast.stmt):
            below = above
            continue
        block = block_of(module, below)
        if above in chain:
            inner = chain[chain.index(above) - 1]
            return not isinstance(above, (ast.If, ast.Try)) or inner in block
        if isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return False
        below = above
    return True
