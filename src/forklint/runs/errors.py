"""Which errors are caught around a place, of those that setting something a second time can raise."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from forklint.project.spelling import last_name

RAISED_AGAIN = "RuntimeError"
"""What ``set_start_method`` and ``set_num_interop_threads`` raise where that is set already."""
RAISED_UNKNOWN = "ValueError"
"""What ``set_start_method`` raises for a start method that the platform does not have."""


def caught_by(handler: ast.ExceptHandler) -> frozenset[str]:
    """The errors that a handler catches."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return _errors([last_name(kind) if kind is not None else "BaseException" for kind in kinds])


def suppressed(node: ast.With | ast.AsyncWith) -> frozenset[str]:
    """The errors that ``with contextlib.suppress(...)`` catches."""
    calls = (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call))
    return _errors([last_name(kind) for call in calls if last_name(call.func) == "suppress" for kind in call.args])


def _errors(names: Sequence[str]) -> frozenset[str]:
    """The errors that names of exceptions stand for, of those that setting something twice can raise."""
    every = not {"Exception", "BaseException"}.isdisjoint(names)
    return frozenset({RAISED_AGAIN, RAISED_UNKNOWN} if every else {RAISED_AGAIN, RAISED_UNKNOWN}.intersection(names))
