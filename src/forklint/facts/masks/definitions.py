"""Which assignments of a variable can have given it the value that it has at a place; nothing where that is unclear."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from forklint.project import scopes
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import is_name
from forklint.records import dataclass

LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class Given:
    """What a variable may hold: the expressions assigned to it."""

    values: tuple[ast.expr, ...]
    complete: bool
    """False if, on some way, it keeps what it held before these assignments."""


NOTHING = Given((), complete=False)


def given(module: Module, use: ast.AST, name: str) -> tuple[ast.expr, ...] | None:
    """The expressions that a name of a function (or of the module) may hold where it is used; None if unclear."""
    node: ast.AST = use
    while not isinstance(node, ast.stmt):
        if isinstance(node, COMPREHENSIONS) and _binds(module, node, name):
            return None
        node = module.parents[node]
    found: list[ast.expr] = []
    while True:
        above = module.parents.get(node)
        if above is None:
            return None
        block = next((block for block in _blocks(above) if node in block), None)
        if block is not None:
            before = _last(module, block[: block.index(node)], name)  # type: ignore[arg-type]
            if before is None:
                return None
            found += before.values
            if before.complete:
                return tuple(found)
        if isinstance(above, (*FUNCTIONS, ast.ClassDef, ast.Module, ast.Lambda)):
            return None
        if _may_come_round(module, above, node, name):
            return None
        node = above


def _may_come_round(module: Module, above: ast.AST, below: ast.AST, name: str) -> bool:
    """Whether a statement around the use binds the name on a way that was not looked at."""
    if isinstance(above, LOOPS):
        return _binds(module, above, name)
    if isinstance(above, ast.Try) and below not in above.body:
        return any(_binds(module, statement, name) for statement in above.body)
    if isinstance(above, (ast.With, ast.AsyncWith)):
        return any(name in module.names_stored(item.optional_vars) for item in above.items if item.optional_vars)
    return isinstance(above, ast.Match)


def _last(module: Module, block: Sequence[ast.stmt], name: str) -> Given | None:
    """What a block leaves in a name."""
    values: tuple[ast.expr, ...] = ()
    for statement in reversed(block):
        one = _of(module, statement, name)
        if one is None:
            return None
        values += one.values
        if one.complete:
            return Given(values, complete=True)
    return Given(values, complete=False)


def _of(module: Module, statement: ast.stmt, name: str) -> Given | None:
    """What one statement leaves in a name."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and any(is_name(target, name) for target in targets):
        return None if statement.value is None else Given((statement.value,), complete=True)
    if isinstance(statement, ast.If):
        return _joined(module, [statement.body, statement.orelse], name)
    return None if _binds(module, statement, name) else NOTHING


def _joined(module: Module, branches: Sequence[Sequence[ast.stmt]], name: str) -> Given | None:
    values: tuple[ast.expr, ...] = ()
    complete = True
    for branch in branches:
        if branch and isinstance(branch[-1], LEAVES):
            continue
        one = _last(module, branch, name)
        if one is None:
            return None
        values += one.values
        complete &= one.complete
    return Given(values, complete)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
        yield node.body
    elif isinstance(node, ast.stmt):
        yield from scopes.bodies(node)
    elif isinstance(node, ast.ExceptHandler):
        yield node.body


def _binds(module: Module, statement: ast.AST, name: str) -> bool:
    """Whether anything in a statement binds the name, in definitions within it only their own names."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return statement.name == name
    return name in module.names_stored(statement)
