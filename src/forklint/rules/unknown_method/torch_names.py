"""Dotted names that the modules of torch do not have: that no version has, or that are known to be removed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from forklint.knowledge.removed import Gone, removed_from
from forklint.knowledge.torch_api import ApiNames, gone_from, torch_module
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_excused, is_fallback, is_hidden
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.certainty import is_certain
from forklint.project.guard import is_for_type_checkers
from forklint.project.index import External, Project
from forklint.project.module import Module
from forklint.project.scopes import Binding, Kind
from forklint.project.spelling import dotted
from forklint.records import dataclass
from forklint.rules.unknown_method.nearest import Nearest, nearest
from forklint.rules.unknown_method.versions import HIDES, older_torch


@dataclass(frozen=True)
class Misspelt:
    """A name that is not in the torch module it is taken from."""

    node: ast.Attribute | ast.ImportFrom
    owner: ApiNames
    name: str
    near: Nearest
    gone: Gone | None = None
    """Since when, if an older torch had it."""
    excuse: str = ""
    """Why it may not matter, in words."""


def misspelt(project: Project, module: Module) -> Iterator[Misspelt]:
    """The names of torch that a module imports or reads and torch does not have."""
    aliases: set[tuple[str, str]] = set()
    for scope in module.all_scopes:
        for alias, bindings in scope.bindings.items():
            for binding in bindings:
                if binding.kind is not Kind.IMPORT:
                    break
                path = _torch_path(binding)
                if path and binding.attribute and is_missing(path):
                    yield from _imported(project, module, binding, path)
                elif path and is_module(path):
                    aliases.add((alias, path))
    wanted: set[str] = set()
    for alias, path in aliases:
        tails = set(_pattern(alias).findall(module.document.text))
        wanted.update(part for tail in tails if is_missing(f"{path}.{tail}") for part in tail.split("."))
    for node in module.nodes if wanted else ():
        if isinstance(node, ast.Attribute) and node.attr in wanted and isinstance(node.ctx, ast.Load):
            yield from _read(project, module, node)


def _read(project: Project, module: Module, node: ast.Attribute) -> Iterator[Misspelt]:
    symbol = project.resolve(module, module.scope_at(node), node)
    owner = _unknown(symbol.name) if isinstance(symbol, External) else None
    if owner is None or not isinstance(symbol, External) or symbol.name != f"{owner.path}.{node.attr}":
        return
    root = ast.unparse(node).partition(".")[0]
    if not is_certain(project, module, module.scope_at(node), ast.Name(root)):
        return  # another import of the name may be the one that counts
    is_guarded = is_excused(module, node, root) or is_excused(module, node, dotted(node.value))
    if not is_guarded and not is_for_type_checkers(module, node):
        yield from _plain(project, module, node, owner, node.attr)


def _imported(project: Project, module: Module, binding: Binding, path: str) -> Iterator[Misspelt]:
    owner = _unknown(path)
    node = binding.node
    if owner is None or not isinstance(node, ast.ImportFrom) or path != f"{owner.path}.{binding.attribute}":
        return
    if not isinstance(project.find_module(module, binding.module, binding.level), External):
        return
    if not is_excused(module, node, "") and not is_for_type_checkers(module, node):
        yield from _plain(project, module, node, owner, binding.attribute)


def _plain(
    project: Project, module: Module, node: ast.Attribute | ast.ImportFrom, owner: ApiNames, name: str
) -> Iterator[Misspelt]:
    if is_assigned_somewhere(project, name, [module]) or is_fallback(module, node):
        return
    if is_chosen_by_version(project, module, node):
        return
    gone = gone_from(owner.path, name)
    if gone is None:
        near = nearest(name, owner.offered)
        yield Misspelt(node, owner, name, near if near.misspelt else Nearest(near.names))
    else:
        excuse = HIDES if is_hidden(module, node) else older_torch(project, gone.since)
        yield Misspelt(node, owner, name, Nearest(()), gone, excuse)


def _torch_path(binding: Binding) -> str:
    """The dotted name that an import binds, if it is torch's."""
    if binding.kind is not Kind.IMPORT or binding.level or binding.module.partition(".")[0] != "torch":
        return ""
    return f"{binding.module}.{binding.attribute}".rstrip(".")


PLUGGED_IN = frozenset({"npu", "mlu", "musa", "hpu", "sdaa", "gcu", "ipu", "xla", "neuron", "maia", "vulkan"})
"""Backends that packages of their makers put into torch."""


ACCELERATORS = frozenset({"torch.cuda", "torch.xpu", "torch.mps", "torch.mtia", "torch.cpu"})
"""Where builds for them put their kinds of tensors: ``torch.xpu.FloatTensor``."""


@cache
def _unknown(path: str) -> ApiNames | None:
    """The module that lacks the next part of a dotted name; None if all is known, or nothing can be said.

    Of private modules and names only those are known that torch once had.
    """
    parts = path.split(".")
    for length in range(1, len(parts)):
        above = ".".join(parts[:length])
        owner = torch_module(above)
        if parts[length] in removed_from(above):
            return owner or ApiNames(above, frozenset(), frozenset())
    for length in range(1, len(parts)):
        owner = torch_module(".".join(parts[:length]))
        if owner is None or parts[length].startswith("_") or parts[length] in PLUGGED_IN:
            return None
        if owner.path in ACCELERATORS and parts[length].endswith("Tensor"):
            return None
        if parts[length] not in owner.every:
            return owner
    return None


def is_missing(path: str) -> bool:
    """Whether a part of a dotted name is not in the module of torch that it is taken from."""
    return _unknown(path) is not None


def is_module(path: str) -> bool:
    """Whether a dotted name is that of a module of torch some of whose names are known."""
    return torch_module(path) is not None or bool(removed_from(path))


@cache
def _pattern(alias: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(alias)}\.(\w+(?:\.\w+)*)")
