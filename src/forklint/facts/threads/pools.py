"""Where a thread pool is given tasks, and with which function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from forklint.knowledge.starters import iteration
from forklint.knowledge.threads import threads
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Scope
from forklint.project.spelling import last_name
from forklint.records import dataclass

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Tasks:
    """A call that hands tasks to a pool of several threads."""

    module: Module
    call: ast.Call
    function: Function | ast.Lambda
    given: Mapping[str, ast.expr]
    """Parameters of the function that are the same in all tasks, with what they are."""
    owner: ClassFacts | None
    """The class whose method it is, called on ``self``."""
    by_processors: bool
    """Whether the pool has as many threads as the machine has processors."""


def tasks_in(project: Project, module: Module) -> Iterator[Tasks]:
    """Find them in a module; silent where the pool, its function or its size is not plain."""
    known = threads()
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        if last_name(node.func) in known.function_names and _is_threads(project, module, node):
            yield from _task(project, module, node, by_processors=_size(node, positional=False) is None)
            continue
        if not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        if method in known.many or (method in known.one and _repeats(module, node)):
            pool = _pool(project, module, node.func.value)
            size = _size(pool) if pool is not None else None
            if pool is not None and not (isinstance(size, ast.Constant) and size.value == 1):
                yield from _task(project, module, node, _is_by_processors(project, module, pool, size))


def _is_threads(project: Project, module: Module, call: ast.Call) -> bool:
    """Whether a call makes a pool of threads for its own tasks."""
    return project.qualified(module, module.scope_at(call), call.func) in threads().functions


def _repeats(module: Module, node: ast.AST) -> bool:
    """Whether a call stands in a loop."""
    return any(isinstance(above, LOOPS) for above in module.above(node))


def _pool(project: Project, module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes the pool: the expression itself, what a name is bound to, or what ``with`` gives it."""
    if isinstance(node, ast.Call):
        name = project.qualified(module, module.scope_at(node), node.func)
        return node if name in threads().pools else None
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
        return _kept_pool(project, module, node)
    if not isinstance(node, ast.Name):
        return None
    found = module.scope_at(node).find(node.id)
    if found is None:
        return None
    made = [_bound(node.id, binding.node, binding.value) for binding in found[1]]
    pools = [_pool(project, module, one) for one in made if isinstance(one, ast.Call)]
    return pools[0] if len(pools) == len(made) else None


def _kept_pool(project: Project, module: Module, node: ast.Attribute) -> ast.Call | None:
    """The call that makes the pool on ``self``, if one statement of the class stores it."""
    owner = _around(module, node)
    stores = [
        one
        for one in (nodes_below(owner.node) if owner is not None else ())
        if isinstance(one, ast.Attribute) and one.attr == node.attr and isinstance(one.ctx, ast.Store)
    ]
    statement = module.parents[stores[0]] if len(stores) == 1 else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    return _pool(project, module, value) if isinstance(value, ast.Call) else None


def _bound(name: str, statement: ast.AST, value: ast.expr | None) -> ast.expr | None:
    for item in getattr(statement, "items", ()):
        if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
            return item.context_expr  # type: ignore[no-any-return]
    return value


def _size(pool: ast.Call, *, positional: bool = True) -> ast.expr | None:
    named = next((keyword.value for keyword in pool.keywords if keyword.arg in threads().sizes), None)
    return named or (pool.args[0] if pool.args and positional else None)


def _is_by_processors(project: Project, module: Module, pool: ast.Call, size: ast.expr | None) -> bool:
    if size is None:
        return True
    scope = module.scope_at(pool)
    calls = (node for node in nodes_below(size) if isinstance(node, ast.Call))
    return any(project.qualified(module, scope, call.func) in iteration().positive_counts for call in calls)


def _task(project: Project, module: Module, call: ast.Call, by_processors: bool) -> Iterator[Tasks]:  # noqa: FBT001 - a fact
    scope = module.scope_at(call)
    target, given = call.args[0], dict[str, ast.expr]()
    bound = list(call.args[1:]) if getattr(call.func, "attr", "") == "submit" else []
    partial = target if isinstance(target, ast.Call) and target.args else None
    if partial is not None and project.qualified(module, scope, partial.func) == "functools.partial":
        given = {keyword.arg: keyword.value for keyword in partial.keywords if keyword.arg}
        target, bound = partial.args[0], list(partial.args[1:])
    if isinstance(target, ast.Lambda):
        yield Tasks(module, call, target, {}, _around(module, call), by_processors)
        return
    function, owner = _function(project, module, scope, target)
    if function is None or function.module is not module:
        return
    names = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
    names = names[1:] if owner is not None else names
    given.update(zip(names, bound, strict=False))
    yield Tasks(module, call, function.node, given, owner or _around(module, function.node), by_processors)


def _function(
    project: Project, module: Module, scope: Scope, node: ast.expr
) -> tuple[FunctionFacts | None, ClassFacts | None]:
    symbol = project.resolve(module, scope, node)
    if isinstance(symbol, FunctionFacts):
        return symbol, None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        owner = _around(module, node)
        found = project.method(owner, node.attr) if owner is not None else None
        if owner is not None and found is not None:
            return FunctionFacts(found[0].module, found[1]), owner
    return None, None


def _around(module: Module, node: ast.AST) -> ClassFacts | None:
    """The class in whose method a node stands."""
    above = next((above for above in module.above(node) if isinstance(above, ast.ClassDef)), None)
    return module.class_facts(above) if above is not None else None
