"""What the tasks of one thread pool write or read together: an array in a file, or an open handle."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge.threads import threads
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import argument, hides_arguments, last_name
from forklint.records import dataclass
from forklint.rules.threads_share_memmap.pools import Tasks, tasks_in
from forklint.values.evaluator import Evaluator
from forklint.values.model import Arguments, Expression, Frame, Instance
from forklint.values.origins import origins

MOVES = {"seek"}
TRANSFERS = {"read", "readline", "readinto", "write", "writelines"}
LOCKED = {"acquire"}
LOCKING = ("lock", "synchron", "serial", "exclusive")
"""Parts of the names of decorators that let one thread in at a time."""


@dataclass(frozen=True)
class Sharing:
    """A thing that several threads use at a time."""

    tasks: Tasks
    kind: str
    """``memmap``: written by rows; ``offset``: sought and then read or written; ``text``: written to."""
    name: str
    use: ast.AST
    made: ast.AST


def sharings(project: Project, module: Module) -> Iterator[Sharing]:
    """Find them in a module: at most one for each call that hands out tasks and each thing."""
    for tasks in tasks_in(project, module):
        locked = _acquires(tasks.function) or _is_locked_around(project, module, tasks.function)
        seen: set[str] = set()
        for thing, use, kind in _uses(tasks.function) if not locked else ():
            name = dotted(thing)
            if not name or name in seen or _is_locked(module, use, tasks.function):
                continue
            made = _made(project, tasks, thing)
            found = _kind(project, module, made, kind) if made is not None else ""
            if made is not None and found:
                seen.add(name)
                yield Sharing(tasks, found, name, use, made)


def _acquires(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr in LOCKED for inner in nodes_below(node))


def _is_locked_around(project: Project, module: Module, function: Function | ast.Lambda) -> bool:
    """Whether a decorator may hold a lock while the task runs, by its name or by a ``with`` in the project."""
    for mark in getattr(function, "decorator_list", ()):
        called = mark.func if isinstance(mark, ast.Call) else mark
        if any(word in last_name(called).lower() for word in LOCKING):
            return True
        symbol = project.resolve(module, module.scope_of[function].parent or module.scope, called)
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            holds = any(isinstance(node, (ast.With, ast.AsyncWith)) for node in nodes_below(symbol.node))
            if holds or _acquires(symbol.node):
                return True
    return False


def _uses(function: Function | ast.Lambda) -> Iterator[tuple[ast.expr, ast.AST, str]]:
    """Names (``self.x`` too) that a task writes into, or whose file it moves in or writes to."""
    sought: set[str] = set()
    for node in sorted(
        nodes_below(function), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    ):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript):
                    yield _root(target), node, "array"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, method = node.func.value, node.func.attr
            if method == "copyto" and node.args and isinstance(node.args[0], ast.Subscript):
                yield _root(node.args[0]), node, "array"
            elif method in MOVES:
                sought.add(dotted(owner))
            elif method in TRANSFERS and dotted(owner) in sought:
                yield owner, node, "offset"
            elif method in {"write", "writelines"}:
                yield owner, node, "write"
        if isinstance(node, ast.Call):
            yield from _handed_on(node, sought)


def _handed_on(call: ast.Call, sought: set[str]) -> Iterator[tuple[ast.expr, ast.AST, str]]:
    """What a call is given that it writes into, or reads from where it stands."""
    known, name = threads(), last_name(call.func)
    for keyword in call.keywords:
        if keyword.arg == "out" and isinstance(keyword.value, ast.Subscript):
            yield _root(keyword.value), call, "array"
        elif keyword.arg == "file" and name == "print":
            yield keyword.value, call, "write"
    for places, kind in ((known.reads, "offset"), (known.writes, "write")):
        place = places.get(name)
        handle = call.args[place] if place is not None and place < len(call.args) else None
        if handle is not None and (kind == "write" or dotted(handle) in sought):
            yield handle, call, kind


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def dotted(node: ast.expr) -> str:
    """``x`` or ``self.x``; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return f"self.{node.attr}" if plain and isinstance(node, ast.Attribute) else ""


def _is_locked(module: Module, use: ast.AST, function: ast.AST) -> bool:
    """Whether the use stands under a ``with`` of the task, which may be a lock."""
    for above in module.above(use):
        if above is function:
            return False
        if isinstance(above, (ast.With, ast.AsyncWith)):
            return True
    return False


def _made(project: Project, tasks: Tasks, thing: ast.expr) -> ast.Call | None:
    """The call that gave the thing, if it is made outside the task, at one place of the module."""
    module, function = tasks.module, tasks.function
    frame = None
    if isinstance(function, FUNCTIONS):
        given = {name: Expression(module, module.scope_at(tasks.call), node) for name, node in tasks.given.items()}
        receiver = Instance(tasks.owner) if tasks.owner is not None else None
        frame = Frame(FunctionFacts(module, function), Arguments(keywords=given, open=True), receiver)
    place = Expression(module, module.scope_at(thing), thing, frame)
    found = [one for one in origins(Evaluator(project), place) if not isinstance(one.node, ast.Constant)]
    made = found[0] if len(found) == 1 and found[0].module is module else None
    is_outside = made is not None and function not in module.above(made.node)
    return made.node if is_outside and made is not None and isinstance(made.node, ast.Call) else None


def _kind(project: Project, module: Module, made: ast.Call, use: str) -> str:
    """What kind of sharing this use of what was made is; empty if none."""
    scope = module.scope_at(made)
    if hides_arguments(made):  # the mode may be among them
        return ""
    if use == "array":
        row = threads().maps.get(project.qualified(module, scope, made.func))
        if row is None:
            return ""
        mode = argument(made, row.mode, row.position)
        text = row.default if mode is None else mode.value if isinstance(mode, ast.Constant) else ""
        return "memmap" if text in {"r+", "w+", "readwrite", "write"} else ""
    is_path = isinstance(made.func, ast.Attribute) and made.func.attr == "open" and _is_path(project, module, made.func)
    is_open = isinstance(made.func, ast.Name) and made.func.id == "open" and scope.find("open") is None
    if not is_path and not is_open:
        return ""
    mode = argument(made, "mode", 0 if is_path else 1)
    if mode is not None and not isinstance(mode, ast.Constant):
        return ""
    text = str(mode.value) if isinstance(mode, ast.Constant) else "r"
    if use == "offset":
        return "offset"
    return "text" if "b" not in text else ""


def _is_path(project: Project, module: Module, func: ast.Attribute) -> bool:
    """Whether a method is one of a ``Path`` that is made in the same expression."""
    made = func.value
    return isinstance(made, ast.Call) and project.qualified(module, module.scope_at(made), made.func) == "pathlib.Path"
