"""What Sacred gives to the parameters of its functions: local variables of functions that are its configuration.

``@ex.config`` makes entries of what a function's names hold at its end, ``ex.add_config`` of what it is given; a
function under ``@ex.automain``, ``@ex.capture`` and their kin gets them by the names of its parameters, unless whoever
calls it gives something else (https://sacred.readthedocs.io/en/stable/configuration.html).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project import entries
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import text_of
from forklint.values import files
from forklint.values.model import Expression, Found, Made, Setting, agreed

if TYPE_CHECKING:
    from forklint.project.module import FunctionFacts, Module
    from forklint.values.evaluator import Evaluator

CONFIG, ADDING = "config", "add_config"


def configured(evaluator: Evaluator, function: FunctionFacts, name: str) -> Found | None:
    """What a parameter of a captured function holds unless it is given; None if no configuration says so."""
    scope = function.scope.parent or function.module.scope
    owners = (
        _owner(evaluator, Expression(function.module, scope, mark), listed("sacred", "captures"))
        for mark in function.node.decorator_list
    )
    owner = next((one for one in owners if one is not None), None)
    if owner is None:
        return None
    modules = dict.fromkeys((owner.call.module, function.module))
    found = [value for module in modules for value in _entries(evaluator, module, owner, name)]
    return agreed(found).after(by_default=True) if found else None


def captures(evaluator: Evaluator, mark: Expression) -> bool:
    """Whether a decorator gives what it is given, with parameters that are filled from the configuration."""
    return _owner(evaluator, mark, listed("sacred", "captures")) is not None


def _owner(evaluator: Evaluator, mark: Expression, methods: frozenset[str]) -> Made | None:
    """The experiment or ingredient of which a decorator is a method."""
    method = mark.node.func if isinstance(mark.node, ast.Call) else mark.node
    if not isinstance(method, ast.Attribute) or method.attr not in methods:
        return None
    value = evaluator.find(mark.part(method.value)).value
    return value if isinstance(value, Made) and value.name in listed("sacred", "objects") else None


def _entries(evaluator: Evaluator, module: Module, owner: Made, name: str) -> Iterator[Found]:
    """Give what a module makes of an entry of the configuration."""
    for node in module.nodes:
        if isinstance(node, FUNCTIONS) and not isinstance(node, ast.Lambda):
            marks = (Expression(module, module.scope_at(node), mark) for mark in node.decorator_list)
            if any(_is_of(_owner(evaluator, mark, frozenset({CONFIG})), owner) for mark in marks):
                yield from _local(evaluator, module, node.body[-1], name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == ADDING:
            call = Expression(module, module.scope_at(node), node)
            if _is_of(_owner(evaluator, call, frozenset({ADDING})), owner):
                yield from _added(evaluator, call, name)


def _is_of(one: Made | None, owner: Made) -> bool:
    return one is not None and one.call.node is owner.call.node


def _local(evaluator: Evaluator, module: Module, last: ast.stmt, name: str) -> Iterator[Found]:
    """Give what a name of a function holds behind its last statement."""
    scope = module.scope_at(last)
    if name in scope.bindings:
        read = ast.copy_location(ast.Name(name, ast.Load()), last)
        read.lineno = (last.end_lineno or last.lineno) + 1
        yield evaluator.find(Expression(module, scope, read))


def _added(evaluator: Evaluator, call: Expression, name: str) -> Iterator[Found]:
    """Give what a call of ``add_config`` says of an entry: by a keyword, in a mapping, or in a file that it names."""
    node = call.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    yield from (evaluator.find(call.part(value)) for key, value in entries.of_call(node) if key == name)
    for given in node.args[:1]:
        path = files.locate(evaluator.project, call.module.path, text_of(given))
        preset = files.load(evaluator.project, path) if path is not None else None
        written = [] if preset is None else [files.table(Setting(preset, tree)) for tree in preset.trees]
        tables = written or [evaluator.table(call.part(given))]
        yield from (evaluator.find(one.entries[name]) for one in tables if one is not None and name in one.entries)
