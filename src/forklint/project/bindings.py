"""Which value a name has where it is read, as far as one assignment can be told from the others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import pairwise

from forklint.project.module import Module
from forklint.project.nodes import end_of, nodes_below, start_of
from forklint.project.scopes import FUNCTIONS, Binding, Scope, bodies
from forklint.project.spelling import last_name

BINDING_BLOCKS = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)
"""Statements that bind names for their bodies."""
SUPPRESSING = frozenset({"suppress", "raises", "assertRaises"})
"""What is called after ``with`` to have an exception end the block, and the program go on."""


def values_of(module: Module, scope: Scope, name: ast.Name) -> Iterator[tuple[Scope, ast.expr]]:
    """Give the values that a name may have been assigned where it is read, each with its scope; the last first."""
    found = reaching(module, scope, name)
    for binding in reversed(found[1] if found is not None else ()):
        value = value_of(binding)
        if value is not None and found is not None:
            yield found[0], value


def reaching(module: Module, scope: Scope, name: ast.Name) -> tuple[Scope, list[Binding]] | None:
    """The bindings that a name may have where it is read, and their scope; None for a name that no scope binds.

    Of those of its own scope: none that the way there surely replaces, nor one that comes later, but round a loop that
    does not begin with another, nor one of a branch that is not taken where the name is read: ``if packed: ...`` and,
    further on, ``if packed: ...``.
    """
    found = None if is_shadowed(module, name) else scope.find(name.id)
    if found is None or found[0] is not scope or len(found[1]) == 1:
        return found
    chain = _chain(module, name)
    binding_it = {module.statement_of(one.node) for one in found[1] if not isinstance(one.node, ast.arg)}
    loops: list[ast.stmt] = [node for node in chain if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    before: list[Binding] = []
    sure: list[ast.AST] = []
    for binding in sorted(found[1], key=lambda one: start_of(one.node)):
        if isinstance(binding.node, ast.arg):
            before.append(binding)
            continue
        statement = module.statement_of(binding.node)
        if _contradicts(module, scope, statement, chain) or _leaves(module, statement, chain):
            continue
        if isinstance(statement, BINDING_BLOCKS) and any(node in statement.body for node in chain):
            before = [binding]
            sure.append(statement)
            continue
        is_later = statement in chain or start_of(binding.node) > start_of(name)
        if is_later or _is_in_another_branch(module, statement, chain):
            before += [binding] if _comes_round(module, statement, loops, sure) else []
            continue
        around = next((one for one in _chain(module, statement) if _is_on_the_way(module, one, chain)), None)
        if around is not None and _surely_binds(around, binding_it):
            before = [one for one in before if start_of(one.node) >= start_of(around)]
            sure += [around] if not isinstance(around, (ast.For, ast.AsyncFor)) else []
        before.append(binding)
    return scope, before


def _comes_round(module: Module, statement: ast.stmt, loops: list[ast.stmt], sure: list[ast.AST]) -> bool:
    """Whether a binding lasts until the next turn of one of some loops, which are given from the inside.

    It does not if one of those that surely come before the place stands in the innermost loop around both.
    """
    around = next((loop for loop in loops if loop in module.above(statement)), None)
    return around is not None and not any(one is around or around in module.above(one) for one in sure)


def _leaves(module: Module, statement: ast.stmt, chain: list[ast.AST]) -> bool:
    """Whether a statement stands in a branch that ends the function, and a place does not."""
    block = block_of(module, statement)
    return isinstance(block[-1], (ast.Return, ast.Raise)) and not any(node in block for node in chain)


def _surely_binds(statement: ast.AST, binding: Collection[ast.stmt]) -> bool:
    """Whether a statement is one of some, or an ``if`` each branch of which comes to one of them or leaves."""
    if isinstance(statement, ast.If):
        blocks = (statement.body, statement.orelse)
        return all(
            block
            and (isinstance(block[-1], (ast.Return, ast.Raise)) or any(_surely_binds(one, binding) for one in block))
            for block in blocks
        )
    return statement in binding


def _contradicts(module: Module, scope: Scope, statement: ast.stmt, chain: list[ast.AST]) -> bool:
    """Whether a statement and a place stand in opposite branches of two ``if`` that ask the same of the same names."""
    there = dict(_branches([statement, *module.above(statement)]))
    return any(there.get(test, taken) is not taken and _is_set_once(scope, test) for test, taken in _branches(chain))


def _is_in_another_branch(module: Module, statement: ast.stmt, chain: list[ast.AST]) -> bool:
    """Whether an ``if`` around a place has a statement in the branch that the place is not in."""
    inside = {node: inner for inner, node in pairwise(chain) if isinstance(node, ast.If) and inner is not node.test}
    there = pairwise([statement, *module.above(statement)])
    return any(node in inside and (inner in node.body) is not (inside[node] in node.body) for inner, node in there)


def _branches(chain: list[ast.AST]) -> Iterator[tuple[str, bool]]:
    """Give the name that each ``if`` around a place asks, and whether the place is where it is true."""
    for inner, node in pairwise(chain):
        if isinstance(node, ast.If) and inner is not node.test:
            test, taken = node.test, inner in node.body
            while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, taken = test.operand, not taken
            if isinstance(test, ast.Name):
                yield test.id, taken


def _is_set_once(scope: Scope, name: str) -> bool:
    """Whether nothing gives a name another value between two places: it is bound once, or a parameter alone."""
    found = scope.find(name)
    return found is not None and len(found[1]) == 1


def _is_on_the_way(module: Module, statement: ast.AST, chain: list[ast.AST]) -> bool:
    """Whether a statement stands in a block that goes on to a place below it, the body of ``with`` taken for a part."""
    if not isinstance(statement, ast.stmt):
        return False
    above = module.parents[statement]
    if isinstance(above, (ast.With, ast.AsyncWith)) and not any(map(_may_suppress, above.items)):
        goes_on = _is_on_the_way(module, above, chain)
    else:
        goes_on = False
    return goes_on or any(node in block_of(module, statement) for node in chain)


def _may_suppress(item: ast.withitem) -> bool:
    """Whether what stands after ``with`` may end the block early without ending the function."""
    opened = item.context_expr
    return isinstance(opened, ast.Call) and last_name(opened.func) in SUPPRESSING


def block_of(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement stands in."""
    above = module.parents[statement]
    body = next((block for block in bodies(above) if statement in block), []) if isinstance(above, ast.stmt) else []
    return body or getattr(above, "body", [])


def is_shadowed(module: Module, node: ast.Name) -> bool:
    """Whether a name is a parameter of a lambda around it, or a variable of a comprehension."""
    return binder_of(module, node) is not None


def binder_of(module: Module, node: ast.Name) -> ast.AST | None:
    """The lambda or comprehension around a name that binds it; None if a scope does."""
    for above in module.above(node):
        if isinstance(above, ast.Lambda):
            arguments = above.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            if any(one is not None and one.arg == node.id for one in named):
                return above
        elif isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            targets = (part for one in above.generators for part in nodes_below(one.target))
            if any(isinstance(part, ast.Name) and part.id == node.id for part in targets):
                return above
        elif isinstance(above, ast.stmt):
            return None
    return None


def is_sorted_out(module: Module, value: ast.expr) -> bool:
    """Whether what a name may be is told apart above it: ``if isinstance(dataset, Own): return dataset``.

    What a function gives of several kinds is then not what is seen first in it.
    """
    if not isinstance(value, ast.Name):
        return False
    around = next((node for node in module.above(value) if isinstance(node, FUNCTIONS)), module.tree)
    return any(
        isinstance(node, ast.If)
        and end_of(node.test) < start_of(value)
        and isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue))
        and any(_is_instance_of(part, value.id) for part in nodes_below(node.test))
        for node in nodes_below(around)
    )


def _is_instance_of(node: ast.AST, name: str) -> bool:
    asked = node.args[0] if isinstance(node, ast.Call) and node.args else None
    is_test = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    return is_test and isinstance(asked, ast.Name) and asked.id == name


def value_of(binding: Binding) -> ast.expr | None:
    """The expression whose value, or a part of it, a binding gives a name; None for another kind of binding."""
    node = binding.node
    if binding.value is not None:
        return binding.value
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return node.value if any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets) else None
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == binding.name:
                return item.context_expr
    return None


def _chain(module: Module, node: ast.AST) -> list[ast.AST]:
    return [node, *module.above(node)]
