"""Where code changes a mapping, a list or an object of settings in place: ``kw["n"] = 1``, ``rows.append(row)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from forklint.project.nodes import nodes_below
from forklint.project.spelling import text_of

if TYPE_CHECKING:
    from forklint.project.scopes import Scope


class Act(Enum):
    """What a change does."""

    SET = "set"
    DROP = "drop"
    FORGET = "forget"
    """The entry is there, and not known."""
    DEFAULT = "default"
    MERGE = "merge"
    ADD = "add"
    INSERT = "insert"
    """An item is put in before others: ``key`` is the index as it is written."""
    LET_IN = "let in"
    """A file or the command line may give any entry another value."""
    OTHER = "other"
    """An entry is set, and it is not known which."""
    ANY = "any"


class Change(NamedTuple):
    """One change in place."""

    act: Act
    place: ast.AST
    key: str = ""
    value: ast.expr | None = None


KEYED = {"pop": Act.DROP, "setdefault": Act.DEFAULT, "__setitem__": Act.SET, "__delitem__": Act.DROP}
LETTING_IN = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg", "from_file"})
ADDING = frozenset({"append", "add", "appendleft"})
EXTENDING = frozenset({"extend", "update", "merge_update", "merge_with"})
INSERTING = "insert"
GROWING = ADDING | {"extend", INSERTING}
"""Methods that make a list longer, be it an entry of what a name holds: ``options.rows.append(row)``."""
REPLACING = frozenset({"popitem", "clear", "remove", INSERTING, "reverse", "sort"})
SELF = "self"
CHANGING = LETTING_IN | ADDING | EXTENDING | REPLACING | KEYED.keys()
"""Methods that change what they are called on."""


def changes_in(home: Scope) -> dict[str, list[Change]]:
    """The changes of a scope, by the name of what is changed, or of an attribute of ``self``."""
    found: dict[str, list[Change]] = {}
    for node in nodes_below(home.node):
        for name, change in _of_node(node):
            found.setdefault(name, []).append(change)
    return found


def _of_node(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Give the changes that one node makes, each with the name of what it changes."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _of_target(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _of_target(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        if _name(node.target):
            is_joined = isinstance(node.op, (ast.Add, ast.BitOr))
            yield _name(node.target), Change(Act.MERGE if is_joined else Act.ANY, node, "", node.value)
        else:
            yield from _lost(node.target, Act.FORGET)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            yield from _lost(target, Act.DROP)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)


def _of_target(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Change]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _lost(part, Act.FORGET)
        return
    place = _path(target)
    if place is not None:
        name, key = place
        act = Act.SET if key else Act.OTHER if isinstance(target, ast.Subscript) else Act.ANY
        yield name, Change(act, target, key, value)


def _lost(target: ast.expr, act: Act) -> Iterator[tuple[str, Change]]:
    place = _path(target)
    if place is not None:
        name, key = place
        yield name, Change(act if key else Act.ANY, target, key)


def _of_call(call: ast.Call) -> Iterator[tuple[str, Change]]:
    func = call.func
    if isinstance(func, ast.Name) and func.id == "setattr" and len(call.args) == 3:
        owner, named, value = call.args
        if isinstance(owner, ast.Name):
            yield owner.id, Change(Act.SET if text_of(named) else Act.ANY, call, text_of(named), value)
    if not isinstance(func, ast.Attribute) or func.attr not in CHANGING:
        return
    if not _name(func.value):
        yield from _lost(func.value, Act.FORGET) if func.attr in GROWING else ()
        return
    name, first = _name(func.value), call.args[0] if call.args else None
    second = call.args[1] if len(call.args) > 1 else None
    if func.attr in KEYED:
        key = text_of(first)
        act = KEYED[func.attr] if key else Act.ANY
        none = ast.copy_location(ast.Constant(None), call)
        yield name, Change(act, call, key, second or none)
    elif func.attr in LETTING_IN:
        yield name, Change(Act.LET_IN, call)
    elif func.attr in ADDING and first is not None:
        yield name, Change(Act.ADD, call, "", first)
    elif func.attr == INSERTING and len(call.args) == 2:
        yield name, Change(Act.INSERT, call, ast.unparse(call.args[0]), call.args[1])
    elif func.attr in EXTENDING and (first is not None or call.keywords):
        if first is not None:
            yield name, Change(Act.MERGE, call, "", first)
        for keyword in call.keywords:
            given = Change(Act.SET, call, keyword.arg, keyword.value) if keyword.arg else None
            yield name, given or Change(Act.MERGE, call, "", keyword.value)
    else:
        yield name, Change(Act.ANY, call)


def _path(target: ast.expr) -> tuple[str, str] | None:
    """The name and the dotted key of what ``config.LOADER["workers"]`` stores in; an empty key is any key."""
    keys: list[str] = []
    known = True
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        key = target.attr if isinstance(target, ast.Attribute) else text_of(target.slice)
        known &= bool(key)
        keys.append(key)
        target = target.value
    if not isinstance(target, ast.Name) or not keys:
        return None
    if target.id == SELF and len(keys) > 1 and keys[-1]:
        return f"{SELF}.{keys.pop()}", ".".join(reversed(keys)) if all(keys) else ""
    return target.id, ".".join(reversed(keys)) if known else ""


def _name(node: ast.expr) -> str:
    """A name, or that of an attribute of ``self`` with it; empty for any other expression."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF:
        return f"{SELF}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
