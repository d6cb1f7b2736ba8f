"""What Python says of lambdas and local definitions that pickle does not find by their names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.module import ClassFacts, FunctionFacts, Module
    from forklint.project.scopes import Scope

NOT_LOOKED_UP = "AttributeError: Can't pickle local object"
LAMBDA = "PicklingError: attribute lookup <lambda> failed"


def lambda_error(module: Module, node: ast.Lambda) -> str:
    """What pickle says of a lambda."""
    above = _dotted(module.scope_at(node))
    return f"{NOT_LOOKED_UP} '{above}.<lambda>'" if "<locals>" in above else LAMBDA


def python_name(facts: FunctionFacts | ClassFacts) -> str:
    """The qualified name as Python gives it, with ``<locals>``."""
    above = _dotted(facts.scope.parent)
    return f"{above}.{facts.node.name}" if above else facts.node.name


def _dotted(scope: Scope | None) -> str:
    """The qualified name of what is defined directly in a scope, up to its own name."""
    parts: list[str] = []
    while scope is not None and scope.parent is not None:
        is_function = isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        parts.append(f"{getattr(scope.node, 'name', '')}{'.<locals>' if is_function else ''}")
        scope = scope.parent
    return ".".join(reversed(parts))
