"""Which calls open a handle: by name, or as a method of an object whose class is plain."""

from __future__ import annotations

import ast
from functools import cache

from forklint.knowledge.handles import Handle, wrappers
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Scope
from forklint.project.spelling import dotted, is_name
from forklint.values.calls import qualified
from forklint.values.evaluator import Evaluator
from forklint.values.libraries import names_meant
from forklint.values.model import Expression, Instance
from forklint.values.origins import origins

MAP = "map"
OWN = "self"


class Openers:
    """Looks calls up in the table of handles; ``facts`` is the class whose attributes ``self.x`` are."""

    def __init__(self, project: Project, facts: ClassFacts | None, table: dict[str, Handle]) -> None:
        self._project = project
        self._evaluator = Evaluator(project)
        self._this = Instance(facts) if facts is not None else None
        self._table = table
        self._last_names = frozenset(name.rpartition(".")[2] for name in table)

    def row(self, module: Module, scope: Scope, call: ast.Call) -> Handle | None:
        """The row of the table for a call that opens a handle."""
        name = qualified(self._evaluator, Expression(module, scope, call.func))
        if isinstance(call.func, ast.Attribute) and not name and call.func.attr in self._last_names:
            owner = Expression(module, scope, call.func.value).by_anyone(self._this)
            name = f"{self._constructor(owner)}.{call.func.attr}"
        row = self._named(name) or self._meant(Expression(module, scope, call.func))
        if row is None or not asks_for(call, row.keywords):
            return None
        if row.suffix and not _ends_with(call, row.suffix) and not self._is_shown(module, scope, call, row):
            return None
        if row.names and not self._is_written(module, row.names):
            return None
        return row.given({k.arg: k.value.value for k in call.keywords if k.arg and isinstance(k.value, ast.Constant)})

    def mapped(self, module: Module, scope: Scope, call: ast.Call) -> Handle | None:
        """The row for what ``map(cv2.VideoCapture, paths)`` opens, for each of them."""
        if not is_name(call.func, MAP) or len(call.args) < 2:
            return None
        opener = Expression(module, scope, call.args[0])
        row = self._named(qualified(self._evaluator, opener)) or self._meant(opener)
        return row if row is not None and not (row.keywords or row.suffix or row.names) else None

    def _named(self, name: str) -> Handle | None:
        return self._table.get(name) or self._table.get(name.removeprefix("builtins."))

    def _meant(self, function: Expression) -> Handle | None:
        """The row of an opener that is called by another name, from a table, or that a branch chooses."""
        node = function.node
        if isinstance(node, ast.Attribute) and not is_name(node.value, OWN):
            return None
        if isinstance(node, ast.Name) and function.scope.find(node.id) is None:
            return None
        meant = names_meant(self._evaluator, function.by_anyone(self._this))
        return next(filter(None, map(self._named, meant)), None)

    def _is_written(self, module: Module, names: tuple[str, ...]) -> bool:
        """Whether a string of a module has one of these words."""
        texts = self._project.answer("texts", module, lambda: _texts(module))
        return any(name in text for text in texts for name in names)

    def _is_shown(self, module: Module, scope: Scope, call: ast.Call, row: Handle) -> bool:
        """Whether an attribute that only such a handle has is taken from what the call is assigned to."""
        above = module.parents.get(call) if row.shown_by else None
        target = dotted(above.targets[0]) if isinstance(above, ast.Assign) and len(above.targets) == 1 else ""
        taken = self._project.answer("attributes that are taken", module, lambda: _taken(module)) if target else ()
        return any((_home(module, call, target), target, name) in taken for name in row.shown_by)

    def wraps(self, module: Module, scope: Scope, call: ast.Call) -> bool:
        """Whether the result of a call reads on, later, from the handles that it is given."""
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name not in _last_names_of_wrappers():
            return False
        return qualified(self._evaluator, Expression(module, scope, call.func)) in wrappers()

    def _constructor(self, source: Expression) -> str:
        """Qualified name of the class outside the project that an expression is an object of, if that is plain."""
        found = {self._class_of(one) for one in origins(self._evaluator, source)}
        return found.pop() if len(found) == 1 else ""

    def _class_of(self, source: Expression) -> str:
        node = source.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._constructor(source.part(node.left))
        bound = source.scope.bound(getattr(node, "id", ""))
        annotations = [getattr(one.node, "annotation", None) for one in bound if isinstance(one.node, ast.arg)]
        named = (
            node.func if isinstance(node, ast.Call) else annotations[0] if len(bound) == len(annotations) == 1 else None
        )
        return self._project.qualified(source.module, source.scope, named) if named is not None else ""


@cache
def _last_names_of_wrappers() -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in wrappers())


def asks_for(call: ast.Call, keywords: tuple[str, ...]) -> bool:
    """Whether a call has one of these keyword arguments, and not as None or False."""
    off = {k.arg for k in call.keywords if isinstance(k.value, ast.Constant) and not k.value.value}
    return not keywords or bool({k.arg for k in call.keywords} & set(keywords) - off)


def _texts(module: Module) -> frozenset[str]:
    """The strings of a module, but for its docstrings."""
    nodes = (node for node in module.nodes if isinstance(node, ast.Constant))
    plain = (node.value for node in nodes if not isinstance(module.parents.get(node), ast.Expr))
    return frozenset(value for value in plain if isinstance(value, str))


def _taken(module: Module) -> frozenset[tuple[ast.AST | None, str, str]]:
    """What is taken as an attribute in a module: where, of which dotted name, and its own name."""
    nodes = (node for node in module.nodes if isinstance(node, ast.Attribute))
    owners = ((node, dotted(node.value)) for node in nodes)
    return frozenset((_home(module, node, owner), owner, node.attr) for node, owner in owners if owner)


def _home(module: Module, node: ast.AST, name: str) -> ast.AST | None:
    """Where a dotted name means the same: in the class for an attribute, in the function for a bare name."""
    if "." in name:
        return next((above for above in module.above(node) if isinstance(above, ast.ClassDef)), None)
    return module.scope_at(node).node


def _ends_with(call: ast.Call, suffix: str) -> bool:
    """Whether the first argument is a literal, or is put together with one, that ends so."""
    literals = [n.value for arg in call.args[:1] for n in nodes_below(arg) if isinstance(n, ast.Constant)]
    return any(isinstance(literal, str) and literal.endswith(suffix) for literal in literals)
