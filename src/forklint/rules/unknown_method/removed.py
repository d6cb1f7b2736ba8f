"""Modules that torch no longer has, and what libraries beside it lost, where a file imports or reads it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from forklint.knowledge.removed import Gone, removed_from_companions, removed_members, removed_modules
from forklint.knowledge.torch_api import torch_module
from forklint.members.attribute_stores import giving_files
from forklint.members.guards import is_excused, is_fallback, is_hidden
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.guard import is_for_type_checkers
from forklint.project.index import External
from forklint.project.spelling import dotted
from forklint.project.versions import asks_for_older
from forklint.records import dataclass
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.summaries.summary import Summary


TORCH = "torch"
COMPANIONS = {
    "torchvision": "torchvision",
    "torchaudio": "torchaudio",
    "transformers": "transformers",
    "datasets": "datasets",
    "pytorch_lightning": "lightning",
    "huggingface_hub": "huggingface_hub",
    "numpy": "numpy",
}
"""Packages of other libraries, and by which name their version is asked for."""
NUMPY = "numpy"
"""Whose names other objects have, too: ``float``. So each is sought with what numpy is called in front."""
SETS_NUMPY = re.compile(rb"\b(?:np|numpy) *\. *\w+ *=(?!=)|\bsetattr\(\s*(?:np|numpy)\b")
LIGHTNING = "lightning"
"""The other name of pytorch_lightning."""


@dataclass(frozen=True)
class Removed:
    """A place that needs the module."""

    node: ast.Import | ast.ImportFrom | ast.Attribute
    path: str
    """The dotted name of the module."""
    hidden: bool
    """True if code around it catches every exception and goes on."""

    @property
    def gone(self) -> Gone:
        """Since when it is gone."""
        owner, _, name = self.path.rpartition(".")
        return removed_members().get(owner, {}).get(name) or _everything()[self.path]

    @property
    def message(self) -> str:
        """Since when it is gone, in words."""
        owner, _, name = self.path.rpartition(".")
        if self.gone.is_setter:
            return f"`{name}` of a `{owner}` cannot be assigned since Lightning {self.gone.version}"
        if owner in removed_members():
            return f"`{owner}` has no `{name}` since Lightning {self.gone.version}"
        kind = "module " if self.library == TORCH else ""
        return f"{self.library} has no {kind}`{self.path}` since version {self.gone.version}"

    @property
    def library(self) -> str:
        """The one that had it."""
        return self.path.partition(".")[0]


@cache
def _everything() -> Mapping[str, Gone]:
    return {**removed_modules(), **removed_from_companions()}


def removed(project: Project, module: Module) -> Iterator[Removed]:
    """Give the imports of such modules and names; of one that is not imported, its uses."""
    importing = [node for node in module.nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    code = module.screened.code
    others = {one for one in COMPANIONS if one.encode() in code and not project.resolver.find(module.path, one)}
    for path, gone in (_everything() if others else removed_modules()).items():
        owner, _, name = path.rpartition(".")
        if path.partition(".")[0] not in {TORCH, *others} or name.encode() not in code:
            continue
        found: list[ast.AST] = [node for node in importing if _imports(node, path)]
        if not found and gone.is_attribute:
            found = [node for node in module.reads(name) if _is_use(project, module, node, path)]
        if found and (_is_for_older(project, module, path, gone) or _is_put_there(project, module, path)):
            continue
        for node in found:
            spelt = dotted(node.value) if isinstance(node, ast.Attribute) else owner
            is_spared = any(is_excused(module, node, one) for one in {owner, spelt}) or is_fallback(module, node)
            is_spared = is_spared or is_chosen_by_version(project, module, node)
            if not is_spared and not is_for_type_checkers(module, node):
                yield Removed(node, path, is_hidden(module, node))  # type: ignore[arg-type]


def _is_for_older(project: Project, module: Module, path: str, gone: Gone) -> bool:
    library = path.partition(".")[0]
    bounds = [(COMPANIONS.get(library, library), gone.since), *gone.beside.items()]
    return any(asks_for_older(project, module.path, since, one) for one, since in bounds)


def _is_put_there(project: Project, module: Module, path: str) -> bool:
    """Whether a file stores it on a module, or puts it into ``sys.modules`` under its whole name."""
    name = path.rpartition(".")[2]
    giving = giving_files(project, name, [module])
    if path in _of_numpy():
        return any(project.matches(one, SETS_NUMPY) for one in giving)
    return bool(giving) or any(
        quote + path.encode() + quote in project.data(one)
        for one in project.where(WORD, name)
        for quote in (b'"', b"'")
    )


def may_need(summary: Summary) -> bool:
    """Whether a file imports such a module or name, or an attribute of its name is read."""
    imported = [f"{one.module}.{one.attribute}".rstrip(".") for one in summary.imports if not one.level]
    of_companions = [one for one in imported if one.startswith(tuple(COMPANIONS))]
    of_torch = [one for one in imported if one.startswith(f"{TORCH}.")]
    if any(not _everything().keys().isdisjoint(_paths_of(one)) for one in (*of_torch, *of_companions)):
        return True
    names = _last_names(with_companions=any(not one.startswith(NUMPY) for one in of_companions))
    if any(one.partition(".")[0] in {LIGHTNING, f"pytorch_{LIGHTNING}"} for one in imported):
        names = names.union(*removed_members().values())
    called = {one.alias for one in summary.imports if one.bound == NUMPY}
    of_numpy = frozenset[str]().union(*map(_called_by, called))
    return any(
        not names.isdisjoint(scope.attributes) or not of_numpy.isdisjoint(scope.dotted | scope.calls)
        for scope in summary.scopes
    )


def _paths_of(dotted_name: str) -> Iterator[str]:
    """A dotted name, and those of the modules that it is in."""
    while dotted_name:
        yield dotted_name
        dotted_name = dotted_name.rpartition(".")[0]


@cache
def _last_names(*, with_companions: bool) -> frozenset[str]:
    gone = _everything() if with_companions else removed_modules()
    paths = {path for path, one in gone.items() if one.is_attribute}
    return frozenset(path.rpartition(".")[2] for path in paths - _of_numpy())


@cache
def _called_by(alias: str) -> frozenset[str]:
    """The names of numpy as a file spells them that calls it so: ``np.int``."""
    return frozenset(alias + path.removeprefix(NUMPY) for path in _of_numpy())


@cache
def _of_numpy() -> frozenset[str]:
    return frozenset(path for path in removed_from_companions() if path.startswith(f"{NUMPY}."))


def _imports(node: ast.Import | ast.ImportFrom, path: str) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_inside(alias.name, path) for alias in node.names)
    if node.level:
        return False
    if _is_inside(f"{node.module}", path):
        return True
    owner, _, name = path.rpartition(".")
    above = torch_module(owner)
    is_other = above is not None and name in above.every  # ``torch.tensor`` is a function
    return not is_other and any(_is_inside(f"{node.module}.{alias.name}", path) for alias in node.names)


def _is_inside(one: str, path: str) -> bool:
    return one == path or one.startswith(f"{path}.")


def _is_use(project: Project, module: Module, node: ast.AST, path: str) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != path.rpartition(".")[2] or not dotted(node):
        return False
    symbol = project.resolve(module, module.scope_at(node), node) if isinstance(node.ctx, ast.Load) else None
    return isinstance(symbol, External) and symbol.name == path
