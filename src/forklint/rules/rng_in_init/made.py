"""Which expressions make a random generator, or hold one that was just made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge.random_streams import Generator, generators
from forklint.project import entries
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Kind, Scope
from forklint.records import dataclass
from forklint.values import callers, parameters
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Found, Instance, Row, Table
from forklint.values.model import Made as Call

MOST_NESTED = 3
"""So deep in lists and mappings a generator is looked for."""


@dataclass(frozen=True)
class Made:
    """A generator where it is made, or where a parameter says that a caller gives one."""

    module: Module
    node: ast.AST
    row: Generator
    seeded: bool
    """Whether it gets a seed: without one it begins anew wherever the expression runs again."""

    @property
    def constructor(self) -> ast.expr | None:
        """What the source calls; None for a parameter."""
        return self.node.func if isinstance(self.node, ast.Call) else None


def made_by(project: Project, module: Module, scope: Scope, expression: ast.expr | None) -> Made | None:
    """The generator that an expression gives; of several, in branches or a list, the first.

    It is made in the function of the expression, in one of the same module that is called there, or once and for all
    as the default of a parameter.
    """
    if expression is None or isinstance(expression, (ast.Constant, ast.Attribute)):
        return None
    evaluator = Evaluator(project)
    source = Expression(module, scope, expression)
    known = _declared(project, module, scope, expression) or _by_default(evaluator, source, MOST_NESTED)
    if known is not None:
        return known
    found = evaluator.find(source.by_anyone())
    for made in _held(evaluator, found, MOST_NESTED):
        place = made.call
        is_here = place.scope is scope or isinstance(place.scope.node, FUNCTIONS)
        if place.module is module and is_here and (one := generator_of(made)) is not None:
            return one
    return None


def made_by_field(project: Project, facts: ClassFacts, name: str, value: ast.expr | None) -> Made | None:
    """The generator that a field of a dataclass is given as the object is made, by its ``default_factory``."""
    if not isinstance(value, ast.Call) or "default_factory" not in dict(entries.of_call(value)):
        return None
    evaluator = Evaluator(project)
    held = evaluator.member(Found(Instance(facts)), name).value
    found = generator_of(held) if isinstance(held, Call) else None
    return Made(facts.module, value, found.row, found.seeded) if found is not None else None


def _held(evaluator: Evaluator, found: Found, depth: int) -> Iterator[Call]:
    """Give what libraries made of all that something may be or hold."""
    for one in found.possible if depth else ():
        if isinstance(one.value, Call):
            yield one.value
        inner = one.value.items if isinstance(one.value, Row) else ()
        for source in one.value.values if isinstance(one.value, Table) else inner:
            yield from _held(evaluator, evaluator.find(source), depth - 1)


def generator_of(made: Call) -> Made | None:
    """The generator that a call of a library makes."""
    row, place, call = generators().get(made.name), made.call, made.call.node
    if row is None or not isinstance(call, ast.Call) or _is_elsewhere(call):
        return None
    above = place.module.parents.get(call)
    is_seeded = any(not (isinstance(seed, ast.Constant) and seed.value is None) for seed in _seeds(call))
    if row.seeded_only and (not is_seeded or _is_optional(place.scope, call)):
        return None
    is_chained = isinstance(above, ast.Attribute) and above.attr in row.chained
    return Made(place.module, call, row, is_seeded or is_chained)


def _declared(project: Project, module: Module, scope: Scope, expression: ast.expr) -> Made | None:
    """A parameter, or the first of several expressions, whose annotation names a generator's class."""
    while isinstance(expression, (ast.BoolOp, ast.IfExp)):
        expression = expression.values[0] if isinstance(expression, ast.BoolOp) else expression.body
    bindings = scope.bound(expression.id) if isinstance(expression, ast.Name) else ()
    parameter = next((one.node for one in bindings if one.kind is Kind.PARAMETER), None)
    found = None
    waiting = [parameter.annotation] if isinstance(parameter, ast.arg) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            row = generators().get(project.qualified(module, scope, node))
            if row is None:  # it may be something else as well
                return None
            found = Made(module, parameter, row, seeded=True) if parameter is not None else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Optional":
            waiting.append(node.slice)
        elif not (isinstance(node, ast.Constant) and node.value is None):
            return None
    return found


def _by_default(evaluator: Evaluator, source: Expression, hops: int) -> Made | None:
    """The generator that is a parameter's default, unless every caller that is known gives something else.

    A default is made once, as the module is imported: all objects have the same one. It may be that of a caller.
    """
    function, name = source.scope.node, source.node.id if isinstance(source.node, ast.Name) else ""
    is_parameter = any(one.kind is Kind.PARAMETER for one in source.scope.bound(name)) if name else False
    if not hops or not is_parameter or not isinstance(function, FUNCTIONS):
        return None
    facts = FunctionFacts(source.module, function)
    known = callers.of(evaluator, facts)
    given = [one.get(name, parameters.position(facts, name)) for one in known.calls]
    if known.escapes or not given or not all(given):
        default = parameters.default_of(evaluator, facts, name).value
        made = generator_of(default) if isinstance(default, Call) and default.call.module is source.module else None
        if made is not None:
            return made
    nearer = (one for one in given if isinstance(one, Expression) and one.module is source.module)
    return next((made for one in nearer if (made := _by_default(evaluator, one, hops - 1))), None)


def _is_optional(scope: Scope, call: ast.Call) -> bool:
    """Whether the seed is a parameter that is None unless a caller says more."""
    defaults = dict(entries.of_arguments(scope.node.args)) if isinstance(scope.node, FUNCTIONS) else {}
    nothing = {name for name, one in defaults.items() if isinstance(one, ast.Constant) and one.value is None}
    return any(isinstance(seed, ast.Name) and seed.id in nothing for seed in _seeds(call))


def _seeds(call: ast.Call) -> Iterator[ast.expr]:
    """Give the arguments of a constructor and of what it is made of: ``Generator(PCG64(0))``."""
    for argument in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "device")]:
        if isinstance(argument, ast.Call):
            yield from _seeds(argument)
        else:
            yield argument


def _is_elsewhere(call: ast.Call) -> bool:
    """Whether a torch.Generator is made on another device than the CPU, as far as the text says."""
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    devices += [one for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any(not (isinstance(one, ast.Constant) and one.value in {"cpu", None}) for one in devices)
