"""Dotted names that the modules of torch do not have: that no version has, or that are known to be removed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from forklint.knowledge.patches import patches
from forklint.knowledge.removed import Gone
from forklint.knowledge.torch_api import ApiNames, gone_from
from forklint.loading.conflicts import is_expected
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_excused, is_fallback, is_hidden
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.certainty import is_certain
from forklint.project.guard import is_for_type_checkers
from forklint.project.index import External, Project
from forklint.project.module import Module
from forklint.project.scopes import Binding, Kind
from forklint.project.spelling import dotted
from forklint.project.versions import asks_for_older
from forklint.records import dataclass
from forklint.rules.unknown_method.nearest import Nearest, nearest
from forklint.rules.unknown_method.torch_aliases import torch_aliases
from forklint.rules.unknown_method.torch_modules import is_missing, is_module, lacking_module
from forklint.summaries.terms import WORD

GETATTR = "getattr"
RAISED = frozenset({"RuntimeError", "Exception", "BaseException"})
"""What catches the error of a function that does nothing but raise it."""


@dataclass(frozen=True)
class Misspelt:
    """A name that is not in the torch module it is taken from."""

    node: ast.Attribute | ast.ImportFrom | ast.Call
    """A call of ``getattr`` if the name is a text."""
    owner: ApiNames
    name: str
    near: Nearest
    gone: Gone | None = None
    """Since when, if an older torch had it."""
    hidden: bool = False
    """True if code around it catches every exception and goes on."""


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
    aliases |= torch_aliases(project, module.path)
    wanted: set[str] = set()
    for alias, path in aliases:
        tails = set(_pattern(alias).findall(module.screened.text))
        wanted.update(part for tail in tails if is_missing(f"{path}.{tail}") for part in tail.split("."))
    for node in module.nodes if wanted else ():
        if isinstance(node, ast.Attribute) and node.attr in wanted and isinstance(node.ctx, ast.Load):
            yield from _read(project, module, node) if not _is_unevaluated(module, node) else ()
    yield from _looked_up(project, module)


def _is_unevaluated(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in an annotation of a file that asks Python not to evaluate these."""
    future = (one for one in module.tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__")
    if not any(alias.name == "annotations" for one in future for alias in one.names):
        return False
    inner = node
    for above in module.above(node):
        if inner is getattr(above, "annotation", None) or inner is getattr(above, "returns", None):
            return True
        inner = above
    return False


def _looked_up(project: Project, module: Module) -> Iterator[Misspelt]:
    """Give the names that ``getattr(torch.optim, "Radam")`` looks for, without a value to fall back to."""
    for call in module.calls_of((GETATTR,)):
        name = call.args[1] if len(call.args) == 2 and dotted(call.func) == GETATTR else None
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or not name.value.isidentifier():
            continue
        scope, owner = module.scope_at(call), call.args[0]
        symbol = project.resolve(module, scope, owner) if dotted(owner) else None
        lacking = lacking_module(f"{symbol.name}.{name.value}") if isinstance(symbol, External) else None
        if lacking is None or not isinstance(symbol, External) or lacking.path != symbol.name:
            continue
        is_sure = is_certain(project, module, scope, owner) and not is_for_type_checkers(module, call)
        if is_sure and not is_excused(module, call, ""):
            yield from _plain(project, module, call, lacking, name.value)


def _read(project: Project, module: Module, node: ast.Attribute) -> Iterator[Misspelt]:
    symbol = project.resolve(module, module.scope_at(node), node)
    owner = lacking_module(symbol.name) if isinstance(symbol, External) else None
    if owner is None or not isinstance(symbol, External) or symbol.name != f"{owner.path}.{node.attr}":
        return
    if project.resolver.find(module.path, dotted(node.value), 0) is not None:
        return  # ``distributions.torch``, a module of the project, whatever its package imports by this name
    root = ast.unparse(node).partition(".")[0]
    if not is_certain(project, module, module.scope_at(node), ast.Name(root)):
        return  # another import of the name may be the one that counts
    is_guarded = is_excused(module, node, root) or is_excused(module, node, dotted(node.value))
    if not is_guarded and not is_for_type_checkers(module, node):
        yield from _plain(project, module, node, owner, node.attr)


def _imported(project: Project, module: Module, binding: Binding, path: str) -> Iterator[Misspelt]:
    owner = lacking_module(path)
    node = binding.node
    if owner is None or not isinstance(node, ast.ImportFrom) or path != f"{owner.path}.{binding.attribute}":
        return
    if not isinstance(project.find_module(module, binding.module, binding.level), External):
        return
    if not is_excused(module, node, "") and not is_for_type_checkers(module, node):
        yield from _plain(project, module, node, owner, binding.attribute)


def _plain(
    project: Project, module: Module, node: ast.Attribute | ast.ImportFrom | ast.Call, owner: ApiNames, name: str
) -> Iterator[Misspelt]:
    here = [module] if not isinstance(node, ast.Call) else []
    if is_assigned_somewhere(project, name, here) or is_fallback(module, node):
        return
    if is_chosen_by_version(project, module, node):
        return
    extender = patches().extended.get(owner.path)
    if extender is not None and project.where(WORD, extender):
        return
    gone = gone_from(owner.path, name)
    if gone is not None and gone.raises and not (_is_called(module, node) and not is_expected(module, node, RAISED)):
        return
    if gone is None:
        near = nearest(name, owner.offered)
        yield Misspelt(node, owner, name, near if near.misspelt else Nearest(near.names))
    elif not asks_for_older(project, module.path, gone.since):
        yield Misspelt(node, owner, name, Nearest(()), gone, is_hidden(module, node))


def _is_called(module: Module, node: ast.AST) -> bool:
    above = module.parents[node]
    return isinstance(node, ast.Attribute) and isinstance(above, ast.Call) and above.func is node


def _torch_path(binding: Binding) -> str:
    """The dotted name that an import binds, if it is torch's."""
    if binding.kind is not Kind.IMPORT or binding.level or binding.module.partition(".")[0] != "torch":
        return ""
    return f"{binding.module}.{binding.attribute}".rstrip(".")


@cache
def _pattern(alias: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(alias)}\.(\w+(?:\.\w+)*)")
