"""Which classes of the project an expression may be, where a table, a condition or a function chooses one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts
from forklint.values.model import Expression, Found, Ref

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator


def choices(evaluator: Evaluator, source: Expression) -> tuple[ClassFacts, ...]:
    """The classes that an expression may be, as far as they are told; not what it is an object of."""
    symbol = evaluator.project.resolve(source.module, source.scope, source.node)
    if isinstance(symbol, ClassFacts):
        return (symbol,)
    found = [*evaluator.find(source).possible, *_by_other_keys(evaluator, source)]
    symbols = [one.value.symbol for one in found if isinstance(one.value, Ref)]
    return tuple(dict.fromkeys(one for one in symbols if isinstance(one, ClassFacts)))


def _by_other_keys(evaluator: Evaluator, source: Expression) -> list[Found]:
    """All that a table holds, where its key is an option's default: the user may choose any."""
    node = source.node
    if not isinstance(node, ast.Subscript) or not evaluator.find(source.part(node.slice)).by_default:
        return []
    table = evaluator.table(source.part(node.value))
    return [evaluator.find(one) for one in table.values] if table is not None else []
