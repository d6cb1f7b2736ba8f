"""Byte tensors that are made by way of a typed storage: ``torch.ByteTensor(torch.ByteStorage.from_buffer(data))``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.members.guards import is_excused
from forklint.project.certainty import is_certain
from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Scope
from forklint.records import dataclass

TENSOR = "torch.ByteTensor"
READ = "torch.ByteStorage.from_buffer"
KEPT = ("count", "offset")
"""Keywords that mean the same for ``torch.frombuffer``, since a byte is one element."""


@dataclass(frozen=True)
class ByteTensor:
    """One such tensor."""

    call: ast.Call
    """What makes the tensor."""
    storage: ast.Call
    """What makes the storage."""
    assigned: ast.Assign | None
    """What binds the storage to a name, if that is not given as it is made."""
    is_only_use: bool
    """Whether nothing else reads that name."""
    torch: str
    """The name under which the module knows torch; empty if it knows parts of it alone."""

    @property
    def data(self) -> ast.expr | None:
        """What the bytes come from, if the call can be written anew."""
        words = {keyword.arg for keyword in self.storage.keywords} - {*KEPT, "byte_order"}
        is_plain = len(self.storage.args) in (1, 2) and not isinstance(self.storage.args[0], ast.Starred)
        return self.storage.args[0] if is_plain and not words else None

    @property
    def kept(self) -> tuple[ast.keyword, ...]:
        """The keywords that ``torch.frombuffer`` takes as well."""
        return tuple(keyword for keyword in self.storage.keywords if keyword.arg in KEPT)


def byte_tensors(project: Project, module: Module) -> Iterator[ByteTensor]:
    """Give the byte tensors of a module that are surely made so."""
    for call in module.nodes:
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            continue
        scope = module.scope_at(call)
        if not _is(project, module, scope, call.func, TENSOR):
            continue
        storage, assigned = _storage(project, module, scope, call.args[0])
        if storage is not None and not _is_excused(module, call):
            name = call.args[0].id if isinstance(call.args[0], ast.Name) else ""
            is_only_use = assigned is not None and _uses(module.scope_at(assigned), name) == 1
            yield ByteTensor(call, storage, assigned, is_only_use, _torch(project, module, scope, call))


def _is(project: Project, module: Module, scope: Scope, function: ast.expr, name: str) -> bool:
    return project.qualified(module, scope, function) == name and is_certain(project, module, scope, function)


def _storage(
    project: Project, module: Module, scope: Scope, given: ast.expr
) -> tuple[ast.Call | None, ast.Assign | None]:
    """The call that makes the storage that is given, and the statement that binds it to a name."""
    assigned: ast.Assign | None = None
    if isinstance(given, ast.Name):
        symbol = project.lookup(module, scope, given.id)
        if not isinstance(symbol, Value) or symbol.module is not module or symbol.scope is not scope:
            return None, None
        statement = symbol.binding.node
        if not isinstance(statement, ast.Assign) or symbol.binding.value is not statement.value:
            return None, None
        given, assigned = statement.value, statement
    if isinstance(given, ast.Call) and given.args and _is(project, module, scope, given.func, READ):
        return given, assigned
    return None, None


def _uses(scope: Scope, name: str) -> int:
    named = (node for node in nodes_below(scope.node) if isinstance(node, ast.Name) and node.id == name)
    return sum(isinstance(node.ctx, ast.Load) for node in named)


def _is_excused(module: Module, call: ast.Call) -> bool:
    """Whether the call is for a torch that has nothing better."""
    return is_excused(module, call, "torch") or any(
        isinstance(above, ast.ExceptHandler) for above in module.above(call)
    )


def _torch(project: Project, module: Module, scope: Scope, call: ast.Call) -> str:
    """The name of torch, as the call itself has it or as the module imports it."""
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return call.func.value.id
    return "torch" if project.qualified(module, scope, ast.Name("torch", ast.Load())) == "torch" else ""
