"""What decorators are given: so functions and classes register themselves, ``@register("small")``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from forklint.knowledge.starters import iteration
from forklint.project.module import FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Function, parameters, statements
from forklint.project.spelling import is_name
from forklint.summaries.terms import WORD
from forklint.values import sacred
from forklint.values.model import NOTHING, Arguments, Expression, Found, Instance, Made, Ref

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
MOST_FILES = 100
"""A decorator whose name stands in more files is not followed."""
MOST_DECORATED = 30
"""So many of what one decorator is given are told."""


def is_decorator(above: ast.AST | None, node: ast.AST) -> TypeGuard[Definition]:
    """Whether an expression is a decorator of the definition above it."""
    return isinstance(above, DEFINITIONS) and node in above.decorator_list


def decorated(module: Module, definition: Definition) -> Arguments:
    """What a decorator of a definition is called with."""
    name = ast.copy_location(ast.Name(definition.name, ast.Load()), definition)
    return Arguments((Expression(module, module.scope_at(definition), name),))


def of_decorator(evaluator: Evaluator, function: FunctionFacts) -> tuple[Arguments, ...]:
    """What a function is called with that another one gives as a decorator; nothing if it is none."""
    maker = function.scope.parent.node if function.scope.parent is not None else None
    if not isinstance(maker, FUNCTIONS) or not _gives(maker, function.node.name):
        return ()
    return tuple(_given_to(evaluator, FunctionFacts(function.module, maker)))[:MOST_DECORATED]


def _gives(maker: Function, name: str) -> bool:
    return any(isinstance(one, ast.Return) and is_name(one.value, name) for one in statements(maker.body))


def _given_to(evaluator: Evaluator, maker: FunctionFacts) -> Iterator[Arguments]:
    """Give what the decorators that a function makes are called with: ``@register("small")``."""
    project, name = evaluator.project, maker.node.name
    paths = project.where(WORD, name)
    for path in paths if len(paths) <= MOST_FILES else ():
        module = project.module(path) if project.reads(path, name) else None
        for node in module.reads(name) if module is not None else ():
            call = module.parents.get(node) if module is not None else None
            above = module.parents.get(call) if module is not None and isinstance(call, ast.Call) else None
            if module is not None and is_decorator(above, call) and _is_it(evaluator, module, node, maker):  # type: ignore[arg-type]
                yield decorated(module, above)


def _is_it(evaluator: Evaluator, module: Module, node: ast.expr, maker: FunctionFacts) -> bool:
    found = _meant(evaluator, Expression(module, module.scope_at(node), node))
    return found is not None and found.node is maker.node


def _meant(evaluator: Evaluator, name: Expression) -> FunctionFacts | None:
    """The function that a name or attribute means, or the method of an object whose class has it."""
    symbol = evaluator.project.resolve(name.module, name.scope, name.node)
    if symbol is not None or not isinstance(name.node, ast.Attribute):
        return symbol if isinstance(symbol, FunctionFacts) else None
    owner = evaluator.find(name.part(name.node.value)).value
    found = evaluator.project.method(owner.facts, name.node.attr) if isinstance(owner, Instance) else None
    return FunctionFacts(found[0].module, found[1]) if found is not None else None


def gives_the_same(evaluator: Evaluator, mark: Expression) -> bool:
    """Whether a decorator gives what it is given: it registers that, fills parameters for Sacred, or is so chosen."""
    if sacred.captures(evaluator, mark) or _is_chosen(evaluator, mark):
        return True
    called = mark.node.func if isinstance(mark.node, ast.Call) else mark.node
    maker = _meant(evaluator, mark.part(called))
    if maker is None:
        return False
    if called is mark.node:
        return _gives_its_first(maker.node, is_bound=maker.owner is not None)
    inner = (one for one in statements(maker.node.body) if isinstance(one, FUNCTIONS) and _gives(maker.node, one.name))
    return any(_gives_its_first(one, is_bound=False) for one in inner)


def _is_chosen(evaluator: Evaluator, mark: Expression) -> bool:
    """Whether a name stands for one of several such decorators: ``checked = jaxtyped(...) if asked else identity``."""
    found = evaluator.find(mark) if isinstance(mark.node, ast.Name) else NOTHING
    known = iteration().transparent_decorators

    def is_transparent(one: Found) -> bool:
        if isinstance(one.value, Made):
            return one.value.name in known
        symbol = one.value.symbol if isinstance(one.value, Ref) else None
        return isinstance(symbol, FunctionFacts) and _gives_its_first(symbol.node, is_bound=False)

    return bool(found.possible) and (found.known or found.is_all) and all(map(is_transparent, found.possible))


def _gives_its_first(function: Function, *, is_bound: bool) -> bool:
    given = [one.arg for one in parameters(function)][is_bound:]
    returned = [one.value for one in statements(function.body) if isinstance(one, ast.Return)]
    return bool(given and returned) and all(is_name(one, given[0]) for one in returned)
