"""Calls of ``super().method()`` for which no class above has the method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.patches import patches
from forklint.knowledge.torch_api import class_names
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_method_excused
from forklint.project.guard import is_for_type_checkers
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import dotted, is_name
from forklint.rules.unknown_method.suppliers import MIXIN_NAME

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module
    from forklint.rules.unknown_method.attributes import Attributes

SUPER = "super()"
"""As summaries spell it, whatever it is given."""
TEST_HOOKS = frozenset({"setUp", "tearDown", "setUpClass", "tearDownClass"})
"""Methods of ``unittest.TestCase``, the base that a class of tests forgot."""
OBJECT = frozenset(dir(object))


def lacking_above(
    project: Project, attributes: Attributes, module: Module, called: dict[ClassFacts, set[str]]
) -> Iterator[tuple[ast.Attribute, ClassFacts]]:
    """Give the methods of such calls, each with the class in which it stands."""
    left = {facts: missing_above(project, attributes, facts, names) for facts, names in called.items() if names}
    for call in module.nodes if any(left.values()) else ():
        use = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(use, ast.Attribute) or not _is_plain_super(use.value):
            continue
        around = method_around(module, use)
        if around is None or use.attr not in left.get(facts := around[0], ()):
            continue
        homes = [one.module for one in project.ancestry(facts).classes]
        is_given = is_assigned_somewhere(project, use.attr, [module, *homes])
        if not is_given and not is_method_excused(module, use) and not is_for_type_checkers(module, use):
            yield use, facts


def missing_above(project: Project, attributes: Attributes, facts: ClassFacts, called: set[str]) -> set[str]:
    """Those of some names that what ``super()`` gives in a class surely lacks, in objects of any class."""
    names = {name for name in called - OBJECT if not name.startswith("__") and not patches().supply(name)}
    if all(dotted(base) == "object" for base in facts.node.bases):
        names &= TEST_HOOKS  # any other class may be there to be combined
    ancestry = project.ancestry(facts)
    if not names or not ancestry.complete or MIXIN_NAME.search(facts.name):
        return set()
    if any(attributes.is_open(one) or attributes.is_patched(one) for one in ancestry.classes):
        return set()
    if any(len(one.node.bases) > 1 for one in project.subclasses(facts)):
        return set()
    for external in ancestry.external:
        known = class_names(external)
        if known is None:
            return set()
        names -= known.every | patches().attached_to(external)
    for owner in ancestry.classes[1:]:
        names -= attributes.members(owner).names
    return {name for name in names if not any(attributes.members(one).may_spell(name) for one in ancestry.classes)}


def _is_plain_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and is_name(node.func, "super") and not node.args


def method_around(module: Module, use: ast.AST) -> tuple[ClassFacts, Function] | None:
    """The method in which a use stands, after its class; None in a function that is none."""
    function = next((above for above in module.above(use) if isinstance(above, FUNCTIONS)), None)
    scope = module.scope_of[function] if function is not None else None
    home = scope.parent.node if scope is not None and scope.parent is not None else None
    return (module.class_facts(home), function) if function is not None and isinstance(home, ast.ClassDef) else None
