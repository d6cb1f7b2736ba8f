"""Attributes that objects take from a mapping: ``for key, value in options.items(): setattr(self, key, value)``.

So ``self.__dict__.update(options)`` does, too. Their names stand in the mapping alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import first_parameter, is_name, text_of
from forklint.values import arguments
from forklint.values.model import NOTHING, Expression, Found, Frame, Instance, told

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

FrameOf = Callable[[FunctionFacts], Frame | None]
"""Gives the call of a method of an object that is known; None where there is none, or more than one."""


def sets_any(evaluator: Evaluator, facts: ClassFacts) -> bool:
    """Whether a class sets attributes of its objects whose names the text does not say."""
    find = lambda: any(map(_is_unnamed, nodes_below(facts.node)))  # noqa: E731 - it is short
    return evaluator.project.answer("sets attributes unnamed", facts, find)


def taken(evaluator: Evaluator, owner: Instance, name: str, frame_of: FrameOf) -> Found | None:
    """What an object takes from mappings under a name, NOTHING where that is not known; None if it takes none."""
    for function, node in reversed(list(_setting(evaluator, owner))):
        mapping = _mapping(function, node)
        frame = (frame_of(function) or _from_constructor(evaluator, owner, function, frame_of)) if mapping else None
        if mapping is None or frame is None:
            return NOTHING
        table = evaluator.table(Expression(function.module, function.scope, mapping, frame))
        if table is None:
            return NOTHING
        source = table.entries.get(name)
        if source is not None:
            found = evaluator.find(source)
            return told(found, source, name) if isinstance(source, Expression) else found
        if not table.complete:
            return NOTHING
    return None


def mapping_set_by(function: FunctionFacts, node: ast.AST) -> ast.expr | None:
    """The mapping whose entries a call in a method sets as attributes of the object; None for any other node."""
    return _mapping(function, node) if _is_unnamed(node) else None


def _setting(evaluator: Evaluator, owner: Instance) -> Iterator[tuple[FunctionFacts, ast.AST]]:
    """Give the places at which methods of an object set what the text does not name, those of its bases first."""
    for facts in reversed(evaluator.project.ancestry(owner.facts).classes):
        yield from evaluator.project.answer("what sets attributes unnamed", facts, partial(_set_in, facts))


def _set_in(facts: ClassFacts) -> tuple[tuple[FunctionFacts, ast.AST], ...]:
    return tuple(_find_set_in(facts))


def _find_set_in(facts: ClassFacts) -> Iterator[tuple[FunctionFacts, ast.AST]]:
    for method in facts.methods.values():
        this = FunctionFacts(facts.module, method)
        yield from ((this, node) for node in nodes_below(method) if _is_unnamed(node))


def _from_constructor(
    evaluator: Evaluator, owner: Instance, function: FunctionFacts, frame_of: FrameOf
) -> Frame | None:
    """The one call of a method by the constructor of its class: ``self.set_params(options)``."""
    home = function.owner
    init = home.methods.get("__init__") if home is not None else None
    if init is None:
        return None
    maker = FunctionFacts(function.module, init)
    frame, me, name = frame_of(maker), first_parameter(init), function.node.name
    calls = [node for node in nodes_below(init) if isinstance(node, ast.Call) and _is_method(node.func, me, name)]
    if frame is None or len(calls) != 1:
        return None
    given = arguments.of_call(evaluator, Expression(function.module, maker.scope, calls[0], frame))
    return Frame(function, given, owner, frame)


def _is_method(node: ast.expr, me: str, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and is_name(node.value, me)


def _mapping(function: FunctionFacts, node: ast.AST) -> ast.expr | None:
    """The mapping whose entries a place sets as attributes; None if it does anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = [*node.args, *(one.value for one in node.keywords if one.arg is None)]
        return given[0] if len(given) == 1 == len(node.args) + len(node.keywords) else None
    key, value = _entry(function, node)
    loop = function.module.parents.get(function.module.statement_of(node))
    if isinstance(loop, ast.If) and _asks_for(loop.test, key):
        loop = function.module.parents.get(loop)
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple) or len(loop.target.elts) != 2:
        return None
    items = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    is_entry = ast.dump(loop.target).replace("Store()", "Load()") == ast.dump(ast.Tuple([key, value], ast.Load()))
    return items.value if is_entry and isinstance(items, ast.Attribute) and items.attr == "items" else None


def _entry(function: FunctionFacts, node: ast.AST) -> tuple[ast.expr, ast.expr]:
    """What a place sets as the name of an attribute, and as its value; two empty names for another place."""
    statement = function.module.statement_of(node)
    if isinstance(node, ast.Call) and len(node.args) == 3:
        return node.args[1], node.args[2]
    if isinstance(node, ast.Subscript) and isinstance(statement, ast.Assign):
        return node.slice, statement.value
    return ast.Name("", ast.Load()), ast.Name("", ast.Load())


def _asks_for(test: ast.expr, key: ast.expr) -> bool:
    """Whether a condition is ``hasattr(self, key)``."""
    if not isinstance(test, ast.Call) or not is_name(test.func, "hasattr") or len(test.args) != 2:
        return False
    return ast.dump(test.args[1]) == ast.dump(key)


def _is_unnamed(node: ast.AST) -> bool:
    """Whether a node is ``setattr(self, name, ...)``, or changes ``self.__dict__`` as a whole or by a key."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr == "update" and _is_table_of_self(node.func.value)
        is_setting = is_name(node.func, "setattr") and len(node.args) > 1 and is_name(node.args[0], "self")
        return is_setting and not text_of(node.args[1])
    inside = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(getattr(node, "ctx", None), ast.Store) and _is_table_of_self(inside)


def _is_table_of_self(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return is_name(node.func, "vars") and len(node.args) == 1 and is_name(node.args[0], "self")
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and is_name(node.value, "self")
