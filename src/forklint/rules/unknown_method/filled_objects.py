"""Objects at the top of a module that some file fills: ``setattr(settings, key, value)`` gives them computed names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Scope
from forklint.project.spelling import all_arguments, dotted, last_name
from forklint.rules.unknown_method.attributes import Attributes
from forklint.summaries.terms import WORD

SETTERS = frozenset({"setattr", "__setattr__"})
BY_TABLE = frozenset({"__dict__", "__class__"})
"""By these an object is given whatever names there are."""


class FilledObjects:
    """Answers for the objects of one project."""

    def __init__(self, project: Project, attributes: Attributes) -> None:
        self._project = project
        self._attributes = attributes

    def is_filled(self, module: Module, scope: Scope, binding: Binding) -> bool:
        """Whether a file that knows an object, by a variable of a scope or by an import, may give it any name."""
        name = binding.name
        symbol = self._project.lookup(module, scope, name)
        if isinstance(symbol, Value):
            module, scope, name = symbol.module, symbol.scope, symbol.binding.name
        if not isinstance(scope.node, ast.Module):
            return False
        place = (module.path, name)
        return any(place in self._filled_in(path) for path in self._project.where(WORD, name))

    def is_given_away(self, module: Module, scope: Scope, variable: str) -> bool:
        """Whether the variable goes to a function that may add attributes to it."""
        for node in nodes_below(scope.node):
            if isinstance(node, ast.Attribute) and dotted(node) in {f"{variable}.__dict__", f"{variable}.__class__"}:
                return True
            if isinstance(node, ast.Call) and any(dotted(a) == variable for a in all_arguments(node)):
                callee = dotted(node.func)
                if callee and self._attributes.may_add(module, callee):
                    return True
        return False

    def _filled_in(self, path: Path) -> frozenset[tuple[Path, str]]:
        """The variables of modules, by file and name, of which a file fills the objects."""

        def find() -> frozenset[tuple[Path, str]]:
            module = self._project.module(path)
            return frozenset(self._find(module)) if module is not None else frozenset()

        return self._project.answer("objects that a file fills", path, find, compared=True)

    def _find(self, module: Module) -> Iterator[tuple[Path, str]]:
        for node in module.nodes:
            for filled in self._filled_by(module, node):
                symbol = self._project.resolve(module, module.scope_at(filled), filled)
                if isinstance(symbol, Value) and isinstance(symbol.scope.node, ast.Module):
                    yield symbol.module.path, symbol.binding.name

    def _filled_by(self, module: Module, node: ast.AST) -> list[ast.expr]:
        """What a node may give attributes of which the names are not written out."""
        if isinstance(node, ast.Attribute):
            return [node.value] if node.attr in BY_TABLE else []
        if not isinstance(node, ast.Call):
            return []
        if last_name(node.func) in SETTERS:
            return _set_by(node)
        given: list[ast.expr] = [one for one in all_arguments(node) if isinstance(one, (ast.Name, ast.Attribute))]
        callee = dotted(node.func) if given else ""
        return given if callee and self._attributes.may_add(module, callee) else []


def _set_by(call: ast.Call) -> list[ast.expr]:
    """What ``setattr(x, key, value)``, ``x.__setattr__(key, value)`` or ``object.__setattr__(x, ...)`` sets it on."""
    owner, arguments = None, call.args
    if isinstance(call.func, ast.Attribute) and len(arguments) == 2:
        owner, key = call.func.value, arguments[0]
    elif len(arguments) == 3:
        owner, key = arguments[0], arguments[1]
    return [owner] if owner is not None and not isinstance(key, ast.Constant) else []
