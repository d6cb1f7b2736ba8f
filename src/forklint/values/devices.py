"""Which devices an expression may name: ``"cuda:1"``, ``torch.device("mps")``, a parameter that somebody gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from forklint.values.arguments import of_call
from forklint.values.model import Constant, Expression, Found, Made, Source, Text
from forklint.values.worlds import Worlds

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

DEVICE = "torch.device"
PLAIN_VALUES = frozenset({DEVICE, "torch.load", "torch.autocast", "torch.set_default_device", "torch.compile"})
"""Torch functions that take a device and need not touch it."""


class Devices(NamedTuple):
    """What an expression may name."""

    names: frozenset[tuple[str, Worlds]]
    """Devices without their numbers, each with the kinds of machine on which it may be meant; empty: no device."""
    is_all: bool
    """Whether it is surely one of them."""


def devices(evaluator: Evaluator, source: Source, within: tuple[Source, ...] = ()) -> Devices:
    """The devices that an expression may name; one that is made of itself, ``d = torch.device(d)``, adds none."""
    if source in within:
        return Devices(frozenset(), is_all=True)
    found = evaluator.find(source)
    inner = [_of(evaluator, one, (*within, source)) for one in found.possible]
    names = frozenset[tuple[str, Worlds]]().union(*(part.names for part in inner))
    return Devices(names, (found.known or found.is_all) and all(part.is_all for part in inner))


def goes_to_cuda(evaluator: Evaluator, call: Expression, name: str) -> bool:
    """Whether a call puts something on a CUDA device where there is one; ``name`` is that of a library's function."""
    node = call.node
    given: list[ast.expr] = []
    if isinstance(node, ast.Call) and name.startswith("torch."):
        is_function = name.rpartition(".")[2].islower() and name not in PLAIN_VALUES
        given = [keyword.value for keyword in node.keywords if is_function and keyword.arg == "device"]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not name:
        if node.func.attr == "cuda":
            return not node.keywords and len(node.args) <= 1
        given = node.args[:1] if node.func.attr == "to" else []
    named = [devices(evaluator, call.part(one)) for one in given]
    return any(one.is_all and any(kind == "cuda" for kind, _ in one.names) for one in named)


def _of(evaluator: Evaluator, found: Found, within: tuple[Source, ...]) -> Devices:
    value = found.value
    given = of_call(evaluator, value.call).get("type", 0) if isinstance(value, Made) and value.name == DEVICE else None
    if given is not None:
        inner = devices(evaluator, given, within)
        return Devices(frozenset((name, worlds & found.worlds) for name, worlds in inner.names), inner.is_all)
    text = value.start if isinstance(value, Text) else value.value if isinstance(value, Constant) else None
    name = text.partition(":")[0].lower() if isinstance(text, str) else ""
    return Devices(frozenset({(name, found.worlds)}), is_all=isinstance(value, (Constant, Text)))
