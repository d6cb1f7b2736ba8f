"""Tensors that workers are given and that their parent has put on an accelerator: ``TensorDataset(x.cuda())``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.rules.accelerator_in_worker.devices import itself
from forklint.values.calls import qualified
from forklint.values.model import Expression, Made
from forklint.values.origins import behind

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
STAYING = frozenset(
    {"bool", "clone", "contiguous", "detach", "double", "flatten", "float", "half", "int", "long", "permute", "reshape"}
    | {"requires_grad_", "squeeze", "t", "transpose", "type", "unsqueeze", "view"}
)
"""Methods of a tensor whose result is where the tensor is."""
MOST_STEPS = 100
"""So many names, calls and parts are looked at for what one loader is given."""


def held(
    evaluator: Evaluator, given: Expression, kind_of: Callable[[Expression], str]
) -> Iterator[tuple[Expression, str]]:
    """Give the calls that put on an accelerator what an expression holds, each with its kind, by what says the kind."""
    waiting, seen = [given], set[Expression]()
    while waiting and len(seen) < MOST_STEPS:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        call = one.part(itself(one.node)) if isinstance(one.node, ast.Call) else None
        kind = kind_of(call) if call is not None else ""
        if call is not None and kind:
            yield call, kind
        else:
            waiting += (*_parts(evaluator, one), *(behind(evaluator, one) or _datasets(evaluator, one)))


def _parts(evaluator: Evaluator, given: Expression) -> Iterator[Expression]:
    """Give the parts of an expression that are where it is: items, and what a call holds or is made of."""
    node = given.node
    if isinstance(node, ast.Call):
        yield from _parts_of_call(evaluator, given, node)
    elif isinstance(node, (ast.Subscript, ast.Starred)):
        yield given.part(node.value)
    elif isinstance(node, (ast.List, ast.Tuple)):
        yield from map(given.part, node.elts)


def _datasets(evaluator: Evaluator, given: Expression) -> Iterator[Expression]:
    """Give the calls that make what an expression may hold: one of several parts of a dataset."""
    for one in evaluator.find(given).possible if isinstance(given.node, (ast.Name, ast.Attribute)) else ():
        if isinstance(one.value, Made) and one.value.name in TENSORS | listed("datasets", "wrappers"):
            yield one.value.call


def _parts_of_call(evaluator: Evaluator, given: Expression, call: ast.Call) -> Iterator[Expression]:
    """Give what the result of a call holds, or is made of where it stays."""
    name = qualified(evaluator, given.part(call.func))
    if name in TENSORS or name in listed("datasets", "wrappers"):
        yield from map(given.part, call.args[: None if name in TENSORS else 1])
    elif not name and isinstance(call.func, ast.Attribute) and call.func.attr in STAYING:
        yield given.part(call.func.value)
