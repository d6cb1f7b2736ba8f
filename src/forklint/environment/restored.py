"""Which variables are put back as they were, so that they are set for what runs in between, or told to their reader."""

from __future__ import annotations

import ast

from forklint.environment.settings import ENVIRON, Setting, is_environ
from forklint.project.index import External, Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import FUNCTIONS, Scope
from forklint.project.spelling import text_of

EVERYTHING = ""
"""Stands for every variable at once."""
REMOVERS = frozenset({"pop", "unsetenv"})


def is_put_back(project: Project, module: Module, setting: Setting, home: ast.AST) -> bool:
    """Whether a statement restores what was read before, or its function (the module) restores it afterwards."""
    scope = module.scope_at(setting.statement)
    if isinstance(setting.value, ast.Name):
        symbol = project.lookup(module, scope, setting.value.id)
        value = symbol.binding.value if isinstance(symbol, Value) else None
        if isinstance(symbol, Value) and value is not None and _reads(project, module, symbol.scope, value):
            return _variable_read(value) in {"", setting.name}
    removed = project.answer("variables removed", home, lambda: _removed(project, module, home))
    ways = (*removed.get(setting.name, ()), *removed.get(EVERYTHING, ()))
    is_later = any(start_of(node) > start_of(setting.statement) for node in ways)
    return is_later or _is_patched(project, module, setting.statement)


def is_told_as_well(project: Project, module: Module, setting: Setting) -> bool:
    """Whether the same function, or top level, sets what a library has read as well: ``constants.HF_HOME = folder``."""
    scope = module.scope_at(setting.statement)
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and module.scope_at(node) is scope
        and isinstance(project.resolve(module, scope, node.value), External)
        for node in module.uses(setting.name)
    )


def _removed(project: Project, module: Module, home: ast.AST) -> dict[str, list[ast.Delete | ast.Call]]:
    """For each variable, the nodes below a node that remove it, or put everything back; not their rows, which move."""
    found: dict[str, list[ast.Delete | ast.Call]] = {}
    for node in nodes_below(home):
        if isinstance(node, (ast.Delete, ast.Call)):
            for name in _names_removed(project, module, node):
                found.setdefault(name, []).append(node)
    return found


def _names_removed(project: Project, module: Module, node: ast.Delete | ast.Call) -> list[str]:
    if isinstance(node, ast.Delete):
        targets = [target for target in node.targets if isinstance(target, ast.Subscript)]
        texts = [(target, text_of(target.slice)) for target in targets]
        return [text for target, text in texts if text and _is_environ(project, module, target.value)]
    if not isinstance(node.func, ast.Attribute):
        return []
    if node.func.attr in REMOVERS and node.args:
        text = text_of(node.args[0])
        return [text] if text else []
    is_whole = node.func.attr == "clear" or (node.func.attr == "update" and _is_copy(project, module, node))
    return [EVERYTHING] if is_whole and _is_environ(project, module, node.func.value) else []


def _is_copy(project: Project, module: Module, update: ast.Call) -> bool:
    """Whether ``os.environ.update`` is given what was copied from the environment."""
    argument = update.args[0] if len(update.args) == 1 else None
    if not isinstance(argument, ast.Name):
        return False
    symbol = project.lookup(module, module.scope_at(update), argument.id)
    value = symbol.binding.value if isinstance(symbol, Value) else None
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
        return _is_environ(project, module, value.func.value)
    is_call = isinstance(value.func, ast.Name) and value.func.id in {"dict", "deepcopy", "copy"}
    return is_call and bool(value.args) and _is_environ(project, module, value.args[0])


def _is_patched(project: Project, module: Module, statement: ast.stmt) -> bool:
    """Whether a statement runs inside ``mock.patch.dict(os.environ)``, as a block or as a decorator."""
    for above in module.above(statement):
        if isinstance(above, (ast.With, ast.AsyncWith)):
            patches = [item.context_expr for item in above.items]
        elif isinstance(above, (*FUNCTIONS, ast.ClassDef)):
            patches = above.decorator_list
        else:
            continue
        if any(_patches(project, module, patch) for patch in patches):
            return True
    return False


def _patches(project: Project, module: Module, patch: ast.expr) -> bool:
    is_call = isinstance(patch, ast.Call) and isinstance(patch.func, ast.Attribute) and patch.func.attr == "dict"
    if not isinstance(patch, ast.Call) or not is_call or not patch.args:
        return False
    return text_of(patch.args[0]) == ENVIRON or _is_environ(project, module, patch.args[0])


def _reads(project: Project, module: Module, scope: Scope, expression: ast.expr) -> bool:
    """Whether an expression is one variable, read from the environment."""
    if isinstance(expression, ast.Subscript):
        return is_environ(project, module, scope, expression.value)
    if not isinstance(expression, ast.Call):
        return False
    owner = expression.func.value if isinstance(expression.func, ast.Attribute) else None
    if owner is not None and is_environ(project, module, scope, owner):
        return True
    return project.qualified(module, scope, expression.func) == "os.getenv"


def _variable_read(expression: ast.expr) -> str:
    """The variable that such an expression reads; empty if its name is not written out."""
    if isinstance(expression, ast.Subscript):
        return text_of(expression.slice)
    return text_of(expression.args[0]) if isinstance(expression, ast.Call) and expression.args else ""


def _is_environ(project: Project, module: Module, expression: ast.expr) -> bool:
    return is_environ(project, module, module.scope_at(expression), expression)
