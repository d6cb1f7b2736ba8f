"""Where it is written down what a function is given by those who call it, and what a loop draws from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.module import FunctionFacts
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import dotted
from forklint.project.trials import is_test_file
from forklint.values import callers
from forklint.values.model import Expression
from forklint.values.parameters import position

if TYPE_CHECKING:
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
