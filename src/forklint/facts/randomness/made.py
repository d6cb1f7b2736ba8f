"""Which expressions make a random generator, or hold one that was just made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge.random_streams import Generator, generators
from forklint.project.index import Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Binding, Kind, Scope, statements
from forklint.records import dataclass

MAX_HOPS = 6
MOST_STEPS = 300
"""How many expressions are looked at for one."""


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
    """The generator that an expression gives, if it is plain; of several, in branches or a list, the first."""
    if expression is None or isinstance(expression, ast.Constant):
        return None
    return _Search(project, module).of(scope, expression, MAX_HOPS)


class _Search:
    """Looks for what makes the generator that one expression of a module gives."""

    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._budget = project.budgets.of("following generators", MOST_STEPS)

    def of(self, scope: Scope, expression: ast.expr | None, hops: int) -> Made | None:
        """The generator that an expression gives."""
        if expression is None or hops <= 0 or not self._budget.spend():
            return None
        parts: list[ast.expr] = []
        if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.Or):
            parts = expression.values
        elif isinstance(expression, ast.IfExp):
            parts = [expression.body, expression.orelse]
        elif isinstance(expression, (ast.List, ast.Tuple)):
            parts = expression.elts
        elif isinstance(expression, ast.Dict):
            parts = expression.values
        elif isinstance(expression, (ast.ListComp, ast.DictComp)):
            parts = [expression.elt if isinstance(expression, ast.ListComp) else expression.value]
        for part in parts:
            found = self.of(scope, part, hops - 1)
            if found is not None:
                return found
        if isinstance(expression, ast.Call):
            return self._called(scope, expression, hops)
        if isinstance(expression, ast.Name) and isinstance(scope.node, FUNCTIONS):
            return self._local(scope, scope.bindings.get(expression.id, []), hops)
        return None

    def _called(self, scope: Scope, call: ast.Call, hops: int) -> Made | None:
        project, module = self._project, self._module
        row = generators().get(project.qualified(module, scope, call.func))
        if row is not None:
            seeded = _is_seeded(call)
            if (row.seeded_only and not (seeded and not _is_optional(scope, call))) or _is_elsewhere(call):
                return None
            return Made(module, call, row, seeded)
        symbol = project.resolve(module, scope, call.func) if isinstance(call.func, ast.Name) else None
        if isinstance(symbol, FunctionFacts) and symbol.module is module and not symbol.node.decorator_list:
            returned = [node.value for node in statements(symbol.node.body) if isinstance(node, ast.Return)]
            return self.of(symbol.scope, returned[0], hops - 1) if len(returned) == 1 else None
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            inner = self.of(scope, call.func.value, hops - 1)
            if inner is not None and call.func.attr in inner.row.chained:
                return Made(module, inner.node, inner.row, seeded=True)
        return None

    def _local(self, scope: Scope, bindings: list[Binding], hops: int) -> Made | None:
        """A local name: every place that binds it must be plain, and one of them make a generator."""
        if not all(binding.kind in {Kind.PARAMETER, Kind.VALUE} for binding in bindings):
            return None
        for binding in bindings:
            if binding.kind is Kind.VALUE:
                found = self.of(scope, binding.value, hops - 1)
            else:
                found = _declared(self._project, self._module, scope, binding.node)
            if found is not None:
                return found
        return None


def made_by_field(project: Project, module: Module, scope: Scope, value: ast.expr | None) -> Made | None:
    """The generator that a field of a dataclass is given as the object is made, by its ``default_factory``."""
    if not isinstance(value, ast.Call) or project.qualified(module, scope, value.func) != "dataclasses.field":
        return None
    factory = next((keyword.value for keyword in value.keywords if keyword.arg == "default_factory"), None)
    if isinstance(factory, ast.Lambda):
        return made_by(project, module, scope, factory.body)
    row = generators().get(project.qualified(module, scope, factory)) if factory is not None else None
    return None if row is None or row.seeded_only else Made(module, value, row, seeded=False)


def _declared(project: Project, module: Module, scope: Scope, parameter: ast.AST) -> Made | None:
    """A parameter whose annotation names a generator's class."""
    annotation = getattr(parameter, "annotation", None)
    found = None
    waiting = [annotation] if isinstance(annotation, ast.expr) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            row = generators().get(project.qualified(module, scope, node))
            if row is None:  # it may be something else as well
                return None
            found = Made(module, parameter, row, seeded=True)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Optional":
            waiting.append(node.slice)
        elif not (isinstance(node, ast.Constant) and node.value is None):
            return None
    return found


def _is_seeded(call: ast.Call) -> bool:
    return any(not (isinstance(seed, ast.Constant) and seed.value is None) for seed in _seeds(call))


def _is_optional(scope: Scope, call: ast.Call) -> bool:
    """Whether the seed is a parameter that is None unless a caller says more."""
    if not isinstance(scope.node, FUNCTIONS):
        return False
    arguments = scope.node.args
    given = [*arguments.posonlyargs, *arguments.args]
    after = zip(given[len(given) - len(arguments.defaults) :], arguments.defaults, strict=True)
    pairs = [*after, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    nothing = {one.arg for one, default in pairs if isinstance(default, ast.Constant) and default.value is None}
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
