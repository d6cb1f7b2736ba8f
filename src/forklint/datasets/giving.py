"""The statements by which a method gives samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.datasets.stepping import stepped
from forklint.knowledge.streams import stream_words
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, bodies
from forklint.project.spelling import last_name

COUNTING = frozenset({"range", "arange"})
"""Functions that give numbers, of which samples may be made."""

Giving = ast.For | ast.While | ast.Return | ast.Expr
"""The statement that gives the samples: a loop with ``yield``, ``return`` of what is iterated, or ``yield from``."""


def givings(function: Function) -> list[tuple[Giving, ast.expr]]:
    """The statements that give all samples, each with what it iterates; none if one of them is not plain."""
    found: list[tuple[Giving, ast.expr]] = []
    is_generator = has_yield(function.body)
    for statement in outermost(function.body):
        if isinstance(statement, ast.While):
            read = stepped(statement)
            if not read:
                return []
            found += [(statement, source) for source in read] if has_yield(statement.body) else []
        elif isinstance(statement, ast.For) and has_yield(statement.body):
            found.append((statement, statement.iter))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.YieldFrom):
            found.append((statement, statement.value.value))
        elif isinstance(statement, ast.Return) and statement.value is not None and not is_generator:
            found.append((statement, unwrapped(statement.value)))
        elif has_yield([statement]) and not isinstance(statement, (ast.With, ast.If, ast.Try)):
            return []
    return found


def unwrapped(value: ast.expr) -> ast.expr:
    """An expression without ``iter(...)`` around it."""
    is_iter = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "iter" and len(value.args) == 1
    return value.args[0] if is_iter and isinstance(value, ast.Call) else value


def outermost(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements of a function that are in no loop."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.If, ast.Try)):
            for block in bodies(statement):
                yield from outermost(block)


def has_yield(body: list[ast.stmt]) -> bool:
    """Whether samples are given in these statements; a definition in them is another matter."""
    waiting: list[ast.AST] = list(body)
    for node in waiting:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    return False


def draws(statement: Giving, source: ast.expr) -> bool:
    """Whether samples are made rather than read: a loop over a range that draws, or does not use its number.

    A remainder in the loop may share the samples out by their number; one by rank does not part workers.
    """
    body = statement.body if isinstance(statement, ast.For) else []
    nodes = [node for part in [*body, source] for node in nodes_below(part)]
    names = {last_name(node).lower() for node in nodes}
    if any(map(is_shared_out, (*body, source))):
        return True
    if not COUNTING & {last_name(node) for node in nodes_below(source)}:
        return False
    if any(word in name for name in names for word in stream_words().random):
        return True
    targets = [statement.target] if isinstance(statement, ast.For) else []
    targets += [node.target for node in nodes_below(source) if isinstance(node, ast.comprehension)]
    bound = {node.id for target in targets for node in nodes_below(target) if isinstance(node, ast.Name)}
    loads = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return bool(bound) and not bound & loads


def is_shared_out(part: ast.AST) -> bool:
    """Whether a remainder in some code may share samples out among workers."""
    return any(_is_share(node) for node in nodes_below(part))


def _is_share(node: ast.AST) -> bool:
    """Whether it is a remainder by which samples may be shared out among workers."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)):
        return False
    return not any(word in ast.unparse(node.right).lower() for word in stream_words().by_process)
