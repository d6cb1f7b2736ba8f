"""What an iterable dataset iterates over: something that plainly ends and that each worker has whole, or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from forklint.facts.streams.giving import Giving, draws, givings
from forklint.knowledge.streams import stream_words
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Function, Kind, Scope, statements
from forklint.project.spelling import last_name

SEQUENCES = frozenset({"list", "List", "Sequence", "tuple", "Tuple", "dict", "Dict", "Mapping", "DataFrame", "ndarray"})
MAX_HOPS = 8
MOST_STEPS = 1_000
"""How many expressions are looked at for one class."""


class Sources:
    """Judges expressions in the methods of one class."""

    def __init__(self, project: Project, facts: ClassFacts) -> None:
        self._project = project
        self._facts = facts
        self._owners = project.ancestry(facts).classes
        self._budget = project.budgets.of("following samples", MOST_STEPS)

    def are_finite(
        self, owner: ClassFacts, function: Function, given: list[tuple[Giving, ast.expr]], hops: int = MAX_HOPS
    ) -> bool:
        """Whether all that these statements of a method give comes from what ends, the same in each worker."""
        return bool(given) and all(
            self.is_finite(owner, function, source, hops) and not draws(statement, source)
            for statement, source in given
        )

    def is_finite(self, owner: ClassFacts, function: Function, expression: ast.expr, hops: int = MAX_HOPS) -> bool:
        """Whether an expression gives all of something that ends, the same in each worker."""
        scope = owner.module.scope_of[function]
        if hops <= 0 or not self._budget.spend():
            return False
        if isinstance(expression, (ast.List, ast.Tuple, ast.Dict)):
            return not any(isinstance(part, ast.Starred) for part in nodes_below(expression))
        if isinstance(expression, (ast.ListComp, ast.GeneratorExp)):
            return self.is_finite(owner, function, expression.generators[0].iter, hops - 1)
        if isinstance(expression, ast.Call):
            return self._is_finite_call(owner, function, expression, hops)
        if isinstance(expression, ast.Name):
            return self._is_finite_name(owner, function, scope, expression, hops)
        if isinstance(expression, ast.Attribute) and _is_self(expression.value):
            return self._is_finite_attribute(expression.attr, hops)
        return False

    def _is_finite_call(self, owner: ClassFacts, function: Function, call: ast.Call, hops: int) -> bool:
        words = stream_words()
        scope = owner.module.scope_of[function]
        name = self.name_of(owner, scope, call)
        if name in words.passes_on and call.args and not any(isinstance(one, ast.Starred) for one in call.args):
            given = {"zip": call.args, "map": call.args[1:], "filter": call.args[1:]}.get(name, call.args[:1])
            return any(self.is_finite(owner, function, one, hops - 1) for one in given)
        if name in words.finite | words.opens:
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr in words.finite_methods:
            return True
        if _is_self(call.func.value):
            method = self._project.method(self._facts, call.func.attr)
            return method is not None and self.are_finite(*method, givings(method[1]), hops - 1)
        return call.func.attr in words.opened_methods and self.is_finite(owner, function, call.func.value, hops - 1)

    def name_of(self, owner: ClassFacts, scope: Scope, call: ast.Call) -> str:
        """Qualified name of what a call calls, or the plain name of a builtin."""
        if isinstance(call.func, ast.Name) and scope.find(call.func.id) is None and not owner.module.scope.stars:
            return call.func.id
        return self._project.qualified(owner.module, scope, call.func)

    def _is_finite_name(self, owner: ClassFacts, function: Function, scope: Scope, name: ast.Name, hops: int) -> bool:
        bindings = scope.bindings.get(name.id, [])
        return bool(bindings) and all(self._is_finite_binding(owner, function, one, hops) for one in bindings)

    def _is_finite_binding(self, owner: ClassFacts, function: Function, binding: Binding, hops: int) -> bool:
        if binding.kind is Kind.VALUE and binding.value is not None:
            return self.is_finite(owner, function, binding.value, hops - 1)
        if isinstance(binding.node, ast.With):
            items = [item for item in binding.node.items if getattr(item.optional_vars, "id", "") == binding.name]
            return any(self.is_finite(owner, function, item.context_expr, hops - 1) for item in items)
        if binding.kind is Kind.PARAMETER:
            return isinstance(binding.node, ast.arg) and _is_sequence(binding.node.annotation)
        return False

    def _is_finite_attribute(self, attribute: str, hops: int) -> bool:
        """An attribute that is assigned in the class, and each time something finite; or used as a sequence."""
        stores = self._stores.get(attribute, [])
        if not stores:
            return False
        plain = [(owner, function, value) for owner, function, value in stores if value is not None]
        if len(plain) != len(stores):
            return False
        if all(self.is_finite(owner, function, value, hops - 1) for owner, function, value in plain):
            return True
        return all(isinstance(value, ast.Name) for _, _, value in plain) and self._is_used_as_sequence(attribute)

    @cached_property
    def _stores(self) -> dict[str, list[tuple[ClassFacts, Function, ast.expr | None]]]:
        found: dict[str, list[tuple[ClassFacts, Function, ast.expr | None]]] = {}
        for owner in self._owners:
            for function in owner.methods.values():
                for statement in statements(function.body):
                    for attribute, value in _assigned(statement):
                        if not (isinstance(value, ast.Constant) and value.value is None):
                            found.setdefault(attribute, []).append((owner, function, value))
        return found

    def _is_used_as_sequence(self, attribute: str) -> bool:
        """Whether the class takes the length of an attribute, or reads the files that its elements name."""
        for owner in self._owners:
            for function in owner.methods.values():
                for node in nodes_below(function):
                    is_length = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"
                    if is_length and node.args and _is_attribute(node.args[0], attribute):  # type: ignore[attr-defined]
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
                if is_named and self.name_of(owner, scope, node) in stream_words().reads:
                    return True
        return False


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    value = getattr(statement, "value", None) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(part, ast.Attribute) and _is_self(part.value):
                yield part.attr, value if part is target else None


def _is_self(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Name) and expression.id == "self"


def _is_attribute(expression: ast.expr, attribute: str) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr == attribute and _is_self(expression.value)


def _is_sequence(annotation: ast.expr | None) -> bool:
    """Whether an annotation names a list, a tuple, a table or an array, with or without what is in it."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return last_name(annotation) in SEQUENCES
