"""Functions of the project that hand their keywords on to a loader: ``def load(data, **kwargs): DataLoader(...)``."""

from __future__ import annotations

import ast

from forklint.knowledge.starters import Starter
from forklint.loading.rows import sure_row
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, parameters
from forklint.project.spelling import is_name


def forwarding(project: Project, module: Module, call: ast.Call) -> tuple[Starter, frozenset[str]] | None:
    """The loader that a called function hands its keywords on to, and all keywords that a call of it may give."""
    function = _called(project, module, call)
    if function is None or function.node.args.kwarg is None or any(map(_changes, function.node.decorator_list)):
        return None
    rest, home = function.node.args.kwarg.arg, function.module
    rows: list[Starter] = []
    for node in nodes_below(function.node):
        if not is_name(node, rest):
            continue
        above = home.parents[node]
        inner = home.parents[above] if isinstance(above, ast.keyword) and above.arg is None else None
        row = sure_row(project, home, home.scope_at(inner), inner) if isinstance(inner, ast.Call) else None
        if row is None or row.prefix:
            return None
        rows.append(row)
    if not rows or any(row is not rows[0] for row in rows):
        return None
    return rows[0], rows[0].arguments | {one.arg for one in parameters(function.node)}


def _called(project: Project, module: Module, call: ast.Call) -> FunctionFacts | None:
    """The function that a call enters; of a method of ``self`` only one that no subclass replaces."""
    scope, called = module.scope_at(call), call.func
    if isinstance(called, ast.Attribute) and is_name(called.value, "self"):
        above = next((one for one in module.above(call) if isinstance(one, ast.ClassDef)), None)
        facts = module.class_facts(above) if above is not None else None
        method = project.method(facts, called.attr) if facts is not None else None
        if facts is None or method is None or any(called.attr in one.methods for one in project.subclasses(facts)):
            return None
        return FunctionFacts(method[0].module, method[1])
    symbol = project.resolve(module, scope, called) if isinstance(called, (ast.Name, ast.Attribute)) else None
    is_one = isinstance(symbol, FunctionFacts) and is_certain(project, module, scope, called)
    return symbol if is_one and isinstance(symbol, FunctionFacts) and isinstance(symbol.node, FUNCTIONS) else None


def _changes(decorator: ast.expr) -> bool:
    return not (isinstance(decorator, ast.Name) and decorator.id == "staticmethod")
