"""What making an object of a class with fields runs, where no constructor is written: the factories of its defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts
from forklint.runs.calls import callee
from forklint.runs.trace import Enters, Place
from forklint.values import arguments, objects
from forklint.values.model import NO_ARGUMENTS, Expression, Frame

if TYPE_CHECKING:
    from forklint.project.index import Symbol
    from forklint.values.evaluator import Evaluator


def run_by(evaluator: Evaluator, call: Expression, symbol: Symbol | None) -> Iterator[Enters | Expression]:
    """Give what the factories of the fields run that a call does not give: a function, or the body of a lambda."""
    if not isinstance(symbol, ClassFacts) or not objects.is_made_of_fields(evaluator, symbol):
        return
    given, names = arguments.of_call(evaluator, call), objects.field_names(evaluator, symbol)
    for number, name in enumerate(names):
        factory = _factory(evaluator, symbol, name) if not given.open and given.get(name, number) is None else None
        if factory is not None and isinstance(factory.node, ast.Lambda):
            yield factory.part(factory.node.body)
        elif factory is not None:
            found = callee(evaluator, factory, evaluator.project.resolve(factory.module, factory.scope, factory.node))
            if found is not None:
                frame = Frame(found[0], NO_ARGUMENTS, found[1], call.frame)
                yield Enters(found[0], frame, Place(call.module, call.node, f"calls {found[0].qualname}()"))


def _factory(evaluator: Evaluator, facts: ClassFacts, name: str) -> Expression | None:
    """The function that gives a field its default: ``field(default_factory=...)``."""
    declared = objects.given_to_field(evaluator, facts, name)
    if declared is None or not objects.is_field(evaluator, declared):
        return None
    factory = objects.factory_in(declared)
    return declared.part(factory) if factory is not None else None
