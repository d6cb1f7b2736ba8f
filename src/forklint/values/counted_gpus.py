"""Comparisons that ask whether a program is to use GPUs, by their numbers: ``len(opt.gpu_ids) > 0``, ``args.gpu >= 0``.

Only CUDA's are numbered, so that such a condition holds on no machine without it.
"""

from __future__ import annotations

import ast

from forklint.knowledge import presets
from forklint.project.spelling import is_name, last_name
from forklint.records import dataclass

FROM = (ast.Gt, ast.GtE, ast.NotEq)
BELOW = (ast.Lt, ast.LtE, ast.Eq)
"""The comparisons that hold with GPUs, and those that hold without."""
WITH_NEXT = (ast.Gt, ast.NotEq, ast.LtE, ast.Eq)
"""Those that leave the number out that they compare with: ``> 0`` begins with 1."""


@dataclass(frozen=True)
class GpuQuestion:
    """What a comparison asks."""

    exact: bool
    """Whether one GPU is enough for yes; else several are needed."""
    negated: bool
    """Whether it holds without."""


def asked(test: ast.Compare) -> GpuQuestion | None:
    """What a comparison of one number, or one count, of GPUs asks; None for any other."""
    operator, bound = test.ops[0], _number(test.comparators[0])
    if bound is None or not isinstance(operator, (*FROM, *BELOW)):
        return None
    subject, is_length = _subject(test.left)
    kind = presets.gpus_named(last_name(subject))
    least = bound + isinstance(operator, WITH_NEXT)
    if not kind or least < 0 or (isinstance(operator, (ast.Eq, ast.NotEq)) and bound > 0):
        return None
    exact = least == 0 or (least == 1 and (is_length or kind == "count"))
    return GpuQuestion(exact, isinstance(operator, BELOW))


def _subject(left: ast.expr) -> tuple[ast.expr, bool]:
    """What is compared, and whether its length is."""
    if isinstance(left, ast.Call) and is_name(left.func, "len") and len(left.args) == 1:
        return left.args[0], True
    return (left.value if isinstance(left, ast.Subscript) else left), False


def _number(value: ast.expr) -> int | None:
    sign = 1
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        sign, value = -1, value.operand
    is_number = isinstance(value, ast.Constant) and value.value.__class__ is int
    return sign * value.value if is_number else None  # type: ignore[attr-defined]
