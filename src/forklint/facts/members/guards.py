"""Whether code that uses a name is ready for the name to be missing."""

from __future__ import annotations

import ast
import re

from forklint.facts.members.attributes import segment
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name

FORGIVING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
ASKING = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "callable", "type", "dir"})
"""Builtins by which code asks what an object is before it uses it."""
VERSION = re.compile(r"version|VERSION|has_|HAS_|_available|_AVAILABLE|is_torch|TORCH")
"""Words in the test of a branch that is taken only where a name exists."""


def is_excused(module: Module, node: ast.AST, name: str) -> bool:
    """Whether the use of ``name`` (a variable or module) at ``node`` is guarded, not executed, or of another object."""
    below: ast.AST = node
    for above in module.above(node):
        if isinstance(above, ast.Try) and below in above.body and any(map(_forgives, above.handlers)):
            return True
        if isinstance(above, (ast.With, ast.AsyncWith)) and any(_swallows(item) for item in above.items):
            return True
        if isinstance(above, (ast.If, ast.IfExp, ast.While, ast.Assert)) and _asks(above.test):
            return True
        if isinstance(above, ast.BoolOp) and any(_asks(value) for value in above.values if value is not below):
            return True
        if _binds_anew(above, name):
            return True
        if isinstance(above, (*FUNCTIONS, ast.Module)):
            asked = rf"\b(?:isinstance|issubclass|hasattr)\(\s*{re.escape(name)}\b"
            return re.search(asked, segment(module, above)) is not None
        below = above
    return False


def is_for_type_checkers(module: Module, node: ast.AST) -> bool:
    """Whether a node stands under ``if TYPE_CHECKING``."""
    tests = (above.test for above in module.above(node) if isinstance(above, ast.If))
    return any("TYPE_CHECKING" in ast.unparse(test) for test in tests)


def _forgives(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(last_name(part) in FORGIVING for part in nodes_below(handler.type))


def _swallows(item: ast.withitem) -> bool:
    """``suppress(AttributeError)``, ``pytest.raises(AttributeError)``, ``self.assertRaises(AttributeError)``."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    name = last_name(call.func)
    return name in {"suppress", "raises", "assertRaises", "assertRaisesRegex"}


def _asks(test: ast.expr) -> bool:
    for part in nodes_below(test):
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") in ASKING:
            return True
        word = last_name(part)
        if isinstance(part, (ast.Name, ast.Attribute)) and (word == "TYPE_CHECKING" or VERSION.search(word)):
            return True
    return False


def _binds_anew(above: ast.AST, name: str) -> bool:
    """Whether a comprehension or lambda around the use has a variable of the same name."""
    if isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        targets = (part for generator in above.generators for part in nodes_below(generator.target))
        return any(isinstance(part, ast.Name) and part.id == name for part in targets)
    if isinstance(above, ast.Lambda):
        arguments = above.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        return any(argument is not None and argument.arg == name for argument in every)
    return False
