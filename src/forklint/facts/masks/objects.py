"""Which class of attention.toml an attribute of ``self``, or a variable, surely holds an object of."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

from forklint.knowledge.attention import attention
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Made


def held(project: Project, module: Module, node: ast.expr) -> str:
    """Qualified name of the class whose object ``self.x``, ``x`` or a call gives; empty if it is not in the table."""
    if not isinstance(node, (ast.Name, ast.Call, ast.Attribute)):
        return ""
    value = Evaluator(project).find(Expression(module, module.scope_at(node), node)).value
    if not isinstance(value, Made) or value.name.rpartition(".")[2] not in names():
        return ""
    call = value.call
    is_sure = isinstance(call.node, ast.Call) and is_certain(project, call.module, call.scope, call.node.func)
    return value.name if is_sure else ""


@cache
def names() -> frozenset[str]:
    """Last names of the classes that are asked for; others, and those imported under another name, are unknown."""
    return frozenset(row.name for row in attention().values())


def _attributes(project: Project, facts: ClassFacts) -> Mapping[str, list[tuple[ast.AST, ast.expr | None]]]:
    """What a class assigns to each attribute of anything, with the statements."""
    return project.answer("what a class assigns to attributes", facts, lambda: _find_attributes(facts))


def _find_attributes(facts: ClassFacts) -> Mapping[str, list[tuple[ast.AST, ast.expr | None]]]:
    found: dict[str, list[tuple[ast.AST, ast.expr | None]]] = {}
    for node in nodes_below(facts.node):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            statement = facts.module.parents[node]
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            found.setdefault(node.attr, []).append((statement, value))
    return found


def buffer(project: Project, facts: ClassFacts, name: str) -> ast.expr | None:
    """What ``__init__`` stores as ``self.name``, or registers as a buffer of that name, if nothing else changes it."""
    relatives = (*project.ancestry(facts).classes[1:], *project.subclasses(facts))
    if any(_attributes(project, one).get(name) for one in relatives):
        return None
    init = facts.methods.get("__init__")
    kept = [(statement, value) for statement, value in _attributes(project, facts).get(name, ())]
    for node in nodes_below(facts.node):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "register_buffer" and len(node.args) > 1:
            given = node.args[0]
            if isinstance(given, ast.Constant) and given.value == name:
                kept.append((node, node.args[1]))
        if isinstance(node, ast.Attribute) and node.attr == name and _is_changed(facts.module, node):
            return None
    is_plain = len(kept) == 1 and init is not None and init in facts.module.above(kept[0][0])
    return kept[0][1] if is_plain else None


def _is_changed(module: Module, node: ast.Attribute) -> bool:
    """Whether something is written into an attribute in place: ``self.mask[0] = 1``, ``self.mask.fill_(1)``."""
    above = module.parents[node]
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Store)
    return isinstance(above, ast.Attribute) and above.attr.endswith("_")
