"""Calls of attention whose masks torch refuses, merges with a warning, or adds where they were meant to hide."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from forklint.knowledge.attention import Attention, attention, mask_names
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project
from forklint.project.module import Module
from forklint.project.scopes import Scope
from forklint.project.spelling import hides_arguments
from forklint.records import dataclass
from forklint.rules.mask_dtype_mismatch.objects import held
from forklint.rules.mask_dtype_mismatch.tensors import Tensors
from forklint.rules.mask_dtype_mismatch.values import NONE, Tensor

STEPS_PER_FILE = 10_000
"""Expressions that are looked at for the masks of one file, all together, whatever is in it, ..."""
STEPS_PER_NODE = 4
"""... and besides for each node of it."""


@dataclass(frozen=True)
class Mask:
    """A mask as a call is given it."""

    parameter: str
    node: ast.expr
    tensor: Tensor


@dataclass(frozen=True)
class Wrong:
    """What is wrong with the masks of one call."""

    call: ast.Call
    row: Attention
    kind: str
    """``integers``, ``added``, ``mixed`` or ``causal``."""
    masks: tuple[Mask, ...]
    """Those that it is about: for ``mixed`` the pair."""


def wrong_masks(project: Project, module: Module) -> Iterator[Wrong]:
    """Find the calls in a module whose masks do not fit what they are given to."""
    calls = [node for node in module.nodes if isinstance(node, ast.Call) and _may_give_masks(node)]
    found = [(call, row) for call in calls if (row := _row(project, module, call)) is not None]
    steps = STEPS_PER_FILE + STEPS_PER_NODE * len(module.nodes)
    for call, row in found:
        budget = project.budgets.of("following masks", steps // len(found))
        yield from _judged(call, row, Tensors(project, module, budget))


def _may_give_masks(call: ast.Call) -> bool:
    """Whether a call may give a mask, and all that it gives is seen."""
    by_name = any(keyword.arg in mask_names() for keyword in call.keywords)
    return (by_name or len(call.args) > 1) and not hides_arguments(call)


def _row(project: Project, module: Module, call: ast.Call) -> Attention | None:
    """The row of attention.toml that a call belongs to."""
    rows, func = attention(), call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        row = rows.get(held(project, module, func))
        return row if row is not None and row.how == "object" else None
    if isinstance(func, (ast.Name, ast.Call)):
        row = rows.get(held(project, module, func))
        if row is not None and row.how == "object":
            return row
    scope = module.scope_at(call)
    if not any(row.how == "function" and row.name == _own_name(scope, func) for row in rows.values()):
        return None
    symbol = project.resolve(module, scope, func)
    row = rows.get(symbol.name) if isinstance(symbol, External) else None
    is_function = row is not None and row.how == "function"
    return row if is_function and is_certain(project, module, scope, func) else None


def _own_name(scope: Scope, func: ast.expr) -> str:
    """The last name of what is called, or the one that it was imported by."""
    if isinstance(func, ast.Attribute):
        return func.attr
    found = scope.find(func.id) if isinstance(func, ast.Name) else None
    imported = [one.attribute for one in found[1] if one.attribute] if found is not None else []
    return imported[0] if imported else getattr(func, "id", "")


def _arguments(call: ast.Call, row: Attention) -> Mapping[str, ast.expr]:
    """The arguments of a call by parameter."""
    given = dict(zip(row.parameters, call.args, strict=False))
    return {**given, **{keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}}


def _judged(call: ast.Call, row: Attention, tensors: Tensors) -> Iterator[Wrong]:
    arguments = _arguments(call, row)
    masks: dict[str, Mask] = {}
    for parameter in row.masks:
        node = arguments.get(parameter)
        tensor = tensors.of(node) if node is not None else None
        if node is not None and tensor is not None and tensor != NONE:
            masks[parameter] = Mask(parameter, node, tensor)
    if tensors.budget.has_run_out:
        return
    integers = tuple(mask for mask in masks.values() if mask.tensor.kind == "int")
    added = tuple(mask for mask in masks.values() if mask.tensor.kind == "float" and mask.tensor.is_binary)
    if integers:
        yield Wrong(call, row, "integers", integers)
    elif added:
        yield Wrong(call, row, "added", added)
    else:
        yield from _mixed(call, row, masks)
    causal = arguments.get(row.is_causal)
    sure = tuple(mask for mask in masks.values() if not mask.tensor.optional)
    if isinstance(causal, ast.Constant) and causal.value is True and sure:
        yield Wrong(call, row, "causal", sure)


def _mixed(call: ast.Call, row: Attention, masks: Mapping[str, Mask]) -> Iterator[Wrong]:
    """Pairs of a bool and a float mask; not where each may be None, which may never be otherwise together."""
    for first, second in row.pairs:
        one, other = masks.get(first), masks.get(second)
        if one is None or other is None or (one.tensor.optional and other.tensor.optional):
            continue
        if {one.tensor.kind, other.tensor.kind} == {"bool", "float"}:
            yield Wrong(call, row, "mixed", (one, other))
