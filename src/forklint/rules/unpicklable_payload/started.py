"""Processes that an object keeps once they are started, when it starts a further one with one of its methods.

Pickling a bound method pickles its object, with all that it keeps; a process that has been started cannot be pickled
(measured with Python 3.11 under spawn and forkserver: the first process starts, the second one fails).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.bindings import block_of
from forklint.project.module import FunctionFacts
from forklint.project.nodes import is_before, nodes_below
from forklint.project.scopes import FUNCTIONS, statements
from forklint.project.spelling import dotted, first_parameter, last_name
from forklint.rules.unpicklable_payload.values import Culprit, Why

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module
    from forklint.project.scopes import Function
    from forklint.sending.sites import Sent

NAME = "a started process"
ERROR = "TypeError: cannot pickle 'weakref.ReferenceType' object"
TO = "Process"
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp)
CHOOSING = frozenset({"__getstate__", "__reduce__", "__reduce_ex__"})
"""Methods by which a class says what of its objects is pickled."""
OF_CLASS = frozenset({"staticmethod", "classmethod"})
KEEPING = frozenset({"append", "add", "insert"})


def kept_when_started(project: Project, sent: Sent) -> Culprit | None:
    """The started process that the object of a method keeps when the method is sent to a further one."""
    module, function = sent.module, _around(sent.module, sent.call)
    facts = function.owner if function is not None else None
    if function is None or facts is None or sent.to != TO or not _is_own_method(project, facts, function, sent.value):
        return None
    if any(CHOOSING & set(owner.methods) for owner in project.ancestry(facts).classes):
        return None
    collected = _of_a_loop(module, function.node, facts, sent.call)
    attribute = collected or _beside(module, function.node, sent.call)
    if not attribute:
        return None
    return Culprit(Why.OBJECT, module, sent.value, NAME, ERROR, path=(attribute,), keeper=facts, again=bool(collected))


def _around(module: Module, node: ast.AST) -> FunctionFacts | None:
    found = next((one for one in module.above(node) if isinstance(one, FUNCTIONS)), None)
    return FunctionFacts(module, found) if found is not None else None


def _is_own_method(project: Project, facts: ClassFacts, function: FunctionFacts, value: ast.expr) -> bool:
    """Whether an expression is a method of the object that runs a function: ``self.run``."""
    owner = value.value if isinstance(value, ast.Attribute) else None
    if not isinstance(owner, ast.Name) or owner.id != first_parameter(function.node):
        return False
    found = project.method(facts, value.attr) if isinstance(value, ast.Attribute) else None
    return found is not None and OF_CLASS.isdisjoint(last_name(mark) for mark in found[1].decorator_list)


def _of_a_loop(module: Module, function: Function, facts: ClassFacts, call: ast.Call) -> str:
    """The attribute in which a loop collects the processes that it makes, if they are started there or later."""
    loop = next((one for one in _within(module, function, call) if isinstance(one, LOOPS)), None)
    if loop is None:
        return ""
    variable = _variable(module, call)
    attribute = next(_collecting(function, call, variable), "")
    methods = (function, *facts.methods.values())
    if not attribute or not (_is_started(function, variable) or any(_starts_each(one, attribute) for one in methods)):
        return ""
    return attribute


def _beside(module: Module, function: Function, call: ast.Call) -> str:
    """An attribute with a process that was started further up in the same statements."""
    statement = module.statement_of(call)
    block = block_of(module, statement)
    for earlier in block[: block.index(statement)] if statement in block else ():
        value = earlier.value if isinstance(earlier, ast.Assign) else None
        name = _attribute(earlier.targets[0], function) if isinstance(earlier, ast.Assign) else ""
        if name and isinstance(value, ast.Call) and last_name(value.func) == TO:
            starts = (node for node in _calls(function, "start") if is_before(earlier, node) and is_before(node, call))
            own = f"{first_parameter(function)}.{name}"
            if any(_spelt(node) == own for node in starts) and not _is_replaced(function, own, earlier, call):
                return name
    return ""


def _is_replaced(function: Function, own: str, first: ast.AST, last: ast.AST) -> bool:
    """Whether something else is stored in an attribute between two places."""
    stores = (one for one in nodes_below(function) if isinstance(getattr(one, "ctx", None), ast.Store))
    return any(dotted(one) == own and is_before(first, one) and is_before(one, last) for one in stores)


def _within(module: Module, function: Function, node: ast.AST) -> Iterator[ast.AST]:
    """Give what a function has around a node."""
    for above in module.above(node):
        if above is function:
            return
        yield above


def _variable(module: Module, call: ast.Call) -> str:
    """The name that is given what a call makes."""
    above = module.parents.get(call)
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def _collecting(function: Function, call: ast.Call, variable: str) -> Iterator[str]:
    """Give the attributes of the object in which a function collects what a call makes."""
    for statement in statements(function.body):
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and last_name(value.func) in KEEPING:
            is_kept, place = any(_is_of(one, call, variable) for one in value.args), _owner(value)
        elif isinstance(statement, ast.AugAssign):
            is_kept, place = _is_of(statement.value, call, variable), statement.target
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            is_kept, place = _is_of(statement.value, call, variable), statement.targets[0].value
        else:
            is_kept, place = isinstance(value, ast.ListComp) and value.elt is call, _target(statement)
        if is_kept and (name := _attribute(place, function)):
            yield name


def _target(statement: ast.stmt) -> ast.expr | None:
    """The first thing that a statement stores in."""
    if isinstance(statement, ast.AnnAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) else None


def _is_of(value: ast.expr, call: ast.Call, variable: str) -> bool:
    """Whether a value is what a call makes, or a row with it."""
    parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return any(one is call or (variable and isinstance(one, ast.Name) and one.id == variable) for one in parts)


def _is_started(function: Function, variable: str) -> bool:
    return bool(variable) and any(_spelt(node) == variable for node in _calls(function, "start"))


def _starts_each(function: Function, attribute: str) -> bool:
    """Whether a method starts the processes of an attribute, each by its place or in a loop over all."""
    own = f"{first_parameter(function)}.{attribute}"
    for node in _calls(function, "start"):
        owner = _owner(node)
        if isinstance(owner, ast.Subscript) and dotted(owner.value) == own:
            return True
    loops = (node for node in nodes_below(function) if isinstance(node, (ast.For, ast.comprehension)))
    over = {dotted(loop.target) for loop in loops if any(dotted(one) == own for one in nodes_below(loop.iter))}
    return any(_spelt(node) in over for node in _calls(function, "start"))


def _calls(function: Function, name: str) -> Iterator[ast.Call]:
    for node in nodes_below(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _spelt(call: ast.Call) -> str:
    """What a method is called on, as it is written."""
    owner = _owner(call)
    return dotted(owner) if owner is not None else ""


def _attribute(node: ast.AST | None, function: Function) -> str:
    """The name of an attribute of the object that a method is called on; empty for anything else."""
    is_own = isinstance(node, ast.Attribute) and dotted(node.value) == first_parameter(function)
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""
