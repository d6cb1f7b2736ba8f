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
MOST_STEPS = 12
"""Through so many names, calls and parts a tensor is followed."""


def held(
    evaluator: Evaluator, given: Expression, kind_of: Callable[[Expression], str], steps: int = MOST_STEPS
) -> Iterator[tuple[Expression, str]]:
    """Give the calls that put on an accelerator what an expression holds, each with its kind, by what says the kind."""
    inner: Iterator[Expression] = iter(())
    node = given.node
    if isinstance(node, ast.Call):
        call = given.part(itself(node))
        kind = kind_of(call)
        if kind:
            yield call, kind
            return
        inner = _parts_of_call(evaluator, given, node)
    elif isinstance(node, (ast.Subscript, ast.Starred)):
        inner = iter((given.part(node.value),))
    elif isinstance(node, (ast.List, ast.Tuple)):
        inner = map(given.part, node.elts)
    for one in (*inner, *(behind(evaluator, given) or _datasets(evaluator, given))) if steps else ():
        yield from held(evaluator, one, kind_of, steps - 1)


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
