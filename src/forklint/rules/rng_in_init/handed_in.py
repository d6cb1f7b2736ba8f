"""Generators that an object is given as it is made: ``Jitter(rng=default_rng(0))``, ``kind(**settings)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.datasets.carriers import arguments_with, carried_from, parameter_at
from forklint.loading.loaders import loaders_of
from forklint.project import entries
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import text_of
from forklint.records import dataclass
from forklint.rules.rng_in_init.made import Made, generator_of
from forklint.values import classes
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.model import Made as Call
from forklint.values.numbers import Workers
from forklint.values.objects import kept_as


@dataclass(frozen=True)
class HandedIn:
    """A generator that a call gives to an object, which keeps it."""

    made: Made
    keeper: ClassFacts
    attribute: str
    carrier: ClassFacts | None
    """The dataset that the object comes to, where its class is known by its module alone."""
    by_name: bool
    """Whether the parent has a name for it, and may draw from it as well."""


def handed_in(project: Project, module: Module) -> Iterator[HandedIn]:
    """Give the generators that a module hands to objects of the project."""
    for node in module.nodes:
        if not isinstance(node, ast.Call):
            continue
        place = Expression(module, module.scope_at(node), node)
        made = generator_of(Call(project.qualified(module, place.scope, node.func), place))
        if made is None or _is_for_parent(project, place):
            continue
        for call, key in _takers(module, node):
            function = Expression(module, module.scope_at(call), call.func)
            known = classes.choices(Evaluator(project), function)
            is_chosen = _is_unknown(project, function)
            carrier = carried_from(project, module, call) if is_chosen else None
            for keeper in known or (module.classes if carrier is not None else ()):
                for attribute in _attributes(project, keeper, call, node, key):
                    yield HandedIn(made, keeper, attribute, carrier, by_name=False)
        for home, call, argument in arguments_with(project, module, node):
            symbol = project.resolve(home, home.scope_at(call), call.func)
            if isinstance(symbol, ClassFacts) and argument is not node:
                above = home.parents[argument]
                key = above.arg or "" if isinstance(above, ast.keyword) else ""
                for attribute in _attributes(project, symbol, call, argument, key):
                    yield HandedIn(made, symbol, attribute, None, by_name=True)


def _is_for_parent(project: Project, place: Expression) -> bool:
    """Whether the same function, or the same top level, reads its data by loaders that have no workers."""
    near = [one for one in loaders_of(project, place.module) if one.call.scope is place.scope]
    return bool(near) and all(one.workers.kind is Workers.NONE and not one.workers.by_default for one in near)


def _attributes(project: Project, keeper: ClassFacts, call: ast.Call, argument: ast.AST, key: str) -> Iterator[str]:
    """Give the attributes under which an object keeps an argument of the call that makes it."""
    init = project.method(keeper, "__init__")
    placed = parameter_at(FunctionFacts(init[0].module, init[1]), call, argument) if init is not None else ""
    for attribute, _ in kept_as(project, keeper, key or placed) if key or placed else ():
        yield attribute


def _takers(module: Module, node: ast.Call) -> Iterator[tuple[ast.Call, str]]:
    """Give the calls that an expression is an argument of, with its keyword; by ``**settings``, those near it."""
    above = module.parents[node]
    if isinstance(above, ast.Call) and node in above.args:
        yield above, ""
        return
    key, settings = "", ""
    if isinstance(above, ast.keyword):
        call = module.parents[above]
        if isinstance(call, ast.Call):
            yield call, above.arg or ""
        return
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Subscript):
        key, settings = text_of(above.targets[0].slice), ast.unparse(above.targets[0].value)
    elif isinstance(above, ast.Dict):
        home = module.parents[above]
        key = next((name for name, value in entries.of_dict(above) if value is node), "")
        settings = ast.unparse(home.targets[0]) if isinstance(home, ast.Assign) else ""
    around = next((one for one in module.above(node) if isinstance(one, FUNCTIONS)), module.tree)
    for other in nodes_below(around) if key and settings else ():
        if isinstance(other, ast.Call):
            spread = (keyword.value for keyword in other.keywords if keyword.arg is None)
            if any(ast.unparse(value) == settings for value in spread):
                yield other, key


def _is_unknown(project: Project, function: Expression) -> bool:
    """Whether what is called is not known at all: a name for what ``getattr`` or a registry gave."""
    symbol = project.resolve(function.module, function.scope, function.node)
    return isinstance(function.node, ast.Name) and not isinstance(symbol, (External, ClassFacts, FunctionFacts))
