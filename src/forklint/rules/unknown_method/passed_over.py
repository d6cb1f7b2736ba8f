"""Whether an object's own settings keep a line from ever running: ``if self.groups > 1`` where it is always 1."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING

from forklint.project.entries import stored
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, statements
from forklint.project.spelling import is_name
from forklint.values.arithmetic import is_true
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

SELF = "self"


def is_passed_over(project: Project, module: Module, facts: ClassFacts, node: ast.AST) -> bool:
    """Whether a node in a method stands in a branch that no object takes, by what all of them store alike."""
    for below, above in pairwise((node, *module.above(node))):
        if isinstance(above, FUNCTIONS):
            return False
        if not isinstance(above, (ast.If, ast.IfExp)) or below is above.test:
            continue
        if _is_settled(project, facts, above.test):
            found = Evaluator(project).find(Expression(module, module.scope_at(above.test), above.test))
            is_body = below is above.body or (isinstance(above, ast.If) and below in above.body)
            if isinstance(found.value, Constant) and not found.by_default and is_true(found.value) is not is_body:
                return True
    return False


def _is_settled(project: Project, facts: ClassFacts, test: ast.expr) -> bool:
    """Whether a test asks for attributes of the object, each of which is stored once, and as a constant."""
    asked = {one.attr for one in nodes_below(test) if isinstance(one, ast.Attribute) and is_name(one.value, SELF)}
    values: dict[str, list[ast.expr | None]] = {name: [] for name in asked}
    for owner in project.ancestry(facts).classes if asked else ():
        for method in owner.methods.values():
            for statement in statements(method.body):
                for name, value in stored(statement, SELF):
                    values.setdefault(name, []).append(value)
    return bool(asked) and all(len(values[one]) == 1 and isinstance(values[one][0], ast.Constant) for one in asked)
