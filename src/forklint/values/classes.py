"""Which classes of the project an expression may be, where a table, a condition or a function chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts
from forklint.values.model import Expression, Ref

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator


def choices(evaluator: Evaluator, source: Expression) -> tuple[ClassFacts, ...]:
    """The classes that an expression may be, as far as they are told; not what it is an object of."""
    symbol = evaluator.project.resolve(source.module, source.scope, source.node)
    if isinstance(symbol, ClassFacts):
        return (symbol,)
    symbols = [one.value.symbol for one in evaluator.find(source).possible if isinstance(one.value, Ref)]
    return tuple(dict.fromkeys(one for one in symbols if isinstance(one, ClassFacts)))
