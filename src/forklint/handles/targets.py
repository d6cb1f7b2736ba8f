"""Which function of the project a call enters while a handle is followed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from forklint.handles.held import Frame
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function
from forklint.project.spelling import is_name, is_static, takes_class
from forklint.runs.calls import above


class Target(NamedTuple):
    """A function that a call enters."""

    module: Module
    function: Function
    bound: bool
    """Whether its first parameter is given already."""


class Targets:
    """Answers for the methods of one class; ``opens`` tells whether a function is worth entering."""

    def __init__(self, project: Project, facts: ClassFacts | None, opens: Callable[[FunctionFacts], bool]) -> None:
        self._project = project
        self._facts = facts
        self._opens = opens

    def of(self, frame: Frame, call: ast.Call) -> Target | None:
        """The function that a call enters; None if it is not followed."""
        function = call.func
        if isinstance(function, ast.Attribute):
            value = function.value
            if isinstance(value, ast.Name) and value.id == frame.me and frame.me and self._facts:
                found = self._project.method(self._facts, function.attr)
                return Target(found[0].module, found[1], not is_static(found[1])) if found else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
                known = above(self._project, frame.expression(function), function) if self._facts is not None else None
                return Target(known[0].module, known[0].node, bound=True) if known is not None else None
        symbol = self._project.resolve(frame.module, frame.scope, function)
        if isinstance(symbol, FunctionFacts):
            by_class = symbol.owner is not None and bool(call.args) and is_name(call.args[0], frame.me)
            if by_class or (symbol.owner is None and self._opens(symbol)):
                return Target(symbol.module, symbol.node, bound=False)
            if takes_class(symbol.node) and self._opens(symbol):
                return Target(symbol.module, symbol.node, bound=True)
        return None
