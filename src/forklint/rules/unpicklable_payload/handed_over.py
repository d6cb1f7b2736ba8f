"""Where it is written down what a function is given by those who call it, and what a loop draws from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.module import FunctionFacts
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import dotted
from forklint.project.trials import is_test_file
from forklint.rules.unpicklable_payload.by_name import module_in, module_named
from forklint.values import callers
from forklint.values.model import Expression
from forklint.values.parameters import position

if TYPE_CHECKING:
    from forklint.rules.unpicklable_payload.values import Culprit
    from forklint.values.evaluator import Evaluator

TOGETHER, NUMBERED = "zip", "enumerate"


def given_by_callers(evaluator: Evaluator, place: Expression) -> Iterator[Expression]:
    """Give what calls of the function around a name, other than in tests, give to the parameter that it is."""
    function, node = place.scope.node, place.node
    bindings = place.scope.bound(node.id) if isinstance(node, ast.Name) else ()
    if not isinstance(node, ast.Name) or not isinstance(function, FUNCTIONS):
        return
    if len(bindings) != 1 or bindings[0].kind is not Kind.PARAMETER:
        return
    facts = FunctionFacts(place.module, function)
    for call in callers.of(evaluator, facts).calls:
        source = call.get(node.id, position(facts, node.id))
        if isinstance(source, Expression) and not is_test_file(source.module.path):
            yield source


def module_given(evaluator: Evaluator, place: Expression) -> Culprit | None:
    """A module that each caller gives to the parameter which a name is: that is told of where the name is stored."""
    given = list(given_by_callers(evaluator, place)) if isinstance(place.node, ast.Name) else []
    if not given or any(module_in(evaluator.project, one) is None for one in given):
        return None
    known = callers.of(evaluator, FunctionFacts(place.module, place.scope.node))  # type: ignore[arg-type]
    own = module_named(place)
    return own if not known.escapes and len(given) == len(known.calls) else None


def drawn_from(place: Expression, binder: ast.AST) -> Expression | None:
    """What a variable of a comprehension is drawn from: a list, one of several in ``zip``, one in ``enumerate``."""
    name = getattr(place.node, "id", "")
    for loop in getattr(binder, "generators", ()):
        if isinstance(loop.target, ast.Name):
            if loop.target.id == name:
                return place.part(loop.iter)
            continue
        parts = loop.target.elts if isinstance(loop.target, (ast.Tuple, ast.List)) else ()
        names = [one.id if isinstance(one, ast.Name) else "" for one in parts]
        around = loop.iter if name in names and isinstance(loop.iter, ast.Call) else None
        given = around.args if around is not None else []
        if around is not None and dotted(around.func) == TOGETHER and len(given) == len(names):
            return place.part(given[names.index(name)])
        if around is not None and dotted(around.func) == NUMBERED and names.index(name) == 1 and given:
            return place.part(given[0])
    return None
