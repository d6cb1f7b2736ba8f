"""The fix of FKL101: a statement that sets variables moves above what made them late."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree
from forklint.environment.late import Late
from forklint.environment.purity import holds_above, is_constant, is_pure
from forklint.environment.settings import magic_variable, settings_in
from forklint.model import Applicability
from forklint.project.guard import asks_for_name
from forklint.project.scopes import FUNCTIONS, Binding, Kind, bodies, statements
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module


def proposals(project: Project, late: Sequence[Late], module: Module, tree: Tree) -> Iterator[Proposal]:
    """Move the statement above what made it late; where that cannot be done safely, say what else helps."""
    elsewhere = [one.event.chain[0].module for one in late if one.event is not None]
    if any(home is not module for home in elsewhere):
        names = listed([one.setting.name for one in late])
        yield Proposal(f"set {names} at the top of the program, before that", Applicability.DISPLAY)
        return
    moved = _moved(project, late, module, tree)
    if moved is not None:
        yield moved
    if moved is None or moved.applicability is not Applicability.SAFE:
        yield from _words(late)


def _moved(project: Project, late: Sequence[Late], module: Module, tree: Tree) -> Proposal | None:
    statement = late[0].setting.statement
    names = [one.setting.name for one in late]
    can_break = any(one.row.can_break for one in late)
    settings = frozenset(setting.statement for setting in settings_in(project, module))
    for cause in _causes(late, module):
        move = plan(project, module, statement, cause, names)
        moved = apply(move, module, tree, settings) if move is not None else None
        if move is not None and moved is not None:
            safe = move.pure and move.top_level and not can_break
            above = ast.unparse(move.above).partition("\n")[0]
            words = f"set {listed(names)} above `{above}` on {module.line_named(move.above)}"
            return Proposal(words, Applicability.SAFE if safe else Applicability.UNSAFE, moved)
    return None


def _causes(late: Sequence[Late], module: Module) -> list[ast.stmt]:
    """The statements to move above, the best first.

    Above the first import that loads anything with a variable to read, so that settings stay together;
    else above the one that loads the reader.
    """
    own = [one.event for one in late if one.event is not None]
    events = own
    if own and all(event.loaded for event in own):
        before = next(one.events for one in late if one.event is not None)
        events = [event for event in before if event.loaded] + own
    nodes = [module.statement_of(event.chain[0].node) for event in (*events[:1], *own[:1])]
    return list(dict.fromkeys(nodes))


def _words(late: Sequence[Late]) -> Iterator[Proposal]:
    if any(one.event is None for one in late):
        names = listed([one.setting.name for one in late])
        yield Proposal(f"set {names} in the shell or job that starts Python", Applicability.DISPLAY)
    for one in late:
        if one.row.threads and one.event is not None and "torch" in one.event.loaded:
            call = f"torch.set_num_threads({_number(one.setting.value)})"
            yield Proposal(f"call `{call}`, which also works after torch is imported", Applicability.DISPLAY)
            return


def _number(value: ast.expr | None) -> str:
    """The number that a value names, as source: without the quotes or the ``str()`` that the environment needs."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "str" and value.args:
        return ast.unparse(value.args[0])
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.isdigit()
    return str(value.value) if is_text and isinstance(value, ast.Constant) else "n"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them."""
    quoted = [f"`{name}`" for name in dict.fromkeys(names)]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


@dataclass(frozen=True)
class Move:
    """A statement, the one it goes above, and the imports and constants that go with it."""

    unit: ast.stmt
    above: ast.stmt
    carried: tuple[Binding, ...]
    pure: bool
    """Whether what it evaluates is the same at its new place, for certain."""
    top_level: bool
    """Whether it is a simple statement of the module's own body."""


def plan(
    project: Project, module: Module, statement: ast.stmt, cause: ast.stmt, variables: Sequence[str]
) -> Move | None:
    """Work out how a statement can move above another that runs before it; None if it cannot."""
    siblings = _siblings(module, statement, cause)
    if siblings is None:
        return None
    unit, above, block = siblings
    if unit is not statement and not _is_pure_block(unit, statement):
        if not _is_main_guard(module.parents.get(statement)) or module.parents[statement] is not unit:
            return None
        unit = statement
    carried = _needed(project, module, unit, above, block)
    if carried is None:
        return None
    between = [s for s in block[block.index(above) :] if s.lineno < unit.lineno]
    moved = [unit, *(cast("ast.stmt", binding.node) for binding in carried if binding.value is not None)]
    pure = is_pure(project, module, unit) and not any(_mentions(s, variables) for s in between if s not in moved)
    pure = pure and holds_above(project, module, moved, between)
    top_level = unit is statement and unit in module.tree.body
    return Move(unit, above, tuple(sorted(carried, key=_row)), pure, top_level)


def _siblings(module: Module, statement: ast.stmt, cause: ast.stmt) -> tuple[ast.stmt, ast.stmt, list[ast.stmt]] | None:
    """The statements around two others that stand in one block, and that block; functions are not left."""
    causes = [cause, *module.above(cause)]
    unit: ast.AST = statement
    while isinstance(unit, ast.stmt) and not isinstance(unit, (*FUNCTIONS, ast.ClassDef)):
        above = module.parents[unit]
        for block in _blocks(above):
            shared = [other for other in causes if other in block]
            if unit in block and shared:
                other = shared[0]
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
    return isinstance(node, ast.If) and asks_for_name(node.test)


def _needed(
    project: Project, module: Module, unit: ast.stmt, above: ast.stmt, block: list[ast.stmt]
) -> list[Binding] | None:
    """Imports and constants that must move along; None if a name would not be bound yet at the new place."""
    own = {n.id for n in ast.walk(unit) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {n.id: None for n in ast.walk(unit) if isinstance(n, ast.Name) and n.id not in own}
    scope = module.scope_at(above)
    needed: list[Binding] = []
    for name in used:
        found = scope.find(name)
        if found is None and _may_be_of_star(name, above, block):
            return None
        if found is None or found[0] is not scope:
            continue
        late = [b for b in found[1] if b.kind is not Kind.PARAMETER and getattr(b.node, "lineno", 0) >= above.lineno]
        if not late or (len(late) < len(found[1]) and all(b.kind is Kind.IMPORT for b in found[1])):
            continue
        movable = [
            b
            for b in late
            if b.node in block and (_is_standard(b) or is_constant(project, module, b.node, unit.lineno))
        ]
        is_rebound = len(late) > 1 and late[0].kind is not Kind.IMPORT
        if len(late) < len(found[1]) or not movable or is_rebound:
            return None
        node = cast("ast.stmt", movable[0].node)
        below = _needed(project, module, node, above, block) if movable[0].value else []
        if below is None:
            return None
        needed += [*below, movable[0]]
    return list(dict.fromkeys(needed))


def _may_be_of_star(name: str, above: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether ``from x import *`` that would come too late may bind a name that nothing else binds."""
    late = block[block.index(above) :]
    stars = [one for one in late if isinstance(one, ast.ImportFrom) and one.names[0].name == "*"]
    return bool(stars) and not hasattr(builtins, name)


def _is_standard(binding: Binding) -> bool:
    top = binding.module.partition(".")[0]
    return binding.kind is Kind.IMPORT and not binding.level and top in sys.stdlib_module_names


def _mentions(statement: ast.stmt, variables: Sequence[str]) -> bool:
    return any(
        node.value in variables
        if isinstance(node, ast.Constant)
        else isinstance(node, ast.Call) and (magic_variable(node) or ("",))[0] in variables
        for node in ast.walk(statement)
    )


@dataclass
class _Line:
    """A line of a block while the block is being rebuilt: a statement, and the comments and blank lines above it."""

    was: Any
    """The node as it was parsed; None for a new line."""
    node: Any
    leading: list[Any]

    @classmethod
    def of(cls, node: Any) -> _Line:
        return cls(node, node, list(node.leading_lines))

    def rebuilt(self) -> Any:
        return self.node.with_changes(leading_lines=self.leading)


def apply(move: Move, module: Module, tree: Tree, settings: frozenset[ast.stmt]) -> Tree | None:
    """Make the move; None where several statements share a line. ``settings`` are all that set variables."""

    def node_of(statement: ast.AST) -> Any:
        return tree.statements[module.ordinals[cast("ast.stmt", statement)]]

    home, target = tree.block_of(node_of(move.unit)), tree.block_of(node_of(move.above))
    line: Any = tree.line_of(node_of(move.unit))
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) != 1:
        return None
    body = [_Line.of(node) for node in cast("Any", target).body]
    carried = [_carry(tree, body, node_of(binding.node), binding) for binding in move.carried]
    if any(one is None for one in carried):
        return None
    if home is target:
        unit = _take(body, line)
    else:
        unit = _Line(None, line, _own_comments(list(line.leading_lines))[1])
        guard = next(one for one in body if getattr(one.was, "body", None) is home)
        guard.node = guard.node.with_changes(body=_without(home, line))
    joins = {tree.line_of(node_of(setting)) for setting in settings} if isinstance(target, cst.Module) else None
    _put(body, tree.line_of(node_of(move.above)), [*cast("list[_Line]", carried), unit], joins)
    new = [one.rebuilt() for one in body]
    if isinstance(target, cst.Module):
        return Tree(target.with_changes(body=new))
    return tree.replace(target, cast("Any", target).with_changes(body=new))


def _put(body: list[_Line], above: Any, new: list[_Line], joins: set[Any] | None) -> None:
    """Put lines above another: in a module's body parted by blank lines, unless they join others of their kind.

    ``joins`` are the lines that set variables; None inside a function, where no blank lines are added.
    """
    index = next(number for number, one in enumerate(body) if one.was is above)
    anchor, previous = body[index], body[index - 1] if index else None
    blank = cst.EmptyLine(indent=False)
    is_commented = any(one.comment is not None for one in anchor.leading)
    if joins is None:
        if not is_commented:
            new[0].leading[:0] = anchor.leading
            anchor.leading = []
    else:
        if len(new) > 1 and _is_import(new[-2].node):
            new[-1].leading.insert(0, blank)
        if previous is not None and (len(new) > 1 or previous.was not in joins):
            new[0].leading.insert(0, blank)
        if not is_commented:
            anchor.leading = anchor.leading or [blank]
    body[index:index] = new


def _own_comments(leading: list[Any]) -> tuple[list[Any], list[Any]]:
    """Cut the lines above a statement into those that stay and the comment that belongs to it."""
    cut = len(leading)
    while cut and leading[cut - 1].comment is not None:
        cut -= 1
    return leading[:cut], leading[cut:]


def _take(body: list[_Line], node: Any, *, commented: bool = True) -> _Line:
    """Take a line with its own comment out of a block; what else stands above it stays with the next one."""
    index = next(number for number, one in enumerate(body) if one.was is node)
    taken = body.pop(index)
    rest, own = _own_comments(taken.leading) if commented else (taken.leading, [])
    if index < len(body):
        following = body[index]
        has_blank = bool(following.leading) and following.leading[0].comment is None
        while has_blank and rest and rest[-1].comment is None:
            rest.pop()
        following.leading[:0] = rest
    elif any(one.comment is not None for one in rest):
        own = [*rest, *own]
    taken.leading = own
    return taken


def _without(block: Any, line: Any) -> Any:
    body = [_Line.of(node) for node in block.body]
    _take(body, line)
    new = [one.rebuilt() for one in body]
    return block.with_changes(body=new or [cst.SimpleStatementLine([cst.Pass()])])


def _carry(tree: Tree, body: list[_Line], small: Any, binding: Binding) -> _Line | None:
    """Take a constant, or one name of an import, from where it stands, and give the line to put elsewhere."""
    line: Any = tree.line_of(small)
    found = next((one for one in body if one.was is line), None)
    if found is None or len(line.body) != 1:
        return None
    small = found.node.body[0]  # as it is by now: another name may have left it
    if isinstance(small, cst.Assign) or len(small.names) == 1:
        return _take(body, line, commented=False)
    alias = next(one for one in small.names if _bound(one) == binding.name)
    others = [one for one in small.names if one is not alias]
    if alias is small.names[-1]:
        others[-1] = others[-1].with_changes(comma=alias.comma)
    found.node = found.node.with_changes(body=[small.with_changes(names=others)])
    alone = small.with_changes(names=[alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    if isinstance(small, cst.ImportFrom):
        alone = alone.with_changes(lpar=None, rpar=None)
    return _Line(None, cst.SimpleStatementLine([alone]), [])


def _is_import(line: Any) -> bool:
    return isinstance(line.body[0], (cst.Import, cst.ImportFrom))


def _row(binding: Binding) -> int:
    return getattr(binding.node, "lineno", 0)


def _bound(alias: Any) -> str:
    """The name that an alias of an import binds."""
    if alias.asname is not None:
        return str(alias.asname.name.value)
    name = alias.name
    while isinstance(name, cst.Attribute):
        name = name.value
    return str(name.value)
