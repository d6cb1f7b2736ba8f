"""What a seed is made of: does it differ from worker to worker, and from epoch to epoch."""

from __future__ import annotations

import ast

from forklint.knowledge.random_streams import worker_words
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, Scope, parameters
from forklint.project.spelling import is_static
from forklint.records import dataclass

MAX_HOPS = 8


@dataclass(frozen=True)
class Seed:
    """What is known of a seed."""

    by_worker: bool = False
    """Whether it differs from worker to worker."""
    large: bool = False
    """Whether it is torch's seed of the worker: of 64 bits, and another one in each epoch."""

    def __or__(self, other: Seed) -> Seed:
        return Seed(self.by_worker or other.by_worker, self.large or other.large)


STEADY = Seed()


class Seeds:
    """Judges the expressions in one function that runs as a worker begins."""

    def __init__(self, project: Project, function: FunctionFacts | None, number: str) -> None:
        """Take the function (None for a lambda) and the name of its parameter that holds the worker's number."""
        self._project = project
        self._function = function
        self._number = number

    def of(self, module: Module, scope: Scope, expression: ast.expr, hops: int = MAX_HOPS) -> Seed | None:
        """What an expression is made of; None where that is not certain."""
        if hops <= 0:
            return None
        if isinstance(expression, ast.Constant):
            return STEADY if isinstance(expression.value, (int, float)) else None
        if isinstance(expression, ast.BinOp):
            return self._combined(module, scope, expression, hops)
        if isinstance(expression, ast.Name):
            return self._named(module, scope, expression, hops)
        if isinstance(expression, ast.Attribute):
            return self._attribute(module, scope, expression)
        if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
            if self._is_first_word(module, scope, expression):
                return STEADY
            return STEADY if _is_setting(str(expression.slice.value)) and not _changes(expression) else None
        if isinstance(expression, ast.Call):
            return self._called(module, scope, expression, hops)
        return None

    def _combined(self, module: Module, scope: Scope, expression: ast.BinOp, hops: int) -> Seed | None:
        left = self.of(module, scope, expression.left, hops - 1)
        right = self.of(module, scope, expression.right, hops - 1)
        if left is None or right is None:
            return None
        both = left | right
        if not both.large:
            return both
        return both if isinstance(expression.op, ast.Add) else None  # any other brings it below 2**32, or may

    def _named(self, module: Module, scope: Scope, name: ast.Name, hops: int) -> Seed | None:
        if name.id == self._number and (self._function is None or scope is self._function.scope):
            return Seed(by_worker=True)
        found = scope.find(name.id)
        if found is None:
            return None
        home, bindings = found
        if all(binding.kind is Kind.PARAMETER for binding in bindings):
            return STEADY if _is_setting(name.id) and not _changes(name) else None
        if len(bindings) != 1:
            return None
        if bindings[0].kind is Kind.VALUE and bindings[0].value is not None:
            value = self.of(module, home, bindings[0].value, hops - 1)
            is_rank = "rank" in name.id or "world_size" in name.id
            return value or (STEADY if is_rank and not isinstance(home.node, ast.Module) else None)
        symbol = self._project.lookup(module, scope, name.id)
        if isinstance(symbol, Value) and symbol.binding.value is not None and symbol.module is not module:
            return self.of(symbol.module, symbol.scope, symbol.binding.value, hops - 1)
        return None

    def _attribute(self, module: Module, scope: Scope, expression: ast.Attribute) -> Seed | None:
        if self._is_info(module, scope, expression.value):
            known = {"id": Seed(by_worker=True), "seed": Seed(by_worker=True, large=True), "num_workers": STEADY}
            return known.get(expression.attr)
        symbol = self._project.resolve(module, scope, expression)
        if isinstance(symbol, Value) and symbol.binding.value is not None:
            return self.of(symbol.module, symbol.scope, symbol.binding.value)
        if not _is_setting(expression.attr) or _changes(expression) or self._is_set_again(module, expression.attr):
            return None
        root = expression.value
        while isinstance(root, ast.Attribute):
            root = root.value
        return STEADY if isinstance(root, ast.Name) else None

    def _is_first_word(self, module: Module, scope: Scope, expression: ast.Subscript) -> bool:
        """Whether it is ``np.random.get_state()[1][0]``.

        torch 1.9 and newer seed numpy by an array, and the first word of the state that comes of it is 2**31 always:
        measured with numpy 2 and torch 2.13.
        """
        keys, value = _unwound(scope, expression)
        is_call = keys == [0, 1] and isinstance(value, ast.Call)
        return is_call and self._project.qualified(module, scope, value.func) == "numpy.random.get_state"  # type: ignore[attr-defined]

    def _is_info(self, module: Module, scope: Scope, expression: ast.expr) -> bool:
        """Whether an expression is what ``get_worker_info()`` gives."""
        if isinstance(expression, ast.Name):
            symbol = self._project.lookup(module, scope, expression.id)
            value = symbol.binding.value if isinstance(symbol, Value) else None
            return isinstance(value, ast.Call) and self._is_info(module, scope, value)
        called = self._project.qualified(module, scope, expression.func) if isinstance(expression, ast.Call) else ""
        return called in worker_words().info

    @staticmethod
    def _is_set_again(module: Module, attribute: str) -> bool:
        """Whether a method other than ``__init__`` stores an attribute of this name, as ``set_epoch`` may."""
        return any(
            isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Store)
            for function in module.functions
            if function.node.name != "__init__"
            for node in nodes_below(function.node)
        )

    def _called(self, module: Module, scope: Scope, call: ast.Call, hops: int) -> Seed | None:
        words = worker_words()
        name = self._project.qualified(module, scope, call.func)
        if name in words.seed:
            return Seed(by_worker=True, large=True)
        if name in words.steady_calls:
            return STEADY
        if isinstance(call.func, ast.Name) and call.func.id == "int" and scope.find("int") is None and call.args:
            return self.of(module, scope, call.args[0], hops - 1)
        return None


def worker_number(function: FunctionFacts) -> str:
    """The parameter that gets the worker's number: the first, after ``self`` of a method."""
    names = [argument.arg for argument in parameters(function.node)]
    is_method = function.owner is not None and not is_static(function.node)
    names = names[1:] if is_method else names
    return names[0] if names else ""


def _unwound(scope: Scope, value: ast.expr) -> tuple[list[object], ast.expr]:
    """The constant keys by which something is read, the last one first, and what it is read from.

    A name that is bound once stands for its value: ``state = get_state()`` and then ``state[1][0]``.
    """
    keys: list[object] = []
    seen: set[str] = set()
    while True:
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            keys.append(value.slice.value)
            value = value.value
            continue
        bindings = scope.bindings.get(value.id, []) if isinstance(value, ast.Name) else []
        inner = bindings[0].value if len(bindings) == 1 and bindings[0].kind is Kind.VALUE else None
        if inner is None or bindings[0].name in seen:
            return keys, value
        seen.add(bindings[0].name)
        value = inner


def _is_setting(name: str) -> bool:
    """Whether a name is one of a setting that stays as it is: a word of the table, or one that ends in it."""
    lowered = name.lower()
    return any(
        lowered == word or lowered.endswith(f"_{word}") or lowered.startswith(f"{word}_")
        for word in worker_words().steady
    )


def _changes(expression: ast.expr) -> bool:
    """Whether a word of something that changes stands in an expression."""
    text = ast.unparse(expression).lower()
    return any(word in text for word in worker_words().changing)


def is_changing(module: Module, given: ast.expr) -> bool:
    """Whether what a loader gets for its workers to begin with, a ``partial`` say, may be another in each epoch.

    A name for it is followed within the function or module that binds it.
    """
    if isinstance(given, ast.Name):
        found = module.scope_at(given).find(given.id)
        values = [binding.value for binding in found[1]] if found is not None else []
        return any(isinstance(value, ast.Call) and _changes(value) for value in values)
    return isinstance(given, ast.Call) and _changes(given)
