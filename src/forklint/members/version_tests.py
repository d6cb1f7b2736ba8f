"""Whether code runs only where a condition on the version of torch holds, however the condition is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.members.guards import NAMES, VERSION, leaves
from forklint.project.bindings import block_of
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import FUNCTIONS, Binding, statements
from forklint.project.spelling import dotted, is_name

TORCH = "torch"
MOST_STEPS = 4
"""So many flags and functions in a row are followed: ``OLD = is_old()``, ``def is_old(): return VERSION < (1, 8)``."""
SELF = "self"


def is_chosen_by_version(project: Project, module: Module, node: ast.AST) -> bool:
    """Whether a node is reached only if the version of torch, or a flag made from it, is as its author expects.

    That is so in a branch, behind one that leaves the function, ``if IS_NEW: return torch.fft.rfft(x)``, and behind
    ``assert torch.__version__ == "0.4"``.
    """
    tests = _Tests(project)
    below, is_inside = node, True
    for above in module.above(node):
        if any(tests.ask_version(module, test) for test in _tests_of(above, below)):
            return True
        is_outermost = isinstance(above, ast.Module)
        if (is_inside or is_outermost) and isinstance(below, ast.stmt):
            earlier = (one for one in block_of(module, below) if start_of(one) < start_of(below))
            passed = (_asserted(one) if is_outermost else _asserted(one) or _left_by(one) for one in earlier)
            if any(test is not None and tests.ask_version(module, test) for test in passed):
                return True
        is_inside = is_inside and not isinstance(above, FUNCTIONS)
        below = above
    return False


def _tests_of(above: ast.AST, below: ast.AST) -> list[ast.expr]:
    """The conditions above a node on which it depends whether the part below it runs."""
    if isinstance(above, (ast.If, ast.IfExp, ast.While)):
        return [above.test] if below is not above.test else []
    if isinstance(above, ast.BoolOp):
        return [one for one in above.values if one is not below]
    return []


def _left_by(statement: ast.stmt) -> ast.expr | None:
    """The condition of a branch that may leave the block around it."""
    return statement.test if isinstance(statement, ast.If) and _leaves(statement) else None


def _asserted(statement: ast.stmt) -> ast.expr | None:
    """The condition of an assertion about ``__version__``, unless newer versions meet it, too."""
    if not isinstance(statement, ast.Assert) or _is_at_least(statement.test):
        return None
    named = (getattr(part, "attr", "") for part in nodes_below(statement.test))
    return statement.test if "__version__" in named else None


def _is_at_least(test: ast.expr) -> bool:
    """Whether a condition gives a version at least: ``torch.__version__ >= "1.8"``."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return False
    return isinstance(test.ops[0], (ast.Lt, ast.LtE) if isinstance(test.left, ast.Constant) else (ast.Gt, ast.GtE))


def _leaves(branch: ast.If) -> bool:
    """Whether one way through a branch leaves the block around it."""
    return any(block and leaves(block[-1]) for block in (branch.body, branch.orelse))


class _Tests:
    """Follows a condition to where its flags get their values."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def ask_version(self, module: Module, test: ast.expr, steps: int = MOST_STEPS) -> bool:
        """Whether the outcome of an expression depends on which torch is installed, or on what torch has."""
        for part in nodes_below(test):
            if isinstance(part, (ast.Name, ast.Attribute)) and _speaks_of_version(part):
                return True
            if isinstance(part, ast.Call) and dotted(part.func) in NAMES and part.args and _is_torch(part.args[0]):
                return True
            if steps and isinstance(part, (ast.Name, ast.Attribute)) and self._is_flag(module, part, steps - 1):
                return True
        return False

    def _is_flag(self, module: Module, flag: ast.Name | ast.Attribute, steps: int) -> bool:
        """Whether a variable, an attribute of ``self`` or a function of the project says which torch it is."""
        if isinstance(flag, ast.Attribute) and dotted(flag.value) == SELF:
            stored = (module.parents[one] for one in module.uses(flag.attr) if _is_own_store(one))
            values = [one.value for one in stored if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value]
            return any(self.ask_version(module, value, steps) for value in values)
        scope = module.scope_at(flag)
        found = scope.find(flag.id) if isinstance(flag, ast.Name) else None
        if found is not None and any(self._is_set_by_version(module, one, steps) for one in found[1]):
            return True
        symbol = self._project.resolve(module, scope, flag)
        if isinstance(symbol, Value) and symbol.module is not module:
            bindings = symbol.scope.bound(symbol.binding.name)
            return any(self._is_set_by_version(symbol.module, one, steps) for one in bindings)
        if isinstance(symbol, FunctionFacts):
            given = (one.value for one in statements(symbol.node.body) if isinstance(one, ast.Return) and one.value)
            return any(self.ask_version(symbol.module, value, steps) for value in given)
        return False

    def _is_set_by_version(self, module: Module, binding: Binding, steps: int) -> bool:
        """Whether a value asks for the version, or is set where a branch or a ``try`` does."""
        if binding.value is None:
            return False
        if self.ask_version(module, binding.value, steps):
            return True
        if not isinstance(binding.value, ast.Constant):
            return False
        for above, below in _around(module, binding.node):
            if any(self.ask_version(module, test, steps) for test in _tests_of(above, below)):
                return True
            if isinstance(above, ast.Try) and any(map(_needs_torch, above.body)):
                return True
        return False


def _around(module: Module, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    below = node
    for above in module.above(node):
        if isinstance(above, FUNCTIONS):
            return
        yield above, below
        below = above


def _speaks_of_version(part: ast.Name | ast.Attribute) -> bool:
    if isinstance(part, ast.Attribute) and is_name(part.value, SELF):
        return VERSION.search(part.attr.removeprefix("has_")) is not None  # an object may have much besides a torch
    return VERSION.search(part.id if isinstance(part, ast.Name) else part.attr) is not None


def _is_torch(node: ast.expr) -> bool:
    return dotted(node).partition(".")[0] == TORCH


def _is_own_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and dotted(node.value) == SELF


def _needs_torch(statement: ast.stmt) -> bool:
    """Whether a statement imports from torch or reads a name of it: a ``try`` around it asks whether torch has that."""
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] == TORCH for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and f"{statement.module}".partition(".")[0] == TORCH
    return any(isinstance(part, ast.Attribute) and _is_torch(part) for part in nodes_below(statement))
