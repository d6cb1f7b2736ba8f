"""Which devices an expression can come to."""

from __future__ import annotations

import ast

from forklint.project import entries
from forklint.project.budget import Budget
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.spelling import last_name, text_of

UNKNOWN = frozenset({"?"})
DEPTH = 8
"""How many names and functions are followed, one behind the other, for one expression."""
MOST_STEPS = 400
"""How many expressions are looked at for one."""


def devices(project: Project, module: Module, value: ast.expr) -> frozenset[str]:
    """Names of devices without their numbers, such as ``mps``; ``?`` among them for what is not known."""
    if isinstance(value, ast.Constant):
        return _named(value)
    budget = project.budgets.of("following devices", MOST_STEPS)
    return project.answer("devices", value, lambda: _Devices(project, budget).of(module, value, DEPTH))


def _named(value: ast.expr) -> frozenset[str]:
    return frozenset({text_of(value).partition(":")[0].lower()}) if text_of(value) else UNKNOWN


class _Devices:
    """Answers one question."""

    def __init__(self, project: Project, budget: Budget) -> None:
        self._project = project
        self._budget = budget

    def of(self, module: Module, value: ast.expr, depth: int) -> frozenset[str]:
        if not self._budget.spend():
            return UNKNOWN
        if isinstance(value, ast.IfExp):
            parts = [value.body, value.orelse]
        elif isinstance(value, ast.BoolOp):
            parts = value.values
        elif isinstance(value, ast.Call) and last_name(value.func) in {"device", "field", "str", "Field"}:
            parts = [*value.args[:1], *(given for name, given in entries.of_call(value) if name in {"default", "type"})]
        elif isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
            return self._followed(module, value, depth)
        else:
            return _named(value)
        found = [self.of(module, part, depth) for part in parts]
        return frozenset().union(*found) if found else UNKNOWN

    def _followed(self, module: Module, value: ast.Name | ast.Attribute | ast.Call, depth: int) -> frozenset[str]:
        """From a name to what it is bound to, from a call to what the function returns."""
        if depth <= 0:
            return UNKNOWN
        called = value.func if isinstance(value, ast.Call) else value
        symbol = self._project.resolve(module, module.scope_at(value), called)
        if isinstance(symbol, Value) and symbol.binding.value is not None and called is value:
            return self.of(symbol.module, symbol.binding.value, depth - 1)
        if isinstance(symbol, FunctionFacts) and called is not value:
            returned = [
                self.of(symbol.module, node.value, depth - 1)
                for node in symbol.module.returns_of(symbol.node)
                if node.value is not None
            ]
            return frozenset().union(*returned) if returned else UNKNOWN
        return UNKNOWN
