"""What shows that something is a sequence, of which each worker has all, whoever gives it to a class."""

from __future__ import annotations

import ast

from forklint.knowledge.streams import stream_words
from forklint.project.module import ClassFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Kind
from forklint.project.spelling import is_name, last_name
from forklint.values.calls import qualified
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

SEQUENCES = frozenset({"list", "List", "Sequence", "tuple", "Tuple", "dict", "Dict", "Mapping", "DataFrame", "ndarray"})


def is_sequence(source: Expression, name: str) -> bool:
    """Whether a name is a parameter that is annotated as a list, tuple, table or array, with or without its items."""
    bindings = source.scope.bound(name)
    annotation = bindings[0].node.annotation if bindings and isinstance(bindings[0].node, ast.arg) else None
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return [one.kind for one in bindings] == [Kind.PARAMETER] and last_name(annotation) in SEQUENCES


def is_used_as_sequence(evaluator: Evaluator, facts: ClassFacts, attribute: str) -> bool:
    """Whether a class takes the length of an attribute, or reads the files that its elements name."""
    for owner in evaluator.project.ancestry(facts).classes:
        for function in owner.methods.values():
            for node in nodes_below(function):
                is_length = isinstance(node, ast.Call) and is_name(node.func, "len") and bool(node.args)
                if is_length and _is_attribute(node.args[0], attribute):  # type: ignore[attr-defined]
                    return True
                if (
                    isinstance(node, ast.For)
                    and _is_attribute(node.iter, attribute)
                    and _reads(evaluator, owner, function, node)
                ):
                    return True
    return False


def is_by_process(step: ast.expr) -> bool:
    """Whether every n-th element is taken, where n is the number of processes."""
    if isinstance(step, ast.Slice):
        return step.step is not None and is_by_process(step.step)
    return any(word in ast.unparse(step).lower() for word in stream_words().by_process)


def _reads(evaluator: Evaluator, owner: ClassFacts, function: Function, loop: ast.For) -> bool:
    """Whether a loop opens what its variable names."""
    scope = owner.module.scope_of[function]
    for node in nodes_below(loop):
        if isinstance(node, ast.Call) and node.args and isinstance(loop.target, ast.Name):
            is_named = any(getattr(part, "id", "") == loop.target.id for part in nodes_below(node.args[0]))
            name = qualified(evaluator, Expression(owner.module, scope, node.func))
            if is_named and name.removeprefix("builtins.") in stream_words().reads:
                return True
    return False


def _is_attribute(expression: ast.expr, attribute: str) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr == attribute and is_name(expression.value, "self")
