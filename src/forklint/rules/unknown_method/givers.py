"""Whether code outside a class gives its objects a name: what is stored on objects of other classes gives them none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from forklint.members.attribute_stores import are_quoted, giving_files, owners_of_stores, sets_by_text
from forklint.project.index import External, Package, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import dotted, is_class_name
from forklint.rules.unknown_method.attributes import OWN_SETTINGS, SELF
from forklint.summaries.stores import is_own_object
from forklint.values.arithmetic import is_sure
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found, Instance, Made, Ref, Row, Table

MOST_FILES = 12
"""Files that are looked into; a name to which more store is a common one."""
SETTINGS_NAME = re.compile(r"conf|arg|opt|param|setting|namespace|flag", re.IGNORECASE)
"""What classes are called whose objects are filled from the command line."""
OWN = f"{SELF}."
CONTEXT = "ctx"
"""What a function of autograd calls the object that it keeps things on."""


class Givers:
    """Answers for the classes of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._evaluator = Evaluator(project)

    def may_give(self, facts: ClassFacts, name: str, modules: list[Module]) -> bool:
        """Whether a file may give an object of a class a name, or one of ``modules`` holds it as a text.

        The first of these is where the name is used.
        """
        if are_quoted(self.project, name, modules):
            return True
        files = giving_files(self.project, name, modules)
        if len(files) > MOST_FILES:
            return True
        return any(self._gives(facts, name, path) for path in files)

    def _gives(self, facts: ClassFacts, name: str, path: Path) -> bool:
        summary, module = self.project.summary(path), self.project.module(path)
        if summary is None or module is None or sets_by_text(summary, name):
            return True
        for owner in owners_of_stores(module, name):
            number = module.number(module.scope_at(owner).node)
            if not is_own_object(summary, number, dotted(owner)) and not self._is_other(facts, module, owner):
                return True
        return False

    def _is_other(self, facts: ClassFacts, module: Module, owner: ast.expr) -> bool:
        """Whether what something is stored on is surely no object of the class."""
        scope, root = module.scope_at(owner), dotted(owner).partition(".")[0]
        if dotted(owner).removeprefix(OWN) in OWN_SETTINGS and not SETTINGS_NAME.search(facts.name):
            return True
        if root == CONTEXT and isinstance(scope.node, FUNCTIONS) and root in scope.bindings:
            return True
        bound = scope.find(root)
        if bound is not None and len(bound[1]) > 1:  # by imports in a try and its handler, say
            return False
        symbol = self.project.resolve(module, scope, owner)
        if isinstance(symbol, (External, Module, Package)):
            return True
        found = self._evaluator.find(Expression(module, scope, owner))
        kinds = [one for one in found.possible if one.value != Constant(None)]  # on None, nothing can be stored
        return (
            is_sure(found)
            and bool(kinds)
            and all(not one.by_default and self._is_of_another(facts, one) for one in kinds)
        )

    def _is_of_another(self, facts: ClassFacts, found: Found) -> bool:
        value = found.value
        if isinstance(value, Made):
            return is_class_name(value.name)
        kind = value.facts if isinstance(value, Instance) else value.symbol if isinstance(value, Ref) else None
        if isinstance(kind, ClassFacts):
            above, below = self.project.ancestry(facts).classes, self.project.ancestry(kind)
            return below.complete and kind not in above and facts not in below.classes
        return isinstance(value, (Constant, Row, Table)) or kind is not None
