"""What is put into a list that a class or function fills, for what is drawn from the list."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from forklint.project.bindings import block_of
from forklint.project.module import Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import Kind
from forklint.project.spelling import dotted, is_name

ADDING = frozenset({"append", "insert"})
OTHERWISE = frozenset({"extend", "__setitem__", "__iadd__"})
"""Methods that put several things into a list, or something under a name that is not seen here."""


class _UnclearError(Exception):
    """Something is put into the list of which the text does not say what it is."""


def put_into_list_of(module: Module, item: ast.expr) -> list[ast.expr]:
    """Give what is put into the list that an item is drawn from, by ``items[i]`` or ``for item in items``.

    Nothing if the expression is no such item, or if something may be put there that the text does not show.
    """
    drawn_from = _list_of(module, item)
    name = dotted(drawn_from) if drawn_from is not None else ""
    home = _home(module, item, name)
    if home is None:
        return []
    try:
        return [one for node in nodes_below(home) for one in _put(node, name)]
    except _UnclearError:
        return []


def stored_before(module: Module, item: ast.expr) -> ast.expr | None:
    """What statements before the use of an item store in it: ``pair[1] = iter(pair[0])``, then ``pair[1].next()``."""
    if not isinstance(item, ast.Subscript):
        return None
    statement = module.statement_of(item)
    before = [one for one in block_of(module, statement) if start_of(one) < start_of(statement)]
    stores = [one for one in before if isinstance(one, ast.Assign) and len(one.targets) == 1]
    written = ast.unparse(item)
    return next((one.value for one in reversed(stores) if ast.unparse(one.targets[0]) == written), None)


def _list_of(module: Module, item: ast.expr) -> ast.expr | None:
    """The list that an item is drawn from."""
    if isinstance(item, ast.Subscript):
        return None if isinstance(item.slice, ast.Slice) else item.value
    if not isinstance(item, ast.Name):
        return None
    found = module.scope_at(item).find(item.id)
    if found is None or not all(isinstance(one.node, ast.For) for one in found[1]):
        return None
    for above in module.above(item):
        drawn = _drawn(above.target, above.iter, item.id) if isinstance(above, ast.For) else None
        if drawn is not None:
            return drawn
    return None


def _drawn(target: ast.expr, iterated: ast.expr, name: str) -> ast.expr | None:
    """What a loop draws a variable from: ``for name in x``, ``for i, name in enumerate(x)``, ``in zip(x, y)``."""
    if is_name(target, name):
        return iterated
    if not isinstance(target, ast.Tuple) or not isinstance(iterated, ast.Call):
        return None
    sources: dict[str, list[ast.expr | None]] = {"enumerate": [None, *iterated.args], "zip": [*iterated.args]}
    each = zip(target.elts, sources.get(dotted(iterated.func), []), strict=False)
    return next((source for one, source in each if source is not None and is_name(one, name)), None)


def _home(module: Module, item: ast.expr, name: str) -> ast.AST | None:
    """The class that fills ``self.name``, or the function or module that fills a variable."""
    if name.startswith("self."):
        return next((above for above in module.above(item) if isinstance(above, ast.ClassDef)), None)
    found = module.scope_at(item).find(name) if name.isidentifier() else None
    if found is None or any(one.kind is Kind.PARAMETER for one in found[1]):
        return None  # who calls the function may have put in anything
    return found[0].node


def _put(node: ast.AST, name: str) -> Iterable[ast.expr]:
    """What a node puts into the list of a name."""
    if isinstance(node, ast.Assign):
        return [one for target in node.targets for one in _assigned(target, node.value, name)]
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return _assigned(node.target, node.value, name)
    if isinstance(node, ast.AugAssign) and dotted(node.target) == name:
        return _held(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and dotted(node.func.value) == name:
        if node.func.attr in ADDING and node.args:
            return node.args[-1:]
        if node.func.attr in OTHERWISE:
            return _held(node.args[0] if len(node.args) == 1 else None)
    return ()


def _assigned(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if dotted(target) == name:
        yield from _held(value)
    elif isinstance(target, ast.Subscript) and dotted(target.value) == name:
        yield value
    elif isinstance(target, (ast.Tuple, ast.List)) and any(dotted(one) == name for one in nodes_below(target)):
        raise _UnclearError


def _held(value: ast.expr | None) -> list[ast.expr]:
    """What a list that is written out holds."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return value.elts
    if isinstance(value, ast.ListComp):
        return [value.elt]
    if isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and is_name(value.func, "list") and not value.args
    ):
        return []
    raise _UnclearError
