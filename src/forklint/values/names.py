"""What a name holds: through assignments, imports, parameters, unpacking, and the changes of a mapping in place."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.bindings import is_shadowed
from forklint.project.index import Symbol
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Kind, Scope
from forklint.project.spelling import is_name
from forklint.summaries.terms import WORD
from forklint.values import parameters
from forklint.values.model import (
    NOTHING,
    Expression,
    Found,
    Frame,
    Made,
    Ref,
    Row,
    Setting,
    Source,
    Table,
    agreed,
    told,
)

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator

CHANGING = frozenset(
    {"update", "pop", "popitem", "setdefault", "clear", "__setitem__", "merge_with", "merge_from_file"}
)
"""Methods that change a mapping in place."""


def find(evaluator: Evaluator, source: Expression) -> Found:
    """What a bare name holds."""
    node = source.node
    assert isinstance(node, ast.Name)  # noqa: S101 - the follower says so
    if is_shadowed(source.module, node):
        return NOTHING
    found = source.scope.find(node.id)
    if found is None:
        return of_symbol(evaluator, evaluator.project.lookup(source.module, source.scope, node.id), None)
    home, bindings = found
    if any(binding.kind in {Kind.IMPORT, Kind.CLASS, Kind.FUNCTION} for binding in bindings):
        return of_symbol(evaluator, evaluator.project.lookup(source.module, source.scope, node.id), source.frame)
    return agreed(_binding(evaluator, source.module, home, binding, source.frame) for binding in bindings)


def of_symbol(evaluator: Evaluator, symbol: Symbol | None, frame: Frame | None) -> Found:
    """What a name holds of which the project knows what it is bound to."""
    if isinstance(symbol, Bound):
        return bound(evaluator, symbol, frame)
    if isinstance(symbol, (ClassFacts, FunctionFacts, Module)):
        return Found(Ref(symbol))
    return NOTHING


def bound(evaluator: Evaluator, symbol: Bound, frame: Frame | None) -> Found:
    """What a name holds that is bound once."""
    return _binding(evaluator, symbol.module, symbol.scope, symbol.binding, frame)


def _binding(evaluator: Evaluator, module: Module, home: Scope, binding: Binding, frame: Frame | None) -> Found:
    inside = frame is not None and frame.function.node in _functions_around(home)
    frame = frame if inside else None
    if binding.kind is Kind.PARAMETER:
        return parameters.find(evaluator, FunctionFacts(module, home.node), binding.name, frame)  # type: ignore[arg-type]
    if binding.value is not None:
        place = Expression(module, home, binding.value, frame)
        found = told(evaluator.find(place), place, binding.name)
        if isinstance(found.value, Setting):
            return NOTHING if any(isinstance(use, ast.Call) for use in _uses(home, binding.name)) else found
        return changed(module, home, binding, found) if isinstance(found.value, Table) else found
    return _unpacked(evaluator, module, home, binding, frame)


def _functions_around(scope: Scope) -> set[ast.AST]:
    found: set[ast.AST] = set()
    inner: Scope | None = scope
    while inner is not None:
        found.add(inner.node)
        inner = inner.parent
    return found


def _unpacked(evaluator: Evaluator, module: Module, home: Scope, binding: Binding, frame: Frame | None) -> Found:
    """What ``a, b = f()`` and ``with open(path) as file`` bind."""
    node = binding.node
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == binding.name:
                return evaluator.find(Expression(module, home, item.context_expr, frame))
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], (ast.Tuple, ast.List)):
        return NOTHING
    names = [getattr(target, "id", "") for target in node.targets[0].elts]
    if binding.name not in names or any(isinstance(target, ast.Starred) for target in node.targets[0].elts):
        return NOTHING
    found = evaluator.find(Expression(module, home, node.value, frame))
    index = names.index(binding.name)
    if isinstance(found.value, Row) and len(found.value.items) == len(names):
        return evaluator.find(found.value.items[index]).after(by_default=found.by_default)
    if isinstance(found.value, Made) and found.value.name == "argparse.Namespace" and index == 0:
        return found  # parse_known_args gives what is left over as well
    return NOTHING


# Changes in place


def changed(module: Module, home: Scope, binding: Binding, found: Found) -> Found:
    """Give a mapping with what the function around it does to it: a key set later in the same block counts.

    Of a key that is set elsewhere nothing is known, and nothing at all of a mapping that is updated as a whole.
    """
    table = found.value
    assert isinstance(table, Table)  # noqa: S101 - the caller says so
    entries: dict[str, Source] = dict(table.entries)
    complete = table.complete
    for node in _uses(home, binding.name):
        if isinstance(node, ast.Call):
            return Found(Table({}, complete=False), found.links, found.by_default)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(key, str):
            return Found(Table({}, complete=False), found.links, found.by_default)
        value = _set_in_block(module, binding, node)
        again = sum(_key(other) == key for other in _uses(home, binding.name))
        if value is not None and again == 1:
            entries[key] = Expression(module, home, value)
        else:
            entries.pop(key, None)
            complete = False
    return Found(Table(entries, complete), found.links, found.by_default)


def _key(node: ast.Subscript | ast.Call) -> object:
    return node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None


def _uses(home: Scope, name: str) -> list[ast.Subscript | ast.Call]:
    """The places where the mapping of a name is changed."""
    found: list[ast.Subscript | ast.Call] = []
    for node in nodes_below(home.node):
        if (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and is_name(node.value, name)) or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGING
            and is_name(node.func.value, name)
        ):
            found.append(node)
        elif isinstance(node, ast.AugAssign) and is_name(node.target, name):
            found.append(ast.Call(node.target, [], []))
    return found


def _set_in_block(module: Module, binding: Binding, node: ast.Subscript) -> ast.expr | None:
    """The value that a key gets in the very block in which the mapping was made, so that it surely gets it."""
    statement = module.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    same = module.parents.get(statement) is module.parents.get(binding.node)
    return statement.value if same and statement.lineno > getattr(binding.node, "lineno", 0) else None


# Attributes set from elsewhere


def is_set_elsewhere(evaluator: Evaluator, home: Module, name: str) -> bool:
    """Whether code that has to do with a module sets an attribute or key of that name on anything but ``self``."""
    find = lambda: _is_set_near(evaluator.project, home.path, name)  # noqa: E731 - it is short
    return evaluator.project.answer("is set elsewhere", (home.path, name), find, compared=True)


def _is_set_near(project: Project, home: Path, name: str) -> bool:
    reaches = project.graph.reaches
    return any(path == home or reaches(path, home) or reaches(home, path) for path in setters(project, name))


def setters(project: Project, name: str) -> tuple[Path, ...]:
    """The files that set an attribute or key of that name on anything but ``self``."""

    def find() -> tuple[Path, ...]:
        paths = project.where(WORD, name) if name.isidentifier() else project.containing(name.encode())
        return tuple(path for path in paths if _sets_in(project, path, name))

    return project.answer("files that set a name", name, find, compared=True)


def _sets_in(project: Project, path: Path, name: str) -> bool:
    """Whether a file does; its text must look like it, so that few are parsed."""

    def find() -> bool:
        module = project.module(path) if project.matches(path, _setting(name)) else None
        return module is not None and _sets(module, name)

    return project.answer("sets a name", (path, name), find, compared=True)


@cache
def _setting(name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    return re.compile(
        rb"(?:\.%s|[\"']%s[\"']\s*\])\s*(?::[^=\n]*|,[^\n]*)?[-+*/|]?=(?!=)|setattr\([^\n]*%s" % (word, word, word)
    )


def _sets(module: Module, name: str) -> bool:
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            if not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}):
                return True
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.slice, ast.Constant) and node.slice.value == name:
                return True
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr" and len(node.args) > 1:
            key = node.args[1]
            if isinstance(key, ast.Constant) and key.value == name:
                return True
    return False
