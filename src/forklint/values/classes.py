"""Which classes of the project an expression may be, where a table, a condition or a function chooses one.

And which classes of the project only let the entries of a dictionary be asked for as attributes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts
from forklint.values.model import Constant, Expression, Found, Ref

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator


ENTRIES_AS_ATTRIBUTES = frozenset({"__getattr__", "__setattr__", "__delattr__", "__dir__", "__repr__", "__doc__"})
"""What the body of such a class binds at most: ``class EasyDict(dict)``."""


def is_table(project: Project, facts: ClassFacts) -> bool:
    """Whether objects of a class are dictionaries whose entries can be asked for as attributes, and no more."""
    ancestry = project.ancestry(facts)
    is_dictionary = ancestry.complete and tuple(ancestry.external) == ("builtins.dict",)
    return is_dictionary and all(ENTRIES_AS_ATTRIBUTES.issuperset(one.scope.bindings) for one in ancestry.classes)


def choices(evaluator: Evaluator, source: Expression) -> tuple[ClassFacts, ...]:
    """The classes that an expression may be, as far as they are told; not what it is an object of."""
    symbol = evaluator.project.resolve(source.module, source.scope, source.node)
    if isinstance(symbol, ClassFacts):
        return (symbol,)
    found = [*evaluator.find(source).possible, *_by_other_keys(evaluator, source)]
    symbols = [one.value.symbol for one in found if isinstance(one.value, Ref)]
    return tuple(dict.fromkeys(one for one in symbols if isinstance(one, ClassFacts)))


def _by_other_keys(evaluator: Evaluator, source: Expression) -> list[Found]:
    """All that a table holds, where its key is unknown or an option's default: the user may choose any."""
    node = source.node
    key = evaluator.find(source.part(node.slice)) if isinstance(node, ast.Subscript) else None
    if key is None or not isinstance(node, ast.Subscript) or (isinstance(key.value, Constant) and not key.by_default):
        return []
    table = evaluator.table(source.part(node.value))
    return [evaluator.find(one) for one in table.values] if table is not None else []
