"""What ``self.hparams`` of a model holds: what ``save_hyperparameters`` keeps, and what methods store in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import scopes
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.values import stores
from forklint.values.assigned import has_own
from forklint.values.callers import is_super_call
from forklint.values.model import NOTHING, Expression, Found, Frame, Instance, Table

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

NAME = "hparams"


def find(evaluator: Evaluator, owner: Instance) -> Found:
    """What the attribute of an object holds; NOTHING where that is not known, or the class assigns it as any other."""
    found = evaluator.project.method(owner.facts, "__init__")
    if found is None:
        return NOTHING
    function = FunctionFacts(found[0].module, found[1])
    frame = Frame(function, owner.made, owner) if owner.made is not None else None
    here = Expression(function.module, function.scope, ast.Constant(None), frame)
    calls = [node for node in nodes_below(found[1]) if isinstance(node, ast.Call)]
    saving = [node for node in calls if getattr(node.func, "attr", "") == "save_hyperparameters"]
    named = [argument for call in saving for argument in call.args]
    if len(saving) > 1 or any(not isinstance(one, ast.Constant) for one in named):
        return NOTHING
    classes = evaluator.project.ancestry(owner.facts).classes
    start = saving[0] if saving else next(filter(is_super_call, calls), None)
    if start is None or (not saving and any(has_own(evaluator.project, one, NAME) for one in classes)):
        return NOTHING
    kept = Found(Table(dict(_saved(here, start)) if saving else {}, complete=False))
    methods = [FunctionFacts(one.module, method) for one in classes for method in one.methods.values()]
    return stores.attribute_brought_up_to_date(evaluator, here.part(start), NAME, kept, methods)


def _saved(here: Expression, saving: ast.Call) -> dict[str, Expression]:
    """The parameters of a constructor that a call in it keeps, by name."""
    left_out = {node.value for node in nodes_below(saving) if isinstance(node, ast.Constant)}
    named = [argument.arg for argument in scopes.parameters(here.scope.node)[1:]]  # type: ignore[arg-type]
    names = [name for name in named if (name in left_out) is bool(saving.args)]
    return {name: here.part(ast.copy_location(ast.Name(name, ast.Load()), saving)) for name in names}
