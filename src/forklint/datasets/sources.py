"""What an iterable dataset iterates over: something that plainly ends and that each worker has whole, or not."""

from __future__ import annotations

import ast

from forklint.datasets.giving import Giving, draws, givings
from forklint.knowledge.streams import stream_words
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Kind
from forklint.project.spelling import is_name, last_name
from forklint.values.calls import qualified
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOT_KNOWN, Expression, Frame, Instance
from forklint.values.origins import behind, origins

SEQUENCES = frozenset({"list", "List", "Sequence", "tuple", "Tuple", "dict", "Dict", "Mapping", "DataFrame", "ndarray"})
STREAMING = "streaming"
STEP = 3
"""The position of the step among the arguments of ``islice``."""
MAX_HOPS = 12
MOST_STEPS = 1_000
"""How many expressions are looked at for one class."""


class Sources:
    """Judges expressions in the methods of an object's class."""

    def __init__(self, project: Project, made: Instance) -> None:
        self._project = project
        self._evaluator = Evaluator(project)
        self._made = made
        self._owners = project.ancestry(made.facts).classes
        self._budget = project.budgets.of("following samples", MOST_STEPS)

    def are_finite(
        self, owner: ClassFacts, function: Function, given: list[tuple[Giving, ast.expr]], hops: int = MAX_HOPS
    ) -> bool:
        """Whether all that these statements of a method give comes from what ends, the same in each worker."""
        method = FunctionFacts(owner.module, function)
        frame = Frame(method, NOT_KNOWN, self._made)
        sources = [Expression(owner.module, method.scope, source, frame) for _, source in given]
        if self._made.made is not None and any(map(self._is_open, sources)):
            return False
        return bool(given) and all(
            self._is_finite(source, hops) and not draws(statement, source.node)
            for source, (statement, _) in zip(sources, given, strict=True)
        )

    def _is_open(self, source: Expression) -> bool:
        """Whether it may be a file that somebody has opened: forked workers read on where another one is."""
        calls = (one.part(one.node.func) for one in origins(self._evaluator, source) if isinstance(one.node, ast.Call))
        return any(qualified(self._evaluator, one).removeprefix("builtins.") in stream_words().opens for one in calls)

    def _is_finite(self, source: Expression, hops: int) -> bool:
        """Whether an expression gives all of something that ends, the same in each worker."""
        node = source.node
        if hops <= 0 or not self._budget.spend():
            return False
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
            return not any(isinstance(part, ast.Starred) for part in nodes_below(node))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._is_finite(source.part(node.generators[0].iter), hops - 1)
        if isinstance(node, ast.Call):
            return self._is_finite_call(source, node, hops)
        if isinstance(node, ast.Subscript) and (_is_by_process(node.slice) or _is_text(node.slice)):
            return self._is_finite(source.part(node.value), hops - 1)
        parts = [one for one in behind(self._evaluator, source) if not _is_none(one.node)]
        if parts and all(self._is_finite(one, hops - 1) for one in parts):
            return True
        if isinstance(node, ast.Attribute) and is_name(node.value, "self"):
            is_given = bool(parts) and all(isinstance(one.node, ast.Name) for one in parts)
            return is_given and self._is_used_as_sequence(node.attr)
        return isinstance(node, ast.Name) and _is_sequence(source, node.id)

    def _is_finite_call(self, source: Expression, call: ast.Call, hops: int) -> bool:
        words = stream_words()
        name = qualified(self._evaluator, source.part(call.func)).removeprefix("builtins.")
        if name in words.passes_on and call.args and not any(isinstance(one, ast.Starred) for one in call.args):
            given = {"zip": call.args, "map": call.args[1:], "filter": call.args[1:]}.get(name, call.args[:1])
            return any(self._is_finite(source.part(one), hops - 1) for one in given)
        if name in words.finite | words.opens:
            return True
        if name in words.finite_unless_streaming:
            return not any(one.arg in {None, STREAMING} and not _is_no(one.value) for one in call.keywords)
        if name == "itertools.islice" and len(call.args) > STEP and _is_by_process(call.args[STEP]):
            return self._is_finite(source.part(call.args[0]), hops - 1)
        if not isinstance(call.func, ast.Attribute):
            returned = behind(self._evaluator, source)
            return bool(returned) and all(self._is_finite(one, hops - 1) for one in returned)
        if call.func.attr in words.finite_methods:
            return True
        if is_name(call.func.value, "self"):
            method = self._project.method(self._made.facts, call.func.attr)
            return method is not None and self.are_finite(*method, givings(method[1]), hops - 1)
        return call.func.attr in words.opened_methods and self._is_finite(source.part(call.func.value), hops - 1)

    def _is_used_as_sequence(self, attribute: str) -> bool:
        """Whether the class takes the length of an attribute, or reads the files that its elements name."""
        for owner in self._owners:
            for function in owner.methods.values():
                for node in nodes_below(function):
                    is_length = isinstance(node, ast.Call) and is_name(node.func, "len") and bool(node.args)
                    if is_length and _is_attribute(node.args[0], attribute):  # type: ignore[attr-defined]
                        return True
                    if (
                        isinstance(node, ast.For)
                        and _is_attribute(node.iter, attribute)
                        and self._reads(owner, function, node)
                    ):
                        return True
        return False

    def _reads(self, owner: ClassFacts, function: Function, loop: ast.For) -> bool:
        """Whether a loop opens what its variable names."""
        scope = owner.module.scope_of[function]
        for node in nodes_below(loop):
            if isinstance(node, ast.Call) and node.args and isinstance(loop.target, ast.Name):
                is_named = any(getattr(part, "id", "") == loop.target.id for part in nodes_below(node.args[0]))
                name = qualified(self._evaluator, Expression(owner.module, scope, node.func))
                if is_named and name.removeprefix("builtins.") in stream_words().reads:
                    return True
        return False


def _is_by_process(step: ast.expr) -> bool:
    """Whether every n-th element is taken, where n is the number of processes."""
    if isinstance(step, ast.Slice):
        return step.step is not None and _is_by_process(step.step)
    return any(word in ast.unparse(step).lower() for word in stream_words().by_process)


def _is_text(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _is_no(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_attribute(expression: ast.expr, attribute: str) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr == attribute and is_name(expression.value, "self")


def _is_sequence(source: Expression, name: str) -> bool:
    """Whether a name is a parameter that is annotated as a list, tuple, table or array, with or without its items."""
    bindings = source.scope.bound(name)
    annotation = bindings[0].node.annotation if bindings and isinstance(bindings[0].node, ast.arg) else None
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return [one.kind for one in bindings] == [Kind.PARAMETER] and last_name(annotation) in SEQUENCES
