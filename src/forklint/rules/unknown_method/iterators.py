"""Iterators of loaders that are asked for their next batch as in Python 2, by a method."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, TypeGuard

from forklint.members.guards import is_hidden, is_method_excused
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.programs import met_with
from forklint.project.spelling import is_name
from forklint.project.versions import asks_for_older
from forklint.records import dataclass
from forklint.rules.unknown_method.items_of_lists import put_into_list_of, stored_before
from forklint.summaries.summary import CLASS
from forklint.summaries.terms import BASE, CALL, IMPORTED, WORD
from forklint.values.arithmetic import is_sure
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found, Instance, Made, Value

if TYPE_CHECKING:
    from pathlib import Path

    from forklint.project.index import Project
    from forklint.project.module import Module

NEXT, OF_PYTHON_3 = "next", "__next__"
ASKED = re.compile(rb"\.\s*next\s*\(\s*\)")
LOADERS = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader", "torch_geometric.loader.DataLoader"}
)
ITERATOR = "torch.utils.data.dataloader._BaseDataLoaderIter"
"""The class of their iterators. It had ``next`` for Python 2 up to torch 1.12 (seen there, and missing in 1.13)."""
LOADER_NAME = re.compile(r"loader", re.IGNORECASE)
"""What a variable is called that holds a loader, where its value is not known."""
OTHER_ITERATORS = ("dali", "mxnet", "petastorm", "prefetch_generator", "tensorflow_datasets")
"""Libraries whose iterators have ``next`` as well; parts of the names that are imported from them."""
REMOVED = (1, 13)


@dataclass(frozen=True)
class OldNext:
    """A call of ``next`` on an iterator of a loader, which has none."""

    call: ast.Call
    node: ast.Attribute
    hidden: bool
    """True if code around it catches every exception and goes on."""


class Certainty(IntEnum):
    """How well it is known that something is a loader."""

    NO = 0
    BY_CALL = 1
    """Nothing is known of it, but ``iter`` is called with it."""
    BY_NAME = 2
    YES = 3


def old_nexts(project: Project, module: Module) -> Iterator[OldNext]:
    """Give such calls of a module."""
    evaluator = Evaluator(project)
    for call in module.calls_of((NEXT,)):
        use = call.func
        if not isinstance(use, ast.Attribute) or call.args or call.keywords:
            continue
        known = _asked_of(project, evaluator, module, use.value)
        if not _is_enough(project, module.path, known) or asks_for_older(project, module.path, REMOVED):
            continue
        if not is_method_excused(module, use) and not is_chosen_by_version(project, module, use):
            yield OldNext(call, use, is_hidden(module, use))


def _is_enough(project: Project, home: Path, known: Certainty) -> bool:
    """Whether that is enough to call it a loader, in this file."""
    if known in {Certainty.NO, Certainty.YES}:
        return known is Certainty.YES
    if known is Certainty.BY_CALL and any(_defines(project, path) for path in project.where(WORD, NEXT)):
        return False
    return _has_loaders_alone(project) and not _meets_other_iterators(project, home)


def _asked_of(project: Project, evaluator: Evaluator, module: Module, owner: ast.expr) -> Certainty:
    """Whether a value is what ``iter`` gives for loaders of torch, or an item of a list of nothing else."""
    known = _iterates_loader(project, evaluator, Expression(module, module.scope_at(owner), owner))
    if known is not Certainty.NO:
        return known
    stored = stored_before(module, owner)
    put = [stored] if stored is not None else put_into_list_of(module, owner)
    items = (Expression(module, module.scope_at(one), one) for one in put)
    return min((_is_item(project, evaluator, one) for one in items), default=Certainty.NO)


def _is_item(project: Project, evaluator: Evaluator, item: Expression) -> Certainty:
    if isinstance(item.node, ast.Call) and item.scope.find("iter") is None:
        return _of_call(project, evaluator, item)
    return _iterates_loader(project, evaluator, item)


def _but_none(found: Found) -> list[Found]:
    """What a value may be where it is used: asking None for anything raises."""
    return [one for one in found.possible if one.value != Constant(None)]


def _iterates_loader(project: Project, evaluator: Evaluator, owner: Expression) -> Certainty:
    """Whether a value is what ``iter`` gives for loaders of torch."""
    found = evaluator.find(owner)
    if found.possible:
        known = [_of_loader(project, evaluator, one) for one in _but_none(found)]
        return min(known, default=Certainty.NO) if is_sure(found) else Certainty.NO
    bound = owner.scope.find(owner.node.id) if isinstance(owner.node, ast.Name) else None
    if bound is None or owner.scope.find("iter") is not None:
        return Certainty.NO
    calls = [Expression(owner.module, bound[0], one.value) if one.value is not None else None for one in bound[1]]
    each = (_of_call(project, evaluator, call) if call is not None else Certainty.NO for call in calls)
    return min(each, default=Certainty.NO)


def _of_loader(project: Project, evaluator: Evaluator, found: Found) -> Certainty:
    return _of_call(project, evaluator, found.value.call) if _is_iterator(found.value) else Certainty.NO


def _is_iterator(value: Value) -> TypeGuard[Made]:
    """Whether a value is what ``iter`` gives."""
    return isinstance(value, Made) and value.name == "builtins.iter"


def _of_call(project: Project, evaluator: Evaluator, call: Expression) -> Certainty:
    """Whether ``iter(...)``, or a call of ``__iter__``, asks a loader whose class has no way of its own to iterate."""
    iterated = _iterated(call.node)
    if iterated is None:
        return Certainty.NO
    loader = evaluator.find(call.part(iterated))
    loaders = [one for one in _but_none(loader) if not _is_iterator(one.value)]
    if not all(_is_loader(project, one) for one in loaders):
        return Certainty.NO
    if loaders and is_sure(loader):
        return Certainty.YES
    return Certainty.BY_NAME if loaders or LOADER_NAME.search(ast.unparse(iterated)) else Certainty.BY_CALL


def _iterated(call: ast.AST) -> ast.expr | None:
    """What a call asks for an iterator."""
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    if isinstance(call.func, ast.Attribute):
        return call.func.value if call.func.attr == "__iter__" and not call.args else None
    return call.args[0] if is_name(call.func, "iter") and len(call.args) == 1 else None


def _is_loader(project: Project, found: Found) -> bool:
    value = found.value
    if isinstance(value, Made):
        return value.name in LOADERS
    if not isinstance(value, Instance) or project.method(value.facts, "__iter__") is not None:
        return False
    external = project.ancestry(value.facts).external
    return bool(external) and LOADERS.issuperset(external)


def _has_loaders_alone(project: Project) -> bool:
    """Whether what a project calls a loader is one of torch, or has no method ``next`` either."""

    def find() -> bool:
        if not project.where(CALL, "DataLoader") and not project.where(BASE, "DataLoader"):
            return False
        return not any(_defines_both(project, path) for path in project.where(WORD, OF_PYTHON_3))

    return project.answer("has loaders of torch alone", None, find, compared=True)


def _meets_other_iterators(project: Project, home: Path) -> bool:
    """Whether a program that a file takes part in imports a library whose iterators have ``next``."""
    importing = {path for library in OTHER_ITERATORS for path in project.where(IMPORTED, library)}
    return bool(importing) and not importing.isdisjoint(met_with(project, home))


def _defines(project: Project, path: Path) -> bool:
    """Whether a class of a file has a method that is called ``next``."""

    def find() -> bool:
        summary = project.summary(path)
        return summary is None or any(one.kind == CLASS and NEXT in one.binds for one in summary.scopes)

    return project.answer("defines next", path, find, compared=True)


def _defines_both(project: Project, path: Path) -> bool:
    """Whether a class of a file may be an iterator that has both methods."""

    def find() -> bool:
        summary = project.summary(path)
        scopes = [one for one in summary.scopes if one.kind == CLASS] if summary is not None else []
        asked = [one for one in scopes if NEXT in one.binds]
        return summary is None or any(OF_PYTHON_3 in one.binds or one.bases for one in asked)

    return project.answer("defines iterators with next", path, find, compared=True)
