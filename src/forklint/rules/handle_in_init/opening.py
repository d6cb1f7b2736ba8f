"""A statement that opens a handle, cut in two: what is known when it runs, and the call that can wait."""

from __future__ import annotations

import ast

from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Kind
from forklint.records import dataclass


class NotLazyError(Exception):
    """The handle cannot be opened lazily by a machine; the text says why."""


@dataclass(frozen=True)
class Opening:
    """One statement that opens the handle, in two halves: what is known now, and what is done later."""

    statement: ast.stmt
    source: str
    """The arguments that only the statement knows, as one expression: they are kept on the object."""
    call: str
    """The call as a property can make it, from what was kept."""
    imports: tuple[str, ...]
    """Imports inside the function that the call needs."""


class Splitter:
    """Cuts ``self.a = f(x, y=1)`` into ``self._a_source = x`` and ``f(self._a_source, y=1)``."""

    def __init__(self, module: Module, method: Function, kept_as: str) -> None:
        self._lines = module.source.lines  # of expressions alone, so comments do not count
        self._scope = module.scope_of[method]
        self._kept_as = kept_as
        self._imports: list[str] = []
        self._own: set[str] = set()
        """Names that a comprehension binds."""

    def split(self, statement: ast.stmt) -> Opening:
        """Cut one statement; raises NotLazyError."""
        value = assigned(statement)[1]
        each = value.generators[0] if isinstance(value, ast.ListComp) else None
        call = value.elt if isinstance(value, ast.ListComp) else value
        assert isinstance(call, ast.Call)  # noqa: S101 - the planner looked
        if isinstance(call.func, ast.Name) and not self._is_free(call.func):
            raise NotLazyError("it is opened with a local name")
        if each is not None:
            self._own |= {node.id for node in nodes_below(each.target) if isinstance(node, ast.Name)}
        parts = [
            *([call.func.value] if isinstance(call.func, ast.Attribute) else []),
            *call.args,
            *(keyword.value for keyword in call.keywords),
        ]
        captured = [part for part in parts if not self._is_free(part)]
        if any(isinstance(n, ast.Name) and n.id in self._own for part in captured for n in nodes_below(part)):
            raise NotLazyError("its arguments cannot be stored for later")
        if each is not None and not self._is_free(each.iter):
            captured.append(each.iter)
        opening = self._later(call, each, captured)
        kept = [self._kept(part, each) for part in captured]
        source = kept[0] if len(kept) == 1 else f"({', '.join(kept)})"
        return Opening(statement, source, opening, tuple(dict.fromkeys(self._imports)))

    def _kept(self, part: ast.expr, each: ast.comprehension | None) -> str:
        text = self._text(part.value if isinstance(part, ast.Starred) else part)
        return f"list({text})" if each is not None and part is each.iter else text

    def _later(self, call: ast.Call, each: ast.comprehension | None, captured: list[ast.expr]) -> str:
        """The call as the property makes it, with what was captured in the place of local names."""
        places = [self._kept_as] if len(captured) == 1 else [f"{self._kept_as}[{i}]" for i in range(len(captured))]

        def later(part: ast.expr) -> str:
            if part not in captured:
                return self._text(part)
            return ("*" if isinstance(part, ast.Starred) else "") + places[captured.index(part)]

        func = self._text(call.func)
        if isinstance(call.func, ast.Attribute):
            func = f"{later(call.func.value)}.{call.func.attr}"
        arguments = [later(argument) for argument in call.args]
        arguments += [f"{k.arg}={later(k.value)}" if k.arg else f"**{later(k.value)}" for k in call.keywords]
        text = f"{func}({', '.join(arguments)})"
        return text if each is None else f"[{text} for {self._text(each.target)} in {later(each.iter)}]"

    def _text(self, expression: ast.expr) -> str:
        """An expression as it is written, on one line."""
        if expression.lineno != expression.end_lineno:
            return ast.unparse(expression)
        line = self._lines[expression.lineno - 1].encode()
        return line[expression.col_offset : expression.end_col_offset].decode()

    def _is_free(self, expression: ast.expr) -> bool:
        """Whether an expression means the same in a property: no name in it is local, but for local imports."""
        imports = []
        for node in nodes_below(expression):
            if not isinstance(node, ast.Name):
                continue
            found = None if node.id in self._own else self._scope.find(node.id)
            if found is None or isinstance(found[0].node, ast.Module):
                continue
            if any(binding.kind is not Kind.IMPORT for binding in found[1]):
                return False
            imports += [ast.unparse(binding.node) for binding in found[1]]
        self._imports += imports
        return True


def is_list_of(value: ast.expr, call: ast.Call) -> bool:
    """Whether an expression is ``[call for x in y]``."""
    plain = isinstance(value, ast.ListComp) and value.elt is call and len(value.generators) == 1
    return plain and not value.generators[0].ifs and not value.generators[0].is_async  # type: ignore[attr-defined]


def assigned(statement: ast.stmt, *, bare: bool = False) -> tuple[ast.expr | None, ast.expr | None]:
    """Target and value of a plain assignment to one target; a bare annotation only if asked for."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    if isinstance(statement, ast.AnnAssign) and (bare or statement.value is not None):
        return statement.target, statement.value
    return None, None
