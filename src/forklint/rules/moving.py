"""The fix of FKL101: a statement that sets variables moves above what made them late."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from forklint.project import execution
from forklint.project.scopes import FUNCTIONS, Binding, Kind, bodies, statements
from forklint.rules import cst
from forklint.rules.tree import Tree

if TYPE_CHECKING:
    from forklint.project.module import Module

PURE_CALLS = frozenset({"str", "int", "float", "bool", "len", "min", "max", "abs", "round", "repr", "dict", "os", "multiprocessing"})
"""Builtins, and modules whose functions only look at the machine: calling them earlier gives the same."""


@dataclass(frozen=True)
class Move:
    """A statement, the one it goes above, and the imports that go with it."""

    unit: ast.stmt
    above: ast.stmt
    imports: tuple[Binding, ...]
    pure: bool
    """Whether what it evaluates is the same at its new place, for certain."""
    top_level: bool
    """Whether it is a simple statement of the module's own body."""


def plan(module: Module, statement: ast.stmt, cause: ast.stmt, variables: Sequence[str]) -> Move | None:
    """Work out how a statement can move above another that runs before it; None if it cannot."""
    siblings = _siblings(module, statement, cause)
    if siblings is None:
        return None
    unit, above, block = siblings
    if unit is not statement and not _is_pure_block(unit, statement):
        if not _is_main_guard(module.parents.get(statement)) or module.parents[statement] is not unit:
            return None
        unit = statement
    imports = _imports_needed(module, unit, above, block)
    if imports is None:
        return None
    between = [s for s in block[block.index(above) :] if s.lineno < unit.lineno]
    pure = _is_pure(unit) and not any(_mentions(s, variables) for s in between)
    return Move(unit, above, tuple(imports), pure, unit is statement and module.tree.body is block and unit in block)


def _siblings(module: Module, statement: ast.stmt, cause: ast.stmt) -> tuple[ast.stmt, ast.stmt, list[ast.stmt]] | None:
    """The statements around two others that stand in one block, and that block; functions are not left."""
    causes = [cause, *execution.ancestors(module, cause)]
    unit: ast.AST = statement
    while isinstance(unit, ast.stmt) and not isinstance(unit, (*FUNCTIONS, ast.ClassDef)):
        above = module.parents[unit]
        for block in _blocks(above):
            shared = [other for other in causes if other in block]
            if unit in block and shared:
                other = cast("ast.stmt", shared[0])
                return (unit, other, block) if block.index(other) < block.index(unit) else None
        unit = above
    return None


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
        return [node.body]
    if isinstance(node, ast.ExceptHandler):
        return [node.body]
    return list(bodies(node)) if isinstance(node, ast.stmt) else []


def _is_pure_block(unit: ast.stmt, statement: ast.stmt) -> bool:
    """Whether a compound statement does nothing but set variables, as far as its shape shows."""
    if not isinstance(unit, (ast.If, ast.For)) or unit.orelse or _is_main_guard(unit):
        return False
    return all(type(inner) is type(statement) for inner in statements(unit.body))


def _is_main_guard(node: ast.AST | None) -> bool:
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


def _imports_needed(module: Module, unit: ast.stmt, above: ast.stmt, block: list[ast.stmt]) -> list[Binding] | None:
    """Imports that must move along; None if a name would not be bound yet at the new place."""
    own = {n.id for n in ast.walk(unit) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id: None for n in ast.walk(unit) if isinstance(n, ast.Name) and n.id not in own}
    scope = module.scope_at(above)
    needed = []
    for name in used:
        found = scope.find(name)
        if found is None or found[0] is not scope:
            continue
        late = [b for b in found[1] if b.kind is not Kind.PARAMETER and getattr(b.node, "lineno", 0) >= above.lineno]
        if not late:
            continue
        earlier = len(late) < len(found[1])
        if earlier and all(b.kind is Kind.IMPORT for b in found[1]):
            continue
        movable = [b for b in late if b.node in block and _is_standard(b)]
        if earlier or not movable or any(b.kind is not Kind.IMPORT for b in late):
            return None
        needed.append(movable[0])
    return needed


def _is_standard(binding: Binding) -> bool:
    return not binding.level and binding.module.partition(".")[0] in sys.stdlib_module_names


def _is_pure(unit: ast.stmt) -> bool:
    """Whether a statement depends on nothing but literals, names and the machine."""
    own = (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.NamedExpr, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
    for node in ast.walk(unit):
        if isinstance(node, own):
            return False
        if isinstance(node, ast.Call) and not _is_pure_call(node):
            return False
    return True


def _is_pure_call(call: ast.Call) -> bool:
    root: ast.AST = call.func
    if isinstance(root, ast.Attribute) and root.attr in {"update", "setdefault", "get"}:
        return True
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and (root.id in PURE_CALLS or root.id in {"putenv", "getenv", "cpu_count"})


def _mentions(statement: ast.stmt, variables: Sequence[str]) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in variables for node in ast.walk(statement))


def apply(move: Move, module: Module, tree: Tree, settings: frozenset[ast.stmt]) -> Tree | None:
    """Make the move; None where several statements share a line. ``settings`` are all that set variables."""
    node = {s: tree.statements[n] for s, n in module.ordinals.items() if s in {move.unit, move.above, *_nodes(move)}}
    home, target = tree.block_of(node[move.unit]), tree.block_of(node[move.above])
    line, above = tree.line_of(node[move.unit]), tree.line_of(node[move.above])
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) != 1:
        return None
    body = list(cast("Any", target).body)
    carried = [_carry(tree, body, node[b.node], b) for b in move.imports]
    if any(one is None for one in carried):
        return None
    rest, own = _own_comments(cast("Any", line).leading_lines)
    spaced = isinstance(target, cst.Module)
    if home is target:
        _take(body, line, rest)
    else:
        guard = next(one for one in body if home in (getattr(one, "body", None),))
        body[body.index(guard)] = guard.with_changes(body=_without(home, line, rest))
    joins = {tree.line_of(tree.statements[module.ordinals[s]]) for s in settings}
    _put(body, above, carried, _led(line, own), joins if isinstance(target, cst.Module) else None)
    if isinstance(target, cst.Module):
        return Tree(target.with_changes(body=body, footer=_footer(target.footer, rest, line, target.body)))
    return tree.replace(target, cast("Any", target).with_changes(body=body))


def _put(body: list[Any], above: Any, imports: list[Any], line: Any, joins: set[Any] | None) -> None:
    """Put lines above another: in a module's body parted by blank lines, unless they join others of their kind.

    ``joins`` are the lines that set variables; None inside a function, where no blank lines are added.
    """
    index = body.index(above)
    previous = body[index - 1] if index else None
    blank = cst.EmptyLine(indent=False)
    is_commented = any(one.comment is not None for one in above.leading_lines)
    new = [*imports, line]
    if joins is None:
        if not is_commented:
            new[0] = _led(new[0], [*above.leading_lines, *new[0].leading_lines])
            body[index] = _led(above, [])
    else:
        if imports:
            new[-1] = _led(line, [blank, *line.leading_lines])
        if previous is not None and (imports or previous not in joins):
            new[0] = _led(new[0], [blank, *new[0].leading_lines])
        if not is_commented:
            body[index] = _led(above, [blank])
    body[index:index] = new


def _nodes(move: Move) -> Iterator[ast.stmt]:
    return (cast("ast.stmt", binding.node) for binding in move.imports)


def _led(line: Any, lines: Sequence[Any]) -> Any:
    return line.with_changes(leading_lines=list(lines))


def _own_comments(leading: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Cut the lines above a statement into those that stay and the comment that belongs to it."""
    cut = len(leading)
    while cut and leading[cut - 1].comment is not None:
        cut -= 1
    return list(leading[:cut]), list(leading[cut:])


def _take(body: list[Any], line: Any, rest: list[Any]) -> None:
    """Take a line out of a block; blank lines and foreign comments above it stay with the next one."""
    index = body.index(line)
    del body[index]
    if index < len(body):
        own = list(body[index].leading_lines)
        only_blank = all(one.comment is None for one in rest)
        if not (only_blank and own and own[0].comment is None):
            body[index] = _led(body[index], [*rest, *own])


def _footer(footer: Sequence[Any], rest: list[Any], line: Any, body: Sequence[Any]) -> list[Any]:
    is_last = bool(body) and body[-1] is line
    return [*rest, *footer] if is_last and any(one.comment is not None for one in rest) else list(footer)


def _without(block: Any, line: Any, rest: list[Any]) -> Any:
    body = list(block.body)
    _take(body, line, rest)
    return block.with_changes(body=body or [cst.SimpleStatementLine([cst.Pass()])])


def _carry(tree: Tree, body: list[Any], small: Any, binding: Binding) -> Any | None:
    """Take one name out of an import, or the whole of it, and give the line that imports it."""
    line: Any = tree.line_of(small)
    if line not in body or len(line.body) != 1:
        return None
    if len(small.names) == 1:
        _take(body, line, list(line.leading_lines))
        return _led(line, [])
    alias = next(one for one in small.names if _bound(one) == binding.name)
    others = [one for one in small.names if one is not alias]
    others[-1] = others[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    body[body.index(line)] = line.with_changes(body=[small.with_changes(names=others)])
    alone = small.with_changes(names=[alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    if isinstance(small, cst.ImportFrom):
        alone = alone.with_changes(lpar=None, rpar=None)
    return cst.SimpleStatementLine([alone])


def _bound(alias: Any) -> str:
    """The name that an alias of an import binds."""
    if alias.asname is not None:
        return str(alias.asname.name.value)
    name = alias.name
    while isinstance(name, cst.Attribute):
        name = name.value
    return str(name.value)
