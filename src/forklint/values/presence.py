"""Entries that are asked for only where they are there: ``m[k] if k in m else d`` is what ``m.get(k, d)`` is.

And whether they surely are not, so that asking raises.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from forklint.knowledge.loading import names as listed
from forklint.project.module import Module
from forklint.project.spelling import is_name
from forklint.summaries.parts import NAMED
from forklint.values import calls
from forklint.values.model import NOTHING, Expression, Found, Made, Ref, Setting, Table

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator


class Entry(NamedTuple):
    """What such an expression asks for."""

    mapping: ast.expr
    key: ast.expr
    default: ast.expr


def find(evaluator: Evaluator, source: Expression) -> Found:
    """What such an expression gives: the entry, or its default where no more is known; nothing for any other."""
    assert isinstance(source.node, ast.IfExp)  # noqa: S101 - the evaluator says so
    entry = _entry_of(source.node)
    if entry is None or not _is_builtin(evaluator, source, source.node):
        return NOTHING
    owner = evaluator.find(source.part(entry.mapping))
    if isinstance(owner.value, Made) and owner.value.name in listed("files", "readers"):
        return calls.of_unread(evaluator, source, owner, entry.key, entry.default)
    if isinstance(owner.value, (Table, Setting)):
        return calls.got(evaluator, source, owner, [entry.key, entry.default])
    return NOTHING


def _entry_of(node: ast.IfExp) -> Entry | None:
    """The entry or attribute that a conditional expression takes where it is there; None for any other."""
    test, there, default = node.test, node.body, node.orelse
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, there, default = test.operand, default, there
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)):
        mapping, key = _without_keys(test.comparators[0]), test.left
        if isinstance(test.ops[0], ast.NotIn):
            there, default = default, there
    elif isinstance(test, ast.Call) and is_name(test.func, "hasattr") and len(test.args) == 2:
        mapping, key = test.args
        if isinstance(there, ast.Subscript):
            return None  # a mapping has not got its keys as attributes
    else:
        return None
    return Entry(mapping, key, default) if _takes(there, mapping, key) else None


def _is_builtin(evaluator: Evaluator, source: Expression, node: ast.IfExp) -> bool:
    """Whether the functions that a test calls are builtins, or methods."""
    called = (one.func for one in ast.walk(node.test) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name))
    names = (evaluator.project.qualified(source.module, source.scope, one) for one in called)
    return all(name.startswith("builtins.") for name in names)


def _without_keys(mapping: ast.expr) -> ast.expr:
    """The ``m`` of ``m.keys()``."""
    function = mapping.func if isinstance(mapping, ast.Call) and not mapping.args else None
    return function.value if isinstance(function, ast.Attribute) and function.attr == "keys" else mapping


def _takes(node: ast.expr, mapping: ast.expr, key: ast.expr) -> bool:
    """Whether a node is an entry or an attribute of a mapping, by its key."""
    if isinstance(node, ast.Subscript):
        return _is_same(node.value, mapping) and _is_same(node.slice, key)
    if isinstance(node, ast.Attribute):
        return _is_same(node.value, mapping) and isinstance(key, ast.Constant) and key.value == node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return _is_same(node.func.value, mapping) and len(node.args) > 0 and _is_same(node.args[0], key)
    return False


def _is_same(first: ast.expr, second: ast.expr) -> bool:
    return ast.dump(first) == ast.dump(second)


def lacks(evaluator: Evaluator, owner: Found, name: str) -> bool:
    """Whether a mapping that is written out, or a module, surely has nothing of a name."""
    value = owner.value
    if isinstance(value, Ref) and isinstance(value.symbol, Module):
        summary = evaluator.project.part(value.symbol.path, NAMED, name)
        return summary is not None and not summary.stars and name not in summary.top.binds
    is_written = isinstance(value, Table) and value.complete and not value.others and not owner.stored.entries
    return is_written and name not in value.entries  # type: ignore[union-attr]
