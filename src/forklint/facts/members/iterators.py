"""Iterators of loaders that are asked for their next batch as in Python 2, by a method."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.facts.members.guards import is_hidden, is_method_excused
from forklint.records import dataclass
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Found, Instance, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module

NEXT = "next"
ASKED = re.compile(rb"\.\s*next\s*\(\s*\)")
LOADERS = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader", "torch_geometric.loader.DataLoader"}
)
ITERATOR = "torch.utils.data.dataloader._BaseDataLoaderIter"
"""The class of their iterators. It had ``next`` for Python 2 up to torch 1.12 (seen there, and missing in 1.13)."""


@dataclass(frozen=True)
class OldNext:
    """A call of ``next`` on an iterator of a loader, which has none."""

    call: ast.Call
    node: ast.Attribute
    hidden: bool
    """True if code around it catches every exception and goes on."""


def old_nexts(project: Project, module: Module) -> Iterator[OldNext]:
    """Give such calls of a module."""
    evaluator = Evaluator(project)
    for call in module.calls_of((NEXT,)):
        use = call.func
        if not isinstance(use, ast.Attribute) or call.args or call.keywords:
            continue
        owner = evaluator.find(Expression(module, module.scope_at(use), use.value))
        is_one = _is_sure(owner) and all(_is_of_loader(project, evaluator, one) for one in owner.possible)
        if is_one and not is_method_excused(module, use):
            yield OldNext(call, use, is_hidden(module, use))


def _is_sure(found: Found) -> bool:
    return found.known or (found.is_all and bool(found.options))


def _is_of_loader(project: Project, evaluator: Evaluator, found: Found) -> bool:
    """Whether a value is what ``iter`` gives for a loader of torch, whose class has no way of its own to iterate."""
    value = found.value
    made = value.call.node if isinstance(value, Made) and value.name == "builtins.iter" else None
    if not isinstance(value, Made) or not isinstance(made, ast.Call) or len(made.args) != 1:
        return False
    loader = evaluator.find(value.call.part(made.args[0]))
    return _is_sure(loader) and all(_is_loader(project, one) for one in loader.possible)


def _is_loader(project: Project, found: Found) -> bool:
    value = found.value
    if isinstance(value, Made):
        return value.name in LOADERS
    if not isinstance(value, Instance) or project.method(value.facts, "__iter__") is not None:
        return False
    external = project.ancestry(value.facts).external
    return bool(external) and LOADERS.issuperset(external)
