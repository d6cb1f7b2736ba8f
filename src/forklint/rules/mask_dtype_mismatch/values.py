"""Masks as values: the kind of a dtype, what is in the tensor, and what operations leave of that."""

from __future__ import annotations

import ast
from dataclasses import replace

from forklint.records import dataclass

ZEROS, ONES, INFINITE = "0", "1", "-inf"
BINARY = frozenset([ZEROS, ONES])
BLOCKING = frozenset([ZEROS, INFINITE])
OPPOSITE = {"blocked": "allowed", "allowed": "blocked", "": ""}


@dataclass(frozen=True)
class Tensor:
    """A tensor as far as it is known; with ``kind`` empty it is None."""

    kind: str
    """``bool``, ``float`` or ``int``."""
    values: frozenset[str] | None = None
    """Which of 0, 1 and minus infinity it may hold; None if it may hold others."""
    marks: str = ""
    """What its ones mark: ``blocked`` or ``allowed``; empty if that is not plain."""
    optional: bool = False
    """Whether it may be None instead."""

    @property
    def is_binary(self) -> bool:
        """Whether it holds zeros and ones."""
        return self.values == BINARY


NONE = Tensor("", optional=True)


def literal(node: ast.expr) -> float | bool | None:
    """The value of a literal number, ``float("-inf")`` and ``-math.inf`` included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand)
        return None if value is None or isinstance(value, bool) else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float" and node.args:
        text = node.args[0]
        number: object = text.value if isinstance(text, ast.Constant) else literal(text)
        try:
            return float(number) if isinstance(number, (str, int, float)) else None
        except ValueError:
            return None
    if isinstance(node, ast.Attribute) and node.attr in {"inf", "infty"} and isinstance(node.value, ast.Name):
        return float("inf")
    return None


def filled(node: ast.expr) -> Tensor | None:
    """What a tensor is that was filled with a number."""
    number = literal(node)
    if number is None:
        is_limit = isinstance(node, ast.Attribute) and node.attr in {"min", "max"} and isinstance(node.value, ast.Call)
        return Tensor("float") if is_limit and "finfo" in ast.unparse(node) else None
    kind = "bool" if isinstance(number, bool) else "int" if isinstance(number, int) else "float"
    return Tensor(kind, told(number))


def told(number: float) -> frozenset[str] | None:
    """The number as a set of values; None if it is none of those that are told apart."""
    return {0.0: frozenset([ZEROS]), 1.0: frozenset([ONES]), float("-inf"): frozenset([INFINITE])}.get(float(number))


def joined(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    """The values of the one or the other; None if either may hold others."""
    return None if first is None or second is None else first | second


def either(tensors: list[Tensor | None]) -> Tensor | None:
    """What is known of the one or the other; None if they differ in kind."""
    real = [tensor for tensor in tensors if tensor is not None and tensor.kind]
    if len(real) + sum(tensor == NONE for tensor in tensors) != len(tensors) or not tensors:
        return None
    if not real:
        return NONE
    first = real[0]
    if any(tensor.kind != first.kind for tensor in real):
        return None
    values = first.values if all(tensor.values == first.values for tensor in real) else None
    marks = first.marks if all(tensor.marks == first.marks for tensor in real) else ""
    optional = len(real) < len(tensors) or any(tensor.optional for tensor in real)
    return Tensor(first.kind, values, marks, optional)


def kept(tensor: Tensor | None, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Tensor | None:
    """The tensor after a method that keeps its dtype; cut to a triangle, it holds zeros too."""
    if tensor is None or name not in {"triu", "tril"}:
        return tensor
    given = [keyword.value for keyword in keywords if keyword.arg == "diagonal"] + arguments
    diagonal = literal(given[0]) if given else 0
    marks = ""
    if tensor.values == frozenset([ONES]):
        if name == "triu" and diagonal == 1:
            marks = "blocked"
        elif name == "tril" and diagonal == 0:
            marks = "allowed"
    return replace(tensor, values=joined(tensor.values, frozenset([ZEROS])), marks=marks)


def refilled(tensor: Tensor | None, value: ast.expr) -> Tensor | None:
    """The tensor after ``masked_fill``, which keeps its dtype."""
    filler = filled(value)
    more = filler.values if filler is not None else None
    if tensor is None or tensor.optional:
        return None
    if tensor.is_binary and more == frozenset([INFINITE]):  # zeros or ones are replaced: the other of the two stays
        return Tensor(tensor.kind, frozenset([ZEROS, ONES, INFINITE]))
    if tensor.values == BINARY | {INFINITE} and more == frozenset(
        [ZEROS]
    ):  # ... and here it goes, as everyone writes it
        return Tensor(tensor.kind, BLOCKING)
    return replace(tensor, values=joined(tensor.values, more), marks="")


def written_out(node: ast.Call) -> Tensor | None:
    """``torch.tensor`` of nested lists of numbers of one kind."""
    if node.keywords or len(node.args) != 1 or not isinstance(node.args[0], (ast.List, ast.Tuple)):
        return None
    waiting: list[ast.expr] = [node.args[0]]
    found: list[Tensor] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.List, ast.Tuple)):
            waiting += part.elts
            continue
        one = filled(part)
        if one is None:
            return None
        found.append(one)
    values: frozenset[str] | None = frozenset()
    for one in found:
        values = joined(values, one.values)
    kinds = {one.kind for one in found}
    return Tensor(kinds.pop(), values) if len(kinds) == 1 else None
