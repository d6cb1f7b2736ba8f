"""Which calls open a handle: by name, or as a method of an object whose class is plain."""

from __future__ import annotations

import ast
from functools import cache

from forklint.knowledge.handles import Handle, wrappers
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Scope


class Openers:
    """Looks calls up in the table of handles; ``facts`` is the class whose attributes ``self.x`` are."""

    def __init__(self, project: Project, facts: ClassFacts | None, table: dict[str, Handle]) -> None:
        self._project = project
        self._facts = facts
        self._table = table
        self._last_names = frozenset(name.rpartition(".")[2] for name in table)

    def row(self, module: Module, scope: Scope, call: ast.Call) -> Handle | None:
        """The row of the table for a call that opens a handle."""
        symbol = self._project.resolve(module, scope, call.func)
        name = symbol.name if isinstance(symbol, External) else ""
        if isinstance(call.func, ast.Name) and symbol is None and scope.find(call.func.id) is None:
            name = f"builtins.{call.func.id}"
        if isinstance(call.func, ast.Attribute) and not name and call.func.attr in self._last_names:
            name = f"{self._constructor(module, scope, call.func.value)}.{call.func.attr}"
        row = self._table.get(name) or self._table.get(name.removeprefix("builtins."))
        if row is None or (row.suffix and not _ends_with(call, row.suffix)) or not _asks(call, row.keywords):
            return None
        if row.names and not self._is_written(module, row.names):
            return None
        return row.given({k.arg: k.value.value for k in call.keywords if k.arg and isinstance(k.value, ast.Constant)})

    def _is_written(self, module: Module, names: tuple[str, ...]) -> bool:
        """Whether a string of a module has one of these words."""
        texts = self._project.answer("texts", module, lambda: _texts(module))
        return any(name in text for text in texts for name in names)

    def wraps(self, module: Module, scope: Scope, call: ast.Call) -> bool:
        """Whether the result of a call reads on, later, from the handles that it is given."""
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name not in _last_names_of_wrappers():
            return False
        known = self._project.qualified(module, scope, call.func)
        if isinstance(call.func, ast.Name) and not known and scope.find(name) is None:
            known = f"builtins.{name}"
        return known in wrappers()

    def _constructor(self, module: Module, scope: Scope, expression: ast.expr) -> str:
        """Qualified name of the class outside the project that an expression is an object of, if that is plain."""
        if isinstance(expression, ast.Name):
            symbol = self._project.lookup(module, scope, expression.id)
            if isinstance(symbol, Value) and symbol.binding.value is not None:
                return self._constructor(symbol.module, symbol.scope, symbol.binding.value)
            return self._annotated(module, scope, expression.id)
        if isinstance(expression, ast.Attribute) and self._facts is not None:
            return self._attribute_class(expression)
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Div):
            return self._constructor(module, scope, expression.left)
        if isinstance(expression, ast.Call):
            return self._project.qualified(module, scope, expression.func)
        return ""

    def _annotated(self, module: Module, scope: Scope, name: str) -> str:
        """Qualified name of the class that a parameter is annotated with."""
        found = scope.find(name)
        node = found[1][0].node if found and len(found[1]) == 1 else None
        if not isinstance(node, ast.arg) or node.annotation is None or found is None:
            return ""
        return self._project.qualified(module, found[0], node.annotation)

    def _attribute_class(self, expression: ast.Attribute) -> str:
        """Qualified name of the class outside the project that an attribute of the object holds, if all agree."""
        if not isinstance(expression.value, ast.Name) or self._facts is None:
            return ""
        found: set[str] = set()
        for owner in self._project.ancestry(self._facts).classes:
            for method in owner.methods.values():
                for node in nodes_below(method):
                    targets = node.targets if isinstance(node, ast.Assign) else []
                    if any(isinstance(t, ast.Attribute) and t.attr == expression.attr for t in targets):
                        scope = owner.module.scope_of[method]
                        value = node.value  # type: ignore[attr-defined]
                        same = isinstance(value, ast.Attribute)
                        found.add("" if same else self._constructor(owner.module, scope, value))
        return found.pop() if len(found) == 1 else ""


@cache
def _last_names_of_wrappers() -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in wrappers())


def _asks(call: ast.Call, keywords: tuple[str, ...]) -> bool:
    """Whether a call has one of these keyword arguments, and not as None or False."""
    off = {k.arg for k in call.keywords if isinstance(k.value, ast.Constant) and not k.value.value}
    return not keywords or bool({k.arg for k in call.keywords} & set(keywords) - off)


def _texts(module: Module) -> frozenset[str]:
    """The strings of a module, but for its docstrings."""
    nodes = (node for node in module.nodes if isinstance(node, ast.Constant))
    plain = (node.value for node in nodes if not isinstance(module.parents.get(node), ast.Expr))
    return frozenset(value for value in plain if isinstance(value, str))


def _ends_with(call: ast.Call, suffix: str) -> bool:
    """Whether the first argument is a literal, or is put together with one, that ends so."""
    literals = [n.value for arg in call.args[:1] for n in nodes_below(arg) if isinstance(n, ast.Constant)]
    return any(isinstance(literal, str) and literal.endswith(suffix) for literal in literals)
