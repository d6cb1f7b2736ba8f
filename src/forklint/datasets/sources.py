"""What an iterable dataset iterates over: something that plainly ends and that each worker has whole, or not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from forklint.datasets.awareness import is_aware
from forklint.datasets.giving import Giving, draws, givings, is_shared_out
from forklint.datasets.sequences import is_by_process, is_sequence, is_used_as_sequence
from forklint.knowledge.streams import stream_words
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, statements
from forklint.project.spelling import is_name, last_name, text_of
from forklint.runs.calls import callees
from forklint.values import arguments, calls
from forklint.values.evaluator import Evaluator
from forklint.values.model import NO_ARGUMENTS, NOT_KNOWN, Expression, Frame, Instance, Lambda
from forklint.values.origins import behind

STREAMING = "streaming"
STEP = 3
"""The position of the step among the arguments of ``islice``."""
MAX_HOPS = 12
MOST_STEPS = 1_000
"""How many expressions are looked at for one class."""
COMPUTED = frozenset({"property", "cached_property"})
"""Decorators by which reading an attribute calls a method."""
COLLECTING = frozenset({"list", "tuple", "sorted", "set"})
"""Builtins that put all of something into a list at once."""
TESTS = (ast.Compare, ast.BoolOp)
"""What chooses rows of a table: ``frame[frame.day < 25]``."""


class Look(NamedTuple):
    """An expression, and what is known of the way that led to it."""

    at: Expression
    hops: int = MAX_HOPS
    early: bool = False
    """Whether it has its value before ``__iter__`` runs: a file that is open by then is shared, and not read whole."""
    collected: bool = False
    """Whether all of it was put into a list by then."""

    def part(self, node: ast.expr) -> Look:
        """A part of the expression."""
        return Look(self.at.part(node), self.hops - 1, self.early, self.collected)

    def behind(self, at: Expression, *, runs: bool = True) -> Look:
        """What the expression stands for; ``runs``: it is evaluated while samples are given, if that is."""
        return Look(at, self.hops - 1, not self.collected and (self.early or not runs), self.collected)

    def put_into_list(self) -> Look:
        """The same where all of it is put into a list at once: what was read early is no shared file."""
        return self._replace(early=False, collected=self.collected or self.early)


class Sources:
    """Judges expressions in the methods of an object's class."""

    def __init__(self, project: Project, made: Instance) -> None:
        self._project = project
        self._evaluator = Evaluator(project)
        self._made = made
        self._running: set[ast.AST] = set()
        """The functions that run while samples are given."""
        self._budget = project.budgets.of("following samples", MOST_STEPS)

    def are_finite(self, owner: ClassFacts, function: Function, given: list[tuple[Giving, ast.expr]]) -> bool:
        """Whether all that these statements of a method give comes from what ends, the same in each worker."""
        return self._gives_all(Frame(FunctionFacts(owner.module, function), NOT_KNOWN, self._made), given, MAX_HOPS)

    def _gives_all(self, frame: Frame, given: list[tuple[Giving, ast.expr]], hops: int) -> bool:
        function = frame.function
        self._running.add(function.node)
        return bool(given) and all(
            self._is_finite(Look(Expression(function.module, function.scope, source, frame), hops))
            and not draws(statement, source)
            for statement, source in given
        )

    def _is_finite(self, look: Look) -> bool:
        """Whether an expression gives all of something that ends, the same in each worker."""
        source, node = look.at, look.at.node
        if look.hops <= 0 or not self._budget.spend():
            return False
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
            return not any(isinstance(part, ast.Starred) for part in nodes_below(node))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            inner = look.part(node.generators[0].iter)
            inner = inner.put_into_list() if isinstance(node, ast.ListComp) else inner
            return not is_shared_out(node) and self._is_finite(inner)
        if isinstance(node, ast.Call):
            return self._is_finite_call(look, node)
        if isinstance(node, ast.Subscript) and _is_whole(node.slice):
            return self._is_finite(look.part(node.value))
        parts = [one for one in behind(self._evaluator, source) if not _is_none(one.node)]
        nearer = [look.behind(one, runs=one.scope.node in self._running) for one in parts]
        if parts and all(map(self._is_finite, nearer)):
            return True
        if not isinstance(node, ast.Attribute):
            return isinstance(node, ast.Name) and is_sequence(source, node.id)
        if is_name(node.value, "self"):
            is_given = bool(parts) and all(isinstance(one.node, ast.Name) for one in parts)
            if is_given and is_used_as_sequence(self._evaluator, self._made.facts, node.attr):
                return True
        elif node.attr in stream_words().finite_parts and self._is_finite(look.part(node.value)):
            return True
        return self._is_finite_property(look, node)

    def _is_finite_property(self, look: Look, node: ast.Attribute) -> bool:
        """Whether reading an attribute calls a method, and all that this may return is finite."""
        owner = self._evaluator.find(look.at.part(node.value)).value
        found = self._project.method(owner.facts, node.attr) if isinstance(owner, Instance) else None
        if found is None or not any(last_name(mark) in COMPUTED for mark in found[1].decorator_list):
            return False
        function = FunctionFacts(found[0].module, found[1])
        frame = Frame(function, NO_ARGUMENTS, owner, look.at.frame)  # type: ignore[arg-type]
        returned = [one.value for one in statements(found[1].body) if isinstance(one, ast.Return) and one.value]
        values = [Expression(function.module, function.scope, value, frame) for value in returned]
        return not is_aware(self._project, function) and self._are_returned_finite(look, function, values)

    # Calls

    def _is_finite_call(self, look: Look, call: ast.Call) -> bool:
        name = calls.qualified(self._evaluator, look.at.part(call.func)).removeprefix("builtins.")
        if name:
            found = self._is_finite_of_library(look, call, name)
            if found is not None:
                return found
        symbol = self._project.resolve(look.at.module, look.at.scope, call.func)
        if isinstance(symbol, ClassFacts):
            return self._is_finite_object(look)
        entered = list(callees(self._evaluator, look.at.part(call.func), symbol)) if not name else []
        if len(entered) == 1:
            (function, receiver), kept = entered[0]
            if function.node.name == "__init__":
                return self._is_finite_object(look)
            given = kept.then(arguments.of_call(self._evaluator, look.at))
            return self._is_finite_function(look, Frame(function, given, receiver, look.at.frame))
        written = self._evaluator.find(look.at.part(call.func)).value if not name else None
        if isinstance(written, Lambda) and isinstance(written.place.node, ast.Lambda):
            return self._is_finite(look.behind(written.place.part(written.place.node.body)))
        return isinstance(call.func, ast.Attribute) and self._is_finite_of_method(look, call.func)

    def _is_finite_of_library(self, look: Look, call: ast.Call, name: str) -> bool | None:
        """Whether what a library's function gives is finite; None if nothing is known of that."""
        words = stream_words()
        if name in words.passes_on and call.args and not any(isinstance(one, ast.Starred) for one in call.args):
            given = {"zip": call.args, "map": call.args[1:], "filter": call.args[1:]}.get(name, call.args[:1])
            parts = map(look.part, given)
            return any(self._is_finite(one.put_into_list() if name in COLLECTING else one) for one in parts)
        if name in words.finite:
            return True
        if name in words.opens:
            return not look.early
        if name in words.opens_paths:
            return not look.early and bool(call.args) and self._is_path(look.at.part(call.args[0]))
        if name in words.finite_unless_streaming:
            return not any(one.arg in {None, STREAMING} and not _is_no(one.value) for one in call.keywords)
        if name == "itertools.chain" and call.args:
            return all(self._is_finite(look.part(one)) for one in call.args)
        is_cut = name == "itertools.islice" and (len(call.args) < STEP or is_by_process(call.args[-1]))
        return True if is_cut and call.args and self._is_finite(look.part(call.args[0])) else None

    def _is_finite_of_method(self, look: Look, func: ast.Attribute) -> bool:
        words = stream_words()
        if func.attr in words.finite_methods:
            return True
        return func.attr in words.opened_methods and self._is_finite(look.part(func.value))

    def _is_finite_function(self, look: Look, frame: Frame) -> bool:
        """Whether a function of the project gives all of something that ends: it yields that, or returns it."""
        function = frame.function
        is_again = frame.within is not None and frame.within.enters(function)
        if is_again or not calls.is_plain(self._evaluator, function) or is_aware(self._project, function):
            return False
        if calls.is_generator(self._project, function.node):
            return self._gives_all(frame, givings(function.node), look.hops - 1)
        return self._are_returned_finite(look, function, calls.returns(self._evaluator, frame))

    def _are_returned_finite(self, look: Look, function: FunctionFacts, values: Sequence[Expression]) -> bool:
        if not look.early:
            self._running.add(function.node)
        nearer = [look.behind(one) for one in values]
        return bool(nearer) and all(map(self._is_finite, nearer))

    def _is_finite_object(self, look: Look) -> bool:
        """Whether iterating an object of the project gives all of something that ends."""
        made = self._evaluator.find(look.at).value
        ancestry = self._project.ancestry(made.facts) if isinstance(made, Instance) else None
        if ancestry is None or not isinstance(made, Instance) or not ancestry.complete:
            return False
        words = stream_words()
        if set(ancestry.external) - words.iterable - words.plain - words.indexed:
            return False
        if any(is_aware(self._project, owner) for owner in ancestry.classes):
            return False
        names = {name for owner in ancestry.classes for name in owner.methods}
        found = self._project.method(made.facts, "__iter__")
        if found is None or "__next__" in names:
            return found is None and {"__getitem__", "__len__"} <= names
        function = FunctionFacts(found[0].module, found[1])
        return self._is_finite_function(look, Frame(function, NO_ARGUMENTS, made))

    def _is_path(self, source: Expression) -> bool:
        """Whether an expression is surely the path of a file: it says so, and no number of a camera."""
        node = source.node
        if isinstance(node, ast.Call) and is_name(node.func, "str") and node.args:
            return self._is_path(source.part(node.args[0]))
        words = stream_words()
        text = text_of(node) or last_name(node).lower()
        is_live = any(word in text for word in words.live)
        return not is_live and (bool(text_of(node)) or any(word in text for word in words.paths))


def _is_whole(key: ast.expr) -> bool:
    """Whether an index takes a column, some rows of a table, or what a process gets of all samples."""
    return is_by_process(key) or bool(text_of(key)) or isinstance(key, TESTS)


def _is_no(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
