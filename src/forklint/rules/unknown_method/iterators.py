"""Iterators of loaders that are asked for their next batch as in Python 2, by a method."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.members.guards import is_hidden, is_method_excused
from forklint.records import dataclass
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Found, Instance, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module

NEXT = "next"
HIDES = "the `except` around it hides the error"
ASKED = re.compile(rb"\.\s*next\s*\(\s*\)")
LOADERS = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader", "torch_geometric.loader.DataLoader"}
)
ITERATOR = "torch.utils.data.dataloader._BaseDataLoaderIter"
"""The class of their iterators. It had ``next`` for Python 2 up to torch 1.12 (seen there, and missing in 1.13)."""


REMOVED = (1, 13)
ASKING = ("requirements.txt", "environment.yml", "environment.yaml", "setup.py", "setup.cfg", "pyproject.toml")
"""Files of the root in which a project says which torch it needs."""
ASKED_TORCH = re.compile(rb"\b(?:py)?torch *(?:={1,3}|<=?|~=) *v?(\d+)\.(\d+)")


@dataclass(frozen=True)
class OldNext:
    """A call of ``next`` on an iterator of a loader, which has none."""

    call: ast.Call
    node: ast.Attribute
    excuse: str
    """Why it may not matter, in words: code around it catches every exception, or an older torch is asked for."""


def old_nexts(project: Project, module: Module) -> Iterator[OldNext]:
    """Give such calls of a module."""
    evaluator = Evaluator(project)
    older = project.answer("an older torch asked for", None, lambda: _older_torch(project), compared=True)
    for call in module.calls_of((NEXT,)):
        use = call.func
        if not isinstance(use, ast.Attribute) or call.args or call.keywords:
            continue
        owner = evaluator.find(Expression(module, module.scope_at(use), use.value))
        is_one = _is_sure(owner) and all(_is_of_loader(project, evaluator, one) for one in owner.possible)
        if is_one and not is_method_excused(module, use):
            yield OldNext(call, use, HIDES if is_hidden(module, use) else older)


def _older_torch(project: Project) -> str:
    """What says that the project is for a torch that still had the method; empty where nothing does."""
    for name in ASKING:
        for asked in ASKED_TORCH.finditer(project.data(project.root / name)):
            version = int(asked[1]), int(asked[2])
            if version < REMOVED:
                return f"`{name}` asks for torch {version[0]}.{version[1]}, which had it"
    return ""


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
