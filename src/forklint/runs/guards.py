"""Conditions that tell a script from who imports it, a notebook from a script, and who has set a start method."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from forklint.knowledge.presets import gpus_named
from forklint.project.index import External, Value
from forklint.project.module import FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name, text_of
from forklint.runs.trace import AT_ONCE, Kind, Way
from forklint.values.counted_gpus import asked

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

CHILD_NAME = "__mp_main__"
"""What ``__name__`` is in a child that imports the main module again."""
PROCESS = "multiprocessing.current_process"
"""Its ``name`` differs in a child, too."""
NOTEBOOK_NAMES = frozenset({"get_ipython", "__IPYTHON__"})
NOTEBOOK = re.compile(rb"get_ipython|__IPYTHON__")
"""Builtins that a notebook adds."""


class Guard(Enum):
    """What a condition says of who runs the code."""

    MAIN = "main"
    """It holds in the script alone."""
    CHILD = "child"
    """It holds in children and importers alone."""
    UNCLEAR = "unclear"
    """It looks at who runs the code, in a way that is not understood."""


OPPOSITE = {Guard.MAIN: Guard.CHILD, Guard.CHILD: Guard.MAIN, Guard.UNCLEAR: Guard.UNCLEAR}


def guard_of(project: Project, module: Module, scope: Scope, test: ast.expr) -> Guard | None:
    """What a condition says of who runs the code; None if it does not look at that."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = guard_of(project, module, scope, test.operand)
        return OPPOSITE[inner] if inner is not None else None
    if isinstance(test, ast.BoolOp):
        found = [guard for part in test.values if (guard := guard_of(project, module, scope, part)) is not None]
        is_and = isinstance(test.op, ast.And) and found[:1] == [Guard.MAIN]
        return (Guard.MAIN if is_and else Guard.UNCLEAR) if found else None
    if isinstance(test, ast.Name):
        symbol = project.resolve(module, scope, test)
        value = symbol.binding.value if isinstance(symbol, Value) else None
        is_test = isinstance(symbol, Value) and isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp))
        return guard_of(project, symbol.module, symbol.scope, value) if is_test else None  # type: ignore[union-attr,arg-type]
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    sides = (test.left, test.comparators[0])
    named = [_is_name_of_run(project, module, scope, side) for side in sides]
    return _compared(test.ops[0], sides[named[0]]) if any(named) else None


def asks_the_machine(test: ast.expr) -> bool:
    """Whether a condition asks what the machine has by a call, or which GPUs to use by their numbers.

    Not by another name: ``cpu`` may be what a user wants.
    """
    if any(isinstance(node, ast.Attribute) and node.attr == "is_available" for node in nodes_below(test)):
        return True
    is_question = isinstance(test, ast.Compare) and len(test.ops) == 1 and asked(test) is not None
    return is_question or gpus_named(last_name(test)) == "list"


def way_under(guard: Guard) -> tuple[Kind, Way]:
    """How statements are come to under a condition that looks at who runs the code."""
    if guard is Guard.MAIN:
        return Kind.GUARD, Way(guarded=True)
    return Kind.BRANCH, replace(AT_ONCE.perhaps(), aside=True)


def of_case(project: Project, module: Module, scope: Scope, subject: ast.expr, case: ast.match_case) -> Guard | None:
    """What a case of ``match __name__:`` says."""
    if not _is_name_of_run(project, module, scope, subject):
        return None
    texts = [text_of(node.value) for node in ast.walk(case.pattern) if isinstance(node, ast.MatchValue)]
    return _in_main(texts) if texts else Guard.CHILD


def _is_name_of_run(project: Project, module: Module, scope: Scope, node: ast.expr) -> bool:
    """Whether an expression is ``__name__``, or the name of the process."""
    if isinstance(node, ast.Name):
        return node.id == "__name__"
    if not isinstance(node, ast.Attribute) or node.attr != "name" or not isinstance(node.value, ast.Call):
        return False
    return project.qualified(module, scope, node.value.func).removeprefix("torch.") == PROCESS


def _compared(sign: ast.cmpop, other: ast.expr) -> Guard | None:
    texts = [text_of(one) for one in (other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other])]
    if isinstance(sign, (ast.Eq, ast.In, ast.Is)):
        return _in_main(texts)
    if isinstance(sign, (ast.NotEq, ast.NotIn, ast.IsNot)):
        inner = _in_main(texts)
        return OPPOSITE[inner] if inner is not None else None
    return Guard.UNCLEAR


def _in_main(texts: list[str]) -> Guard | None:
    """What it says that the name is one of some; None if a child's is one of them as well."""
    if CHILD_NAME in texts:
        return None if len(texts) > 1 else Guard.CHILD
    return Guard.MAIN


def asks_for_notebook(project: Project, module: Module, scope: Scope, test: ast.expr) -> bool:
    """Whether a condition asks if a notebook runs the code: no child imports that again."""
    return any(_is_of_notebook(project, module, scope, node) for node in nodes_below(test))


def _is_of_notebook(project: Project, module: Module, scope: Scope, node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in NOTEBOOK_NAMES
    if isinstance(node, ast.Call):
        symbol = project.resolve(module, scope, node.func)
        return isinstance(symbol, FunctionFacts) and _reads(project, symbol.module, symbol.node)
    if not isinstance(node, ast.Name):
        return False
    if node.id in NOTEBOOK_NAMES or not project.matches(module.path, NOTEBOOK):
        return node.id in NOTEBOOK_NAMES
    symbol = project.resolve(module, scope, node)
    if isinstance(symbol, External):
        return symbol.name.rpartition(".")[2] in NOTEBOOK_NAMES
    _, bindings = scope.find(node.id) or (scope, [])
    tries = [above for one in bindings for above in module.above(one.node) if isinstance(above, ast.Try)]
    return any(_reads(project, module, one) for one in tries)


def _reads(project: Project, module: Module, node: ast.AST) -> bool:
    """Whether a function or statement reads a name that only notebooks have."""
    return project.matches(module.path, NOTEBOOK) and any(
        isinstance(inner, ast.Name) and inner.id in NOTEBOOK_NAMES for inner in nodes_below(node)
    )


def asks_for_method(test: ast.expr) -> bool:
    """Whether a condition asks which start method is set: what it guards runs in the usual case that none is."""
    return any(isinstance(node, ast.Call) and last_name(node.func) == "get_start_method" for node in nodes_below(test))
