"""Which class of attention.toml an attribute of ``self``, or a variable, surely holds an object of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from forklint.knowledge.attention import attention
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, Scope


def held(project: Project, module: Module, node: ast.expr) -> str:
    """Qualified name of the class whose object ``self.x``, ``x`` or a call gives; empty if it is not in the table."""
    if isinstance(node, ast.Name):
        return _in_variable(project, module, node)
    if isinstance(node, ast.Call):
        return _made_by(project, module, module.scope_at(node), node)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        above = next((above for above in module.above(node) if isinstance(above, ast.ClassDef)), None)
        return _in_attribute(project, module.class_facts(above), node.attr) if above is not None else ""
    return ""


def _in_variable(project: Project, module: Module, node: ast.Name) -> str:
    scope = module.scope_at(node)
    symbol = project.lookup(module, scope, node.id)
    if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE:
        return ""
    return _made_by(project, symbol.module, symbol.scope, symbol.binding.value)


def _made_by(project: Project, module: Module, scope: Scope, value: ast.expr | None) -> str:
    """The class that a call gives an object of; a call of ``.to(...)`` and the like gives the object itself."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SAME:
        value = value.func.value
    if not isinstance(value, ast.Call) or _last(value.func) not in names():
        return ""
    symbol = project.resolve(module, scope, value.func)
    if not isinstance(symbol, External) or not is_certain(project, module, scope, value.func):
        return ""
    return symbol.name


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@cache
def names() -> frozenset[str]:
    """Last names of the classes that are asked for; others, and those imported under another name, are unknown."""
    return frozenset(row.name for row in attention().values())


SAME = frozenset(["to", "cuda", "cpu", "eval", "train", "double", "half", "float", "bfloat16", "requires_grad_"])


def _in_attribute(project: Project, facts: ClassFacts, name: str) -> str:
    """The class of what all assignments of the attribute give, in the class, its bases and its subclasses."""
    return project.answer("objects of torch in attributes", (facts, name), lambda: _find(project, facts, name))


def _find(project: Project, facts: ClassFacts, name: str) -> str:
    ancestry = project.ancestry(facts)
    own = {made for one in ancestry.classes for made in _assigned(project, one, name)}
    if len(own) != 1 or "" in own or not ancestry.complete:
        return ""
    other = {made for one in project.subclasses(facts) for made in _assigned(project, one, name)}
    return own.pop() if other <= own else ""


def _assigned(project: Project, facts: ClassFacts, name: str) -> Iterator[str]:
    """The classes of what a class assigns to an attribute; an empty word for what is not known."""
    if name in facts.scope.bindings:
        yield ""
    for statement, value in _attributes(project, facts).get(name, ()):
        yield _made_by(project, facts.module, facts.module.scope_at(statement), value)


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
