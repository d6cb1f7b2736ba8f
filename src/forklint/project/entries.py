"""Named values as people write them: entries of dictionaries, keywords, defaults, assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import zip_longest

from forklint.project.spelling import is_name, last_name, text_of

Entry = tuple[str, ast.expr]
Assignment = ast.Assign | ast.AnnAssign


def target_name(target: ast.expr) -> str:
    """The name that an assignment gives: of a variable, an attribute, or a constant index."""
    return text_of(target.slice) if isinstance(target, ast.Subscript) else last_name(target)


def of_dict(node: ast.Dict) -> Iterator[Entry]:
    """Give the entries of a dictionary whose keys are texts."""
    for key, value in zip(node.keys, node.values, strict=True):
        if text_of(key):
            yield text_of(key), value


def of_call(node: ast.Call) -> Iterator[Entry]:
    """Give the keyword arguments of a call."""
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value


def of_arguments(node: ast.arguments) -> Iterator[Entry]:
    """Give the parameters of a function that have a default."""
    positional = [*node.posonlyargs, *node.args]
    for argument, default in zip(positional[len(positional) - len(node.defaults) :], node.defaults, strict=True):
        yield argument.arg, default
    for argument, keyword_default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if keyword_default is not None:
            yield argument.arg, keyword_default


def of_assignment(node: Assignment) -> Iterator[Entry]:
    """Give what an assignment names, ``a, b = 1, 2`` taken apart."""
    if node.value is not None:
        for target in targets(node):
            yield from _pairs(target, node.value)


def targets(node: Assignment) -> list[ast.expr]:
    """What an assignment assigns to."""
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[Entry]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target_name(target), value
    elif isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        for part, given in zip(target.elts, value.elts, strict=True):
            yield from _pairs(part, given)


def stored(statement: ast.stmt, me: str) -> Iterator[tuple[str, ast.expr | None]]:
    """Give the attributes of an object that a statement stores, by the object's name; the value if it is plain."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        for target in targets(statement):
            yield from _stored(target, statement.value, me)
    elif isinstance(statement, ast.AugAssign):
        yield from _stored(statement.target, None, me)


def _stored(target: ast.expr, value: ast.expr | None, me: str) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Attribute) and is_name(target.value, me):
        yield target.attr, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else ()
        for part, one in zip_longest(target.elts, parts):
            yield from _stored(part, one, me)


def of_block(block: list[ast.stmt], base: str = "") -> Iterator[Entry]:
    """Give what a block assigns to names, or, with a base, to its items and attributes."""
    for statement in block:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and base_of(statement) == base:
            yield from of_assignment(statement)


def base_of(statement: Assignment) -> str:
    """What the assigned thing belongs to, as text: ``args`` of ``args.num_workers``, nothing of a bare name."""
    target = targets(statement)[0]
    return ast.unparse(target.value) if isinstance(target, (ast.Attribute, ast.Subscript)) else ""
