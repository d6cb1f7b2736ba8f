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
LEAVING = frozenset({"exit", "_exit", "quit"})
Body = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def skipped(project: Project, points: Mapping[Path, Iterable[int]], program: Path | None) -> dict[str, list[Rows]]:
    """By file, first and last rows of the statements that do not lead to any of some rows.

    The top level of ``program`` alone is cut: what another module binds, whoever imports it may read.
    """
    found = {}
    for path, rows in points.items():
        module = project.module(path)
        if module is None or module.is_notebook:
            continue
        cut = [(body, on) for body, on in _bodies(module, rows) if path == program or not isinstance(body, ast.Module)]
        spared = [one for body, on in cut for one in _Slice(module, body, on).spared()]
        if spared:
            found[str(path.resolve())] = sorted({(one.lineno, one.end_lineno or one.lineno) for one in spared})
    return found


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
        return (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and self._hands(statement, statement.value)
        )

    def _is_needed_after(self, name: str, statement: ast.stmt) -> bool:
        return statement.lineno < self._needed.get(name, 0)

    def _hands(self, statement: ast.stmt, call: ast.Call) -> bool:
        """Whether a call may change something that is needed: its receiver, or its first argument."""
        if isinstance(call.func, ast.Name) and call.func.id == "print":
            return False
        values = [*([] if isinstance(call.func, ast.Name) else [call.func]), *call.args[:1]]
        return any(self._is_needed_after(_root(value), statement) for value in values)


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
