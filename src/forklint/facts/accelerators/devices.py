"""Which expressions surely put something on an accelerator, and on which kind."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from forklint.knowledge.accelerators import accelerator_words
from forklint.project import entries
from forklint.project.bindings import is_shadowed, value_of
from forklint.project.index import Value
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, Kind, statements
from forklint.project.spelling import last_name
from forklint.values import callers, parameters
from forklint.values.arguments import of_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOTHING, Constant, Expression, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

KINDS = ("cuda", "mps", "xpu", "hpu")
METHODS = {"cuda": "cuda", "xpu": "xpu", "mps": "mps", "hpu": "hpu"}
"""Methods of tensors and modules that move them; ``.mps()`` is no method of torch and harms nobody here."""
NO_TENSOR = {"device", "stream", "Event", "Stream", "autocast", "pipeline", "manual_seed", "set_device"}
"""Calls that take a device and put nothing on it, or that are others' own business."""
MAX_DEPTH = 8
MOST_STEPS = 400
"""How many expressions are looked at for one."""


def used_by(project: Project, module: Module, scope: Scope, call: ast.Call) -> str:
    """The kind of accelerator that a call surely uses, on machines that have one; empty if none is certain."""
    function = call.func
    name = last_name(function)
    if isinstance(function, ast.Attribute) and name in METHODS and len(call.args) <= 1:
        of_module = project.qualified(module, scope, function.value).startswith(("torch", "numpy", "cupy"))
        return "" if of_module else METHODS[name]
    if isinstance(function, ast.Attribute) and name == "to" and call.args:
        return _Search(project).of(module, scope, call.args[0])
    if name in NO_TENSOR:
        return ""
    words, called = accelerator_words(), project.qualified(module, scope, function)
    if called in words.arrays or _is_cuda_type(called):
        return "cuda"
    if name == "type" and call.args and _is_cuda_type(project.qualified(module, scope, call.args[0])):
        return "cuda"
    option = "map_location" if called in words.readers else "device"
    given = next((keyword.value for keyword in call.keywords if keyword.arg == option), None)
    takes_one = name == "to" or called in words.loaders or called.startswith(("torch.", "torchvision."))
    return _Search(project).of(module, scope, given) if given is not None and takes_one else ""


def _is_cuda_type(name: str) -> bool:
    """Whether a qualified name is one of torch's types for tensors on a GPU: ``torch.cuda.FloatTensor``."""
    return name.startswith("torch.cuda.") and name.endswith("Tensor")


def may_use(call: ast.Call) -> bool:
    """Whether a call may use an accelerator, by its names alone."""
    name = last_name(call.func)
    if name in _names() or name.endswith("Tensor"):
        return True
    return any(keyword.arg in {"device", "map_location"} for keyword in call.keywords)


@cache
def _names() -> frozenset[str]:
    """Last names of what may use an accelerator, whatever it is given."""
    return frozenset({*METHODS, "to", "type"} | {made.rpartition(".")[2] for made in accelerator_words().arrays})


class _Search:
    """Looks for the kind of accelerator that one expression names on machines that have it."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._budget = project.budgets.of("following devices", MOST_STEPS)
        self._evaluator = Evaluator(project)

    def of(self, module: Module, scope: Scope, node: ast.expr, depth: int = MAX_DEPTH) -> str:
        """The kind; empty if none is certain."""
        found = ""
        if depth <= 0 or not self._budget.spend():
            return found
        if isinstance(node, ast.Constant):
            found = _kind(node.value)
        elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
            found = _kind(node.values[0].value)
        elif isinstance(node, ast.IfExp) and "is_available" in ast.unparse(node.test):
            found = self.of(module, scope, node.body, depth - 1) or self.of(module, scope, node.orelse, depth - 1)
        elif isinstance(node, ast.Call):
            if node.args and self._project.qualified(module, scope, node.func) == "torch.device":
                found = self.of(module, scope, node.args[0], depth - 1)
            else:
                found = self._returned(module, scope, node, depth)
        elif isinstance(node, ast.Name) and not is_shadowed(module, node):
            held = value_of(module, scope, node)
            symbol = self._project.lookup(module, scope, node.id)
            if held is not None:
                found = self.of(module, held[0], held[2], depth - 1)
            elif isinstance(symbol, Value) and symbol.binding.value is not None:
                found = self.of(symbol.module, symbol.scope, symbol.binding.value, depth - 1)
            else:
                found = self._parameter(module, scope, node.id, depth)
        elif isinstance(node, ast.Attribute):
            found = self._attribute(module, scope, node, depth)
        return found or self._evaluated(Expression(module, scope, node))

    def _evaluated(self, source: Expression) -> str:
        """The kind that the evaluator finds written: in settings, in a dictionary that a program hands over."""
        found = self._evaluator.find(source)
        if isinstance(found.value, Made) and found.value.name == "torch.device":
            given = of_call(self._evaluator, found.value.call).get("type", 0)
            found = self._evaluator.find(given) if given is not None else NOTHING
        return _kind(found.value.value) if isinstance(found.value, Constant) and not found.by_default else ""

    def _parameter(self, module: Module, scope: Scope, name: str, depth: int) -> str:
        """What a parameter is given, if every call that there is names the same kind, or leaves it to its default."""
        home, bindings = scope.find(name) or (scope, [])
        if not isinstance(home.node, FUNCTIONS) or [binding.kind for binding in bindings] != [Kind.PARAMETER]:
            return ""
        function = FunctionFacts(module, home.node)
        known = callers.of(self._evaluator, function)
        if known.escapes or known.by_default or not known.calls:
            return ""
        default = dict(entries.of_arguments(home.node.args)).get(name)
        kinds = set()
        for call in known.calls:
            given = call.get(name, parameters.position(function, name))
            if given is None and default is not None and home.parent is not None and not call.open:
                given = Expression(module, home.parent, default)
            if not isinstance(given, Expression):
                return ""
            kinds.add(self.of(given.module, given.scope, given.node, depth - 1))
        return kinds.pop() if len(kinds) == 1 else ""

    def _returned(self, module: Module, scope: Scope, call: ast.Call, depth: int) -> str:
        """What a function of the project returns that chooses by what is available."""
        symbol = self._project.resolve(module, scope, call.func)
        if not isinstance(symbol, FunctionFacts) or not _asks_what_is_available(self._project, symbol.node):
            return ""
        for statement in statements(symbol.node.body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                found = self.of(symbol.module, symbol.scope, statement.value, depth - 1)
                if found:
                    return found
        return ""

    def _attribute(self, module: Module, scope: Scope, node: ast.Attribute, depth: int) -> str:
        """``self.device``, if every place of the class that stores it names the same kind; or a name of a module."""
        above = scope.parent.node if scope.parent else None
        if isinstance(node.value, ast.Name) and isinstance(above, ast.ClassDef) and node.value.id == "self":
            kinds = set()
            for owner in self._project.ancestry(module.class_facts(above)).classes:
                for function in owner.methods.values():
                    for value in _stored(self._project, function).get(node.attr, ()):
                        inside = owner.module.scope_of[function]
                        kinds.add(self.of(owner.module, inside, value, depth - 1))
            return kinds.pop() if len(kinds) == 1 else ""
        symbol = self._project.resolve(module, scope, node)
        if isinstance(symbol, Value) and symbol.binding.value is not None:
            return self.of(symbol.module, symbol.scope, symbol.binding.value, depth - 1)
        return ""


def _asks_what_is_available(project: Project, function: Function) -> bool:
    return project.answer("asks what is available", function, lambda: "is_available" in ast.unparse(function))


def _kind(value: object) -> str:
    """The kind that a literal names; a bare number is one for CUDA, but only ``.to(0)`` says that it is a device."""
    text = value if isinstance(value, str) else ""
    return next((kind for kind in KINDS if text == kind or text.startswith(f"{kind}:")), "")


def _stored(project: Project, method: Function) -> dict[str, list[ast.expr]]:
    """What a method puts into each attribute of ``self``."""
    return project.answer("what a method stores on self", method, lambda: _find_stored(method))


def _find_stored(method: Function) -> dict[str, list[ast.expr]]:
    stored: dict[str, list[ast.expr]] = {}
    for statement in (node for node in nodes_below(method) if isinstance(node, ast.Assign)):
        for target in statement.targets:
            owner = target.value if isinstance(target, ast.Attribute) else None
            if isinstance(target, ast.Attribute) and isinstance(owner, ast.Name) and owner.id == "self":
                stored.setdefault(target.attr, []).append(statement.value)
    return stored
