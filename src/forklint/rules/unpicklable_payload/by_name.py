"""Values that pickle refuses although they have a name: modules, and cached functions whose name means another one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.unpicklable import memoizers, modules
from forklint.project.index import External
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import last_name
from forklint.rules.unpicklable_payload.values import Culprit, Why

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.values.model import Expression

NO_MODULE = "TypeError: cannot pickle 'module' object"


def module_in(project: Project, given: Expression) -> Culprit | None:
    """A module that is stored as a value: ``self.np = np``, ``self.rng = np.random``."""
    node = given.node
    if isinstance(node, (ast.Name, ast.Attribute)) and (_is_imported(given, node) or _is_module(project, given, node)):
        return module_named(given)
    return None


def module_named(given: Expression) -> Culprit:
    """The module that an expression stands for."""
    name = f"the module `{ast.unparse(given.node)}`"
    return Culprit(Why.MODULE, given.module, given.node, name, NO_MODULE)


def _is_imported(given: Expression, node: ast.expr) -> bool:
    """Whether a name is bound by ``import module`` alone."""
    found = given.scope.find(node.id) if isinstance(node, ast.Name) else None
    return found is not None and all(one.kind is Kind.IMPORT and not one.attribute for one in found[1])


def _is_module(project: Project, given: Expression, node: ast.expr) -> bool:
    """Whether an expression means a module of the project, or one of a library that the table names."""
    symbol = project.resolve(given.module, given.scope, node)
    return isinstance(symbol, Module) or (isinstance(symbol, External) and symbol.name in modules())


def memoized_in(project: Project, given: Expression, call: ast.Call) -> Culprit | None:
    """A cached function that a call makes: ``lru_cache(maxsize=8)(self.read)``, ``cache(read)``.

    It is pickled by the name of the function that it calls, which leads to that function and not to the cached one.
    """
    if len(call.args) != 1 or isinstance(call.args[0], (ast.Constant, ast.Starred)):
        return None
    maker = call.func.func if isinstance(call.func, ast.Call) else call.func
    row = memoizers().get(project.qualified(given.module, given.scope, maker))
    if row is None or _is_found(given, call):
        return None
    return Culprit(Why.OBJECT, given.module, call, f"{row.kind} (`{ast.unparse(maker)}`)", row.error)


def _is_found(given: Expression, call: ast.Call) -> bool:
    """Whether the cached function may be what the name of the function means: ``read = cache(read)`` at the top."""
    scope = given.module.scope_at(call)
    if isinstance(scope.node, FUNCTIONS):
        return False
    statement = given.module.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    is_renamed = isinstance(target, ast.Name) and target.id != last_name(call.args[0])
    return not (isinstance(scope.node, ast.Module) and is_renamed)
