"""Whether a statement that sets variables comes to the same at an earlier place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from forklint.environment.settings import is_environ, is_kernel, magic_variable
from forklint.project.index import External
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.runs.walk import COMPREHENSIONS

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module

BUILTINS = frozenset({"str", "int", "float", "bool", "len", "min", "max", "abs", "round", "repr"})
MACHINE = frozenset(
    {"os.cpu_count", "multiprocessing.cpu_count", "platform.system", "platform.machine", "platform.node"}
)
"""Functions that say the same whenever they are asked."""
STATE = frozenset({"os.getenv", "os.sched_getaffinity"})
"""Functions that only look, at what other statements may change."""
UNSEEN = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, *COMPREHENSIONS)
MUTABLE = (ast.List, ast.Dict, ast.Set)


def is_pure(project: Project, module: Module, unit: ast.stmt) -> bool:
    """Whether a statement depends on nothing but literals, names, the environment and the machine."""
    for node in ast.walk(unit):
        if isinstance(node, UNSEEN):
            return False
        if isinstance(node, ast.Call) and not _is_pure_call(project, module, node):
            return False
    return True


def is_constant(project: Project, module: Module, node: ast.AST, row: int = 0) -> bool:
    """Whether a statement is ``NAME = value`` with a value that nothing changes in place before a row."""
    is_assignment = isinstance(node, ast.Assign) and [type(one) for one in node.targets] == [ast.Name]
    if not is_assignment or not isinstance(node, ast.Assign) or not is_pure(project, module, node):
        return False
    return not any(isinstance(n, MUTABLE) for n in ast.walk(node)) or not _is_used(module, node, row)


def _is_used(module: Module, node: ast.Assign, row: int) -> bool:
    """Whether anything above a row mentions the names that an assignment binds; True without a row."""
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    uses = (n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id in names)
    return not row or any(use.lineno < row and use not in node.targets for use in uses)


def holds_above(project: Project, module: Module, moved: Sequence[ast.stmt], between: Iterable[ast.stmt]) -> bool:
    """Whether statements come to the same above those that stand between: these change nothing that they read."""
    if all(_is_harmless(project, module, statement) for statement in between if statement not in moved):
        return True
    return all(not _reads_state(project, module, statement, moved) for statement in moved)


def _is_pure_call(project: Project, module: Module, call: ast.Call) -> bool:
    scope = module.scope_at(call)
    if module.is_notebook and (is_kernel(call) or _sets_by_magic(call)):
        return True
    if isinstance(call.func, ast.Attribute) and is_environ(project, module, scope, call.func.value):
        return call.func.attr in {"get", "update", "setdefault"}
    if isinstance(call.func, ast.Name) and scope.find(call.func.id) is None:
        return call.func.id in BUILTINS or (call.func.id == "dict" and not call.args)
    return project.qualified(module, scope, call.func) in MACHINE | STATE | {"os.putenv"}


def _sets_by_magic(call: ast.Call) -> bool:
    """Whether a call is ``%env NAME=value`` as a notebook's program has it."""
    is_magic = isinstance(call.func, ast.Attribute) and is_kernel(call.func.value)
    return is_magic and magic_variable(call) is not None


def _reads_state(project: Project, module: Module, statement: ast.stmt, moved: Sequence[ast.stmt]) -> bool:
    """Whether a statement reads the environment, or a name that may stand for another value by then."""
    scope = module.scope_at(statement)
    for node in _read_parts(project, module, statement):
        if is_environ(project, module, scope, node):
            return True
        if isinstance(node, ast.Call) and project.qualified(module, scope, node.func) in STATE:
            return True
        if isinstance(node, ast.Name) and not _is_fixed(project, module, node, moved):
            return True
    return False


def _read_parts(project: Project, module: Module, statement: ast.stmt) -> Iterator[ast.expr]:
    """Give the expressions in a statement, but for ``os.environ`` where it is only written to."""
    scope = module.scope_at(statement)
    written: set[ast.AST] = set()
    if isinstance(statement, ast.Assign):
        written = {target.value for target in statement.targets if isinstance(target, ast.Subscript)}
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        if isinstance(func, ast.Attribute) and func.attr == "update":
            written = {func.value}
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if node in written and isinstance(node, ast.expr) and is_environ(project, module, scope, node):
            continue
        if isinstance(node, ast.expr):
            yield node
        waiting += ast.iter_child_nodes(node)


def _is_fixed(project: Project, module: Module, name: ast.Name, moved: Sequence[ast.stmt]) -> bool:
    """Whether a name stands for the same all along: a builtin, a known function, a constant bound once."""
    if isinstance(name.ctx, ast.Store):
        return True
    scope = module.scope_at(name)
    found = scope.find(name.id)
    if found is None:
        return True
    bindings = found[1]
    if bindings and all(binding.kind is Kind.IMPORT for binding in bindings):
        above = module.parents.get(name)
        called = above if isinstance(above, ast.Attribute) else name
        call = module.parents.get(called)
        is_known = isinstance(call, ast.Call) and call.func is called and _is_pure_call(project, module, call)
        return is_known or project.qualified(module, scope, called) in {
            "sys.platform",
            "os.name",
            "os.sep",
            "os.pathsep",
        }
    node = bindings[0].node
    if len(bindings) != 1 or node in moved:
        return len(bindings) == 1
    if not isinstance(node, ast.stmt) or not is_constant(project, module, node):
        return False
    return not _reads_state(project, module, node, moved)


def _is_harmless(project: Project, module: Module, statement: ast.stmt) -> bool:
    """Whether a statement imports from outside the project, defines a function, or names a literal."""
    if isinstance(statement, ast.ImportFrom) and statement.level:
        return False
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        scope = module.scope_at(statement)
        names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return all(isinstance(project.lookup(module, scope, name), External) for name in names)
    if isinstance(statement, FUNCTIONS):
        return not statement.decorator_list and not statement.args.defaults
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign):
        is_name = all(isinstance(target, ast.Name) for target in statement.targets)
        return is_name and isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)
