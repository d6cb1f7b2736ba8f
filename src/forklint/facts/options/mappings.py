"""What a mapping holds that is given as ``**mapping``: a literal, or a name bound to one and never changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, Scope
from forklint.project.spelling import text_of
from forklint.records import dataclass


@dataclass(frozen=True)
class Given:
    """One argument, by name."""

    name: str
    """As it is written."""
    value: ast.expr
    module: Module
    """Where it is written."""
    scope: Scope
    home: ast.Call | ast.Dict
    """What holds it: the call itself, or the mapping that the call unpacks."""
    is_unpacked: bool = True
    """Whether it stands in such a mapping."""

    @property
    def is_own(self) -> bool:
        """Whether one call alone gets it from where it is written, so that it can be changed there."""
        return not self.is_unpacked or is_given_once(self.module, self.home)


def entries(project: Project, module: Module, scope: Scope, mapping: ast.expr) -> tuple[Given, ...] | None:
    """The entries of a mapping, all of them; None if they cannot be known."""
    if isinstance(mapping, ast.BinOp) and isinstance(mapping.op, ast.BitOr):
        parts = [entries(project, module, scope, part) for part in (mapping.left, mapping.right)]
        return _joined(parts)
    if isinstance(mapping, ast.Dict):
        parts = []
        for key, given in zip(mapping.keys, mapping.values, strict=True):
            name = text_of(key)
            own = (Given(name, given, module, scope, mapping),) if name else None
            parts.append(entries(project, module, scope, given) if key is None else own)
        return _joined(parts)
    if isinstance(mapping, ast.Call):
        plain = isinstance(mapping.func, ast.Name) and mapping.func.id == "dict" and scope.find("dict") is None
        if not plain or mapping.args or any(keyword.arg is None for keyword in mapping.keywords):
            return None
        return tuple(Given(word.arg or "", word.value, module, scope, mapping) for word in mapping.keywords)
    if isinstance(mapping, ast.Name):
        symbol = project.lookup(module, scope, mapping.id)
        if not isinstance(symbol, Value) or symbol.binding.kind is not Kind.VALUE or symbol.module is not module:
            return None
        value = symbol.binding.value
        if not isinstance(value, (ast.Dict, ast.Call, ast.BinOp)) or not _is_untouched(project, symbol, mapping.id):
            return None
        return entries(project, symbol.module, symbol.scope, value)
    return None


def _joined(parts: list[tuple[Given, ...] | None]) -> tuple[Given, ...] | None:
    """The entries of several mappings, where the last one of a name counts; None if one is not known."""
    if any(part is None for part in parts):
        return None
    return tuple({one.name: one for part in parts for one in part or ()}.values())


def uses(value: Value, name: str) -> Iterator[ast.Name]:
    """Give the places that read the name of a mapping."""
    for node in nodes_below(value.scope.node):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _is_untouched(project: Project, value: Value, name: str) -> bool:
    """Whether nothing but reading and unpacking is done with a mapping, so that it still holds what it was made of."""
    module = value.module
    if not all(_only_reads(module, node) for node in uses(value, name)):
        return False
    return is_of_module_alone(project, value, name)


def is_of_module_alone(project: Project, value: Value, name: str) -> bool:
    """Whether no other module may use what a name is bound to: none has the word."""
    if value.scope is not value.module.scope:
        return True
    return set(project.containing(name.encode())) <= {value.module.path}


def _only_reads(module: Module, node: ast.Name) -> bool:
    above = module.parents[node]
    if isinstance(above, ast.keyword):
        return above.arg is None
    if isinstance(above, ast.Dict):  # {**options, "shuffle": True}
        return any(key is None and value is node for key, value in zip(above.keys, above.values, strict=True))
    if isinstance(above, ast.BinOp):  # options | {"shuffle": True}
        return True
    return isinstance(above, ast.Subscript) and above.value is node and isinstance(above.ctx, ast.Load)


def is_given_once(module: Module, home: ast.Call | ast.Dict) -> bool:
    """Whether a mapping that is unpacked somewhere is unpacked there alone, so that it can be changed for one call."""
    above = module.parents[home]
    if isinstance(above, ast.keyword):
        return above.arg is None
    if not isinstance(above, (ast.Assign, ast.AnnAssign)):
        return False
    targets = above.targets if isinstance(above, ast.Assign) else [above.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return False
    name, root = targets[0].id, module.scope_at(above).node
    found = [n for n in nodes_below(root) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return len(found) == 1
