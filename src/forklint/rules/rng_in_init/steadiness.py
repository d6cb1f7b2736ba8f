"""What a seed is made of: does it differ from worker to worker, and from epoch to epoch."""

from __future__ import annotations

import ast
from dataclasses import replace

from forklint.knowledge.random_streams import worker_words
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, parameters
from forklint.project.spelling import is_static
from forklint.records import dataclass
from forklint.values.calls import qualified
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Made
from forklint.values.origins import behind, origins

MAX_HOPS = 8


@dataclass(frozen=True)
class Seed:
    """What is known of a seed."""

    by_worker: bool = False
    """Whether it differs from worker to worker."""
    large: bool = False
    """Whether it is torch's seed of the worker: of 64 bits, and another one in each epoch."""
    numpy: bool = False
    """Whether it is an integer of NumPy, which not all that wants a seed takes."""
    fresh: bool = False
    """Whether it differs from worker to worker and from epoch to epoch."""

    def __or__(self, other: Seed) -> Seed:
        numpy, fresh = self.numpy or other.numpy, self.fresh or other.fresh
        return Seed(self.by_worker or other.by_worker, self.large or other.large, numpy, fresh)


STEADY = Seed()


class Seeds:
    """Judges the expressions in one function that runs as a worker begins."""

    def __init__(self, project: Project, function: FunctionFacts | None, number: str) -> None:
        """Take the function (None for a lambda) and the name of its parameter that holds the worker's number."""
        self._project = project
        self._evaluator = Evaluator(project)
        self._function = function
        self._number = number

    def of(self, source: Expression, hops: int = MAX_HOPS) -> Seed | None:
        """What an expression is made of; None where that is not certain."""
        node = source.node
        if hops <= 0:
            return None
        if isinstance(node, ast.Constant):
            return STEADY if isinstance(node.value, (int, float)) else None
        if isinstance(node, ast.BinOp):
            return self._combined(source, node, hops)
        if isinstance(node, ast.Name):
            return self._named(source, node, hops)
        if isinstance(node, ast.Attribute):
            return self._attribute(source, node, hops)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if self._is_first_word(source):
                return Seed(numpy=True)
            if self._is_generated(source.part(node.value)):
                return Seed(by_worker=True, numpy=True, fresh=True)
            return STEADY if _is_setting(str(node.slice.value)) and not _changes(node) else None
        return self._called(source, node, hops) if isinstance(node, ast.Call) else None

    def _combined(self, source: Expression, node: ast.BinOp, hops: int) -> Seed | None:
        left, right = (self.of(source.part(part), hops - 1) for part in (node.left, node.right))
        if left is None or right is None:
            return None
        both = left | right
        if not both.large:
            return both
        return both if isinstance(node.op, ast.Add) else None  # any other brings it below 2**32, or may

    def _named(self, source: Expression, name: ast.Name, hops: int) -> Seed | None:
        if name.id == self._number and (self._function is None or source.scope is self._function.scope):
            return Seed(by_worker=True)
        home, bindings = source.scope.find(name.id) or (source.scope, [])
        if bindings and all(binding.kind is Kind.PARAMETER for binding in bindings):
            return STEADY if _is_setting(name.id) and not _changes(name) else None
        nearer = behind(self._evaluator, source) if len(bindings) == 1 else ()
        is_rank = "rank" in name.id or "world_size" in name.id
        value = self.of(nearer[0], hops - 1) if nearer else None
        return value or (STEADY if nearer and is_rank and not isinstance(home.node, ast.Module) else None)

    def _attribute(self, source: Expression, node: ast.Attribute, hops: int) -> Seed | None:
        held = self._evaluator.find(source.part(node.value)).value
        if isinstance(held, Made) and held.name in worker_words().info:
            known = {"id": Seed(by_worker=True), "seed": Seed(by_worker=True, large=True), "num_workers": STEADY}
            return known.get(node.attr)
        symbol = self._project.resolve(source.module, source.scope, node)
        if isinstance(symbol, Value) and symbol.binding.value is not None:
            return self.of(Expression(symbol.module, symbol.scope, symbol.binding.value), hops - 1)
        if not _is_setting(node.attr) or _changes(node) or self._is_set_again(source.module, node.attr):
            return None
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        return STEADY if isinstance(root, ast.Name) else None

    def _is_first_word(self, source: Expression, keys: tuple[int, ...] = (0, 1)) -> bool:
        """Whether it is ``np.random.get_state()[1][0]``, or with other ``keys`` a part of that.

        torch 1.9 and newer seed numpy by an array, and the first word of the state that comes of it is 2**31 always:
        measured with numpy 2 and torch 2.13.
        """
        node = source.node
        if isinstance(node, ast.Subscript):
            is_it = isinstance(node.slice, ast.Constant) and node.slice.value in keys[:1]
            return is_it and self._is_first_word(source.part(node.value), keys[1:])
        if isinstance(node, ast.Name):
            parts = (one for one in origins(self._evaluator, source) if not isinstance(one.node, ast.Name))
            return any(self._is_first_word(one, keys) for one in parts)
        is_state = isinstance(node, ast.Call) and not keys
        return is_state and qualified(self._evaluator, source.part(node.func)) == "numpy.random.get_state"  # type: ignore[attr-defined]

    def _is_generated(self, words: Expression) -> bool:
        """Whether it is ``np.random.SeedSequence(...).generate_state(...)``: an array of integers of NumPy."""
        for one in (words, *origins(self._evaluator, words)):
            function = one.node.func if isinstance(one.node, ast.Call) else None
            if isinstance(function, ast.Attribute) and function.attr == "generate_state":
                held = self._evaluator.find(one.part(function.value)).value
                return isinstance(held, Made) and held.name.rpartition(".")[2] == "SeedSequence"
        return False

    @staticmethod
    def _is_set_again(module: Module, attribute: str) -> bool:
        """Whether a method other than ``__init__`` stores an attribute of this name, as ``set_epoch`` may."""
        return any(
            isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Store)
            for function in module.functions
            if function.node.name != "__init__"
            for node in nodes_below(function.node)
        )

    def _called(self, source: Expression, call: ast.Call, hops: int) -> Seed | None:
        words = worker_words()
        name = qualified(self._evaluator, source.part(call.func))
        if name in words.seed:
            return Seed(by_worker=True, large=True)
        if name in words.steady_calls:
            return STEADY
        given = self.of(source.part(call.args[0]), hops - 1) if name == "builtins.int" and call.args else None
        return replace(given, numpy=False) if given is not None else None


def worker_number(function: FunctionFacts) -> str:
    """The parameter that gets the worker's number: the first, after ``self`` of a method."""
    names = [argument.arg for argument in parameters(function.node)]
    is_method = function.owner is not None and not is_static(function.node)
    names = names[1:] if is_method else names
    return names[0] if names else ""


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
