"""What leads to a finding: of a file's statements, those that need not run for the run to come there.

The finding's trace says which places the run must come to. From each of them, its data and control dependences are
followed within the module's top level and within the function that it stands in; imports, definitions and statements
that act on processes, environment, threads or the start method run in any case.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, bodies

Rows = tuple[int, int]
EFFECTS = frozenset(
    {
        "environ",
        "putenv",
        "set_start_method",
        "set_num_threads",
        "set_num_interop_threads",
        "set_sharing_strategy",
        "set_forkserver_preload",
        "get_context",
        "fork",
        "chdir",
        "path",
        "add_path",
        "reload",
        "Process",
        "Pool",
        "ProcessPoolExecutor",
        "Manager",
        "start_processes",
        "spawn",
    }
)
"""Names by which a statement acts on processes, environment, threads, the start method, or what can be imported."""
ALWAYS = (
    ast.Import,
    ast.ImportFrom,
    *FUNCTIONS,
    ast.ClassDef,
    ast.Global,
    ast.Nonlocal,
    ast.Pass,
    ast.Return,
    ast.Raise,
    ast.Break,
    ast.Continue,
)
ADDING = ("add", "create", "require", "setdefault")
"""Beginnings of methods that give a part of their object, which changes with it: ``parser.add_argument_group()``."""
LEAVING = frozenset({"exit", "_exit", "quit"})
Body = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def skipped(
    project: Project, points: Mapping[Path, Iterable[int]], program: Path | None, end: tuple[Path, int] | None = None
) -> dict[str, list[Rows]]:
    """By file, first and last rows of the statements that do not lead to any of some rows.

    The top level of ``program`` alone is cut: what another module binds, whoever imports it may read. ``end`` is the
    file and row where the run ends. A function that has returned by then also needs what leads to its return value.
    """
    bodies: list[tuple[Path, Module, Body, list[ast.stmt]]] = []
    for path, rows in points.items():
        module = project.module(path)
        if module is not None and not module.is_notebook:
            bodies += [(path, module, body, on) for body, on in _bodies(module, rows)]
    active = _active([(body, on) for _, _, body, on in bodies], _statement_at(project, end) if end else None)
    found: dict[str, set[Rows]] = {}
    for path, module, body, on in bodies:
        if isinstance(body, ast.Module) and path != program:
            continue
        returned = [] if isinstance(body, ast.Module) or end is None or body in active else _results(body, on)
        for one in _Slice(module, body, [*on, *returned]).spared():
            found.setdefault(str(path.resolve()), set()).add((one.lineno, one.end_lineno or one.lineno))
    return {path: sorted(rows) for path, rows in found.items()}


def _active(bodies: list[tuple[Body, list[ast.stmt]]], end: ast.stmt | None) -> set[Body]:
    """The bodies that are still running where the run ends, as far as the names of calls tell.

    Those that the last statement calls, and those whose own last statement calls one of them.
    """
    last = {body: max(on, key=lambda one: one.lineno) for body, on in bodies}
    active = {body for body, on in bodies if end in on}
    called = _called(end) if end is not None else set()
    changed = True
    while changed:
        names = {body.name for body in active if not isinstance(body, ast.Module)}
        below = {body for body in last if not isinstance(body, ast.Module) and body.name in called}
        above = {body for body, statement in last.items() if _called(statement) & names}
        changed = not (below | above) <= active
        active |= below | above
        called |= {name for body in below for name in _called(last[body])}
    return active


def _called(statement: ast.stmt) -> set[str]:
    """Last names of what the head of a statement calls."""
    calls = [node for part in _head(statement) for node in nodes_below(part) if isinstance(node, ast.Call)]
    return {str(getattr(call.func, "attr", getattr(call.func, "id", ""))) for call in calls}


def _results(body: ast.FunctionDef | ast.AsyncFunctionDef, wanted: list[ast.stmt]) -> list[ast.stmt]:
    """The statements by which a function hands on what it has made: it returns or yields it, or stores it elsewhere."""
    statements = list(_own_statements(body.body))
    first = min(one.lineno for one in wanted)
    shared = {name for one in statements if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    own = {name for one in statements for name in _bound(one)} - shared
    given = (
        {one.arg for one in nodes_below(body.args) if isinstance(one, ast.arg)}
        if not isinstance(body, ast.Module)
        else set()
    )
    found = []
    for one in statements:
        returns = isinstance(one, ast.Return) and one.value is not None and not isinstance(one.value, ast.Constant)
        yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for part in _head(one) for node in nodes_below(part))
        stores = one.lineno > first and any(name and name not in own for name in _changed(one))
        changes = one.lineno > first and any(_root(value) in given for value in _handed(one))
        if returns or yields or stores or changes:
            found.append(one)
    return found


def _handed(statement: ast.stmt) -> list[ast.expr]:
    """What a call that stands alone may change: its receiver, and its first argument."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return []
    call = statement.value
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        return []
    return [*([] if isinstance(call.func, ast.Name) else [call.func]), *call.args[:1]]


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds itself."""
    for part in _head(statement):
        for node in nodes_below(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _statement_at(project: Project, place: tuple[Path, int]) -> ast.stmt | None:
    """The innermost statement on a row of a file."""
    module = project.module(place[0])
    on_row = [one for one in _statements(module.tree) if _holds(module, one, place[1])] if module is not None else []
    return on_row[-1] if on_row else None


def statement_rows(project: Project, path: Path, row: int) -> Rows:
    """First and last row of the innermost statement on a row, of a compound one those of its head."""
    module = project.module(path)
    on_row = [one for one in _statements(module.tree) if _holds(module, one, row)] if module is not None else []
    return module.header_rows(on_row[-1]) if module is not None and on_row else (row, row)


def definition_around(project: Project, path: Path, row: int) -> str:
    """The qualified name of the function or class in which the innermost statement on a row stands."""
    module = project.module(path)
    on_row = [one for one in _statements(module.tree) if _holds(module, one, row)] if module is not None else []
    return module.qualname_at(on_row[-1]) if module is not None and on_row else ""


def _holds(module: Module, statement: ast.stmt, row: int) -> bool:
    first, last = module.header_rows(statement)
    return first <= row <= last


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, those in functions and classes included, outer ones first."""
    return (one for one in nodes_below(node) if isinstance(one, ast.stmt))


def _bodies(module: Module, rows: Iterable[int]) -> Iterator[tuple[Body, list[ast.stmt]]]:
    """Each body that holds some of the rows directly, with the statements on them."""
    within: dict[Body, list[ast.stmt]] = {}
    for row in rows:
        on_row = [one for one in _statements(module.tree) if _holds(module, one, row)]
        if not on_row:
            continue
        statement = on_row[-1]
        above = [statement, *module.above(statement)]
        home = next((one for one in above if isinstance(one, FUNCTIONS) and one is not statement), module.tree)
        if not any(isinstance(one, ast.ClassDef) for one in above[1 : above.index(home)]):
            within.setdefault(home, []).append(statement)
    yield from within.items()


class _Slice:
    """The part of one body that leads to some of its statements."""

    def __init__(self, module: Module, body: Body, wanted: list[ast.stmt]) -> None:
        self._module = module
        self._body = body
        self._statements = list(_own_statements(body.body))
        loops = (ast.For, ast.While, ast.AsyncFor)
        self._loops = [(one.lineno, one.end_lineno or 0) for one in self._statements if isinstance(one, loops)]
        self._last = max(one.end_lineno or one.lineno for one in wanted)
        self._wholes: dict[str, set[str]] = {}
        for part, whole in filter(None, map(_added, self._statements)):
            self._wholes.setdefault(part, set()).add(whole)
        self._needed: dict[str, int] = {}
        self._kept: set[ast.stmt] = set()
        for statement in wanted:
            self._keep(statement)

    def spared(self) -> Iterator[ast.stmt]:
        """The outermost statements that are not part of it."""
        changed = True
        while changed:
            changed = False
            for statement in self._statements:
                if statement not in self._kept and self._leads(statement):
                    self._keep(statement)
                    changed = True
        yield from self._unkept(self._body.body)

    def _unkept(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        for number, statement in enumerate(block):
            if number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ALWAYS):
                continue
            if statement in self._kept:
                for inner in _blocks(statement):
                    yield from self._unkept(inner)
            else:
                yield statement

    def _keep(self, statement: ast.stmt) -> None:
        above: ast.AST = statement
        while above is not self._body and above not in self._kept:
            if isinstance(above, ast.stmt):
                self._kept.add(above)
                self._need(_head(above), above.lineno)
            above = self._module.parents[above]

    def _need(self, nodes: Iterable[ast.AST], row: int) -> None:
        """Need on a row what some expressions read; of a function or class of this module also what its body reads."""
        row = max([row, *(end for begin, end in self._loops if begin <= row <= end)])
        waiting = list(nodes)
        while waiting:
            for node in nodes_below(waiting.pop()):
                is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                if not isinstance(node, ast.Name) or not is_read or self._needed.get(node.id, 0) >= row:
                    continue
                self._needed[node.id] = row
                waiting += self._definitions(node.id)

    def _definitions(self, name: str) -> list[ast.AST]:
        scope = self._module.scope if isinstance(self._body, ast.Module) else self._module.scope_of[self._body]
        found = scope.find(name)
        nodes = [binding.node for binding in found[1]] if found else []
        return [node for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))]

    def _leads(self, statement: ast.stmt) -> bool:
        if statement.lineno > self._last:
            return False
        if isinstance(statement, ast.If) and _leaves(statement):
            return True
        head = list(_head(statement))
        if not isinstance(statement, ALWAYS) and _acts(head):
            return True
        if any(self._is_needed_after(name, statement) for name in _changed(statement)):
            return True
        return any(self._is_needed_after(_root(value), statement) for value in _handed(statement))

    def _is_needed_after(self, name: str, statement: ast.stmt) -> bool:
        """Whether a name is read after a statement, or an object of which it is a part."""
        waiting, seen = [name], set[str]()
        while waiting:
            one = waiting.pop()
            if statement.lineno < self._needed.get(one, 0):
                return True
            seen.add(one)
            waiting += self._wholes.get(one, set()) - seen
        return False


def _own_statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the blocks in it, those of functions and classes left out."""
    for statement in block:
        yield statement
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for inner in _blocks(statement):
                yield from _own_statements(inner)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    yield from bodies(statement)


def _head(statement: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a statement, those of its blocks left out; nothing of a definition but what runs with it."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        yield from statement.decorator_list
        return
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.excepthandler)):
            yield child


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, and those of objects that it stores something in."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    for expression in _head(statement):
        for node in nodes_below(expression):
            if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                yield _root(node)


def _added(statement: ast.stmt) -> tuple[str, str] | None:
    """Of ``part = whole.add_something()`` both names; None of any other statement."""
    value = getattr(statement, "value", None)
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or len(targets) != 1:
        return None
    whole = _root(value.func)
    is_part = value.func.attr.startswith(ADDING) and isinstance(targets[0], ast.Name)
    return (targets[0].id, whole) if is_part and whole else None


def _root(node: ast.AST) -> str:
    """The name at the beginning of ``name.attribute[index].other``; empty if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _acts(head: Iterable[ast.AST]) -> bool:
    for expression in head:
        for node in nodes_below(expression):
            if getattr(node, "attr", getattr(node, "id", "")) in EFFECTS:
                return True
    return False


def _leaves(statement: ast.If) -> bool:
    last = statement.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        return getattr(function, "attr", getattr(function, "id", "")) in LEAVING
    return isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))
