"""Where the value of an expression comes from: the expressions that a name, an attribute or a call may stand for.

For questions about how a value is written, where what it holds is not enough: whether a mask is made by a comparison,
which call opens a file.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project import bindings
from forklint.project.index import Value
from forklint.project.module import FunctionFacts
from forklint.project.scopes import Kind
from forklint.values import arguments, branches, calls, objects, parameters
from forklint.values.model import Expression, Frame, Instance

if TYPE_CHECKING:
    from forklint.project.index import Symbol
    from forklint.project.scopes import Binding, Scope
    from forklint.values.evaluator import Evaluator

MAX_HOPS = 8


def origins(evaluator: Evaluator, source: Expression, hops: int = MAX_HOPS) -> tuple[Expression, ...]:
    """The expressions that one may have the value of; what cannot be followed further stands for itself."""
    nearer = behind(evaluator, source) if hops else ()
    found = (one for part in nearer for one in origins(evaluator, part, hops - 1))
    return tuple(dict.fromkeys(found)) if nearer else (source,)


def behind(evaluator: Evaluator, source: Expression, *, perhaps: bool = False) -> tuple[Expression, ...]:
    """The expressions that one stands for, one step further; none unless all are known, but those known if ``perhaps``.

    The last come first.
    """
    node = source.node
    if isinstance(node, (ast.Name, ast.Attribute)):
        follow = _name if isinstance(node, ast.Name) else _attribute
        found = follow(evaluator, source, node)  # type: ignore[arg-type]
        known = tuple(one for one in found if one is not None)
        return known if perhaps or len(known) == len(found) else ()
    if isinstance(node, ast.Call):
        return _call(evaluator, source, node)
    if isinstance(node, ast.IfExp):
        return source.part(node.body), source.part(node.orelse)
    return (source.part(node.value),) if isinstance(node, (ast.NamedExpr, ast.Await)) else ()


def _name(evaluator: Evaluator, source: Expression, node: ast.Name) -> list[Expression | None]:
    home, reaching = bindings.reaching(source.module, source.scope, node) or (source.scope, [])
    if any(one.kind is Kind.IMPORT for one in reaching):
        return [_of_symbol(evaluator.project.lookup(source.module, source.scope, node.id))]
    frame = source.frame if home is source.scope else None
    taken = branches.taken(evaluator, source, reaching) if home is source.scope else reaching
    found = (_bound(source, home, one, frame) for one in reversed(taken))
    return [_chosen(source, one) if one is not None and home is source.scope else one for one in found]


def _chosen(source: Expression, given: Expression) -> Expression:
    """The arm of ``a if test else b`` that a name holds where it is read under ``if`` with the same test."""
    choice = given.node
    if not isinstance(choice, ast.IfExp):
        return given
    test = ast.dump(choice.test)
    below: ast.AST = source.node
    for above in source.module.above(source.node):
        if isinstance(above, ast.If) and below is not above.test and ast.dump(above.test) == test:
            return given.part(choice.body if below in above.body else choice.orelse)
        below = above
    return given


def _bound(source: Expression, home: Scope, binding: Binding, frame: Frame | None) -> Expression | None:
    if binding.kind is Kind.PARAMETER and frame is not None:
        given = parameters.source_in(frame, binding.name) if home is frame.function.scope else None
        return given if isinstance(given, Expression) else None
    is_part = binding.value is None and isinstance(binding.node, ast.Assign)
    value = bindings.value_of(binding) if not is_part else None
    return Expression(source.module, home, value, frame) if value is not None else None


def _attribute(evaluator: Evaluator, source: Expression, node: ast.Attribute) -> list[Expression | None]:
    owner = evaluator.find(source.part(node.value)).value
    if not isinstance(owner, Instance):
        return [_of_symbol(evaluator.project.resolve(source.module, source.scope, node))]
    return objects.stores(evaluator, owner, node.attr) or []


def _of_symbol(symbol: Symbol | None) -> Expression | None:
    value = symbol.binding.value if isinstance(symbol, Value) else None
    return Expression(symbol.module, symbol.scope, value) if isinstance(symbol, Value) and value is not None else None


def _call(evaluator: Evaluator, source: Expression, node: ast.Call) -> tuple[Expression, ...]:
    """What a function of the project returns that is called."""
    symbol = evaluator.project.resolve(source.module, source.scope, node.func)
    receiver = None
    if symbol is None and isinstance(node.func, ast.Attribute):
        owner = evaluator.find(source.part(node.func.value)).value
        found = evaluator.project.method(owner.facts, node.func.attr) if isinstance(owner, Instance) else None
        if found is not None and isinstance(owner, Instance):
            symbol, receiver = FunctionFacts(found[0].module, found[1]), owner
    if not isinstance(symbol, FunctionFacts):
        return ()
    frame = Frame(symbol, arguments.of_call(evaluator, source), receiver, source.frame)
    return calls.returns(evaluator, frame)
