"""Where a thread pool is given tasks, and with which function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from forklint.knowledge.starters import iteration
from forklint.knowledge.threads import threads
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, parameters
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.runs.calls import callees
from forklint.values.evaluator import Evaluator
from forklint.values.model import Arguments, Expression, Made
from forklint.values.parameters import position

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
    known, evaluator = threads(), Evaluator(project)
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        if last_name(node.func) in known.function_names and _is_threads(project, module, node):
            yield from _task(evaluator, module, node, by_processors=_size(node, positional=False) is None)
            continue
        if not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        if method in known.many or (method in known.one and _repeats(module, node)):
            pool = _pool(evaluator, module, node.func.value)
            size = _size(pool) if pool is not None else None
            if pool is not None and not (isinstance(size, ast.Constant) and size.value == 1):
                yield from _task(evaluator, module, node, _is_by_processors(project, module, pool, size))


def _is_threads(project: Project, module: Module, call: ast.Call) -> bool:
    """Whether a call makes a pool of threads for its own tasks."""
    return project.qualified(module, module.scope_at(call), call.func) in threads().functions


def _repeats(module: Module, node: ast.AST) -> bool:
    """Whether a call stands in a loop."""
    return any(isinstance(above, LOOPS) for above in module.above(node))


def _pool(evaluator: Evaluator, module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes the pool that an expression surely is."""
    found = evaluator.find(Expression(module, module.scope_at(node), node))
    made = [one.value for one in found.possible]
    pools = [one.call.node for one in made if isinstance(one, Made) and one.name in threads().pools]
    first = pools[0] if pools and len(pools) == len(made) else None
    return first if isinstance(first, ast.Call) and (found.known or found.is_all) else None


def _size(pool: ast.Call, *, positional: bool = True) -> ast.expr | None:
    named = next((keyword.value for keyword in pool.keywords if keyword.arg in threads().sizes), None)
    return named or (pool.args[0] if pool.args and positional else None)


def _is_by_processors(project: Project, module: Module, pool: ast.Call, size: ast.expr | None) -> bool:
    if size is None:
        return True
    scope = module.scope_at(pool)
    calls = (node for node in nodes_below(size) if isinstance(node, ast.Call))
    return any(project.qualified(module, scope, call.func) in iteration().positive_counts for call in calls)


def _task(evaluator: Evaluator, module: Module, call: ast.Call, by_processors: bool) -> Iterator[Tasks]:  # noqa: FBT001 - a fact
    target = Expression(module, module.scope_at(call), call.args[0])
    if isinstance(target.node, ast.Lambda):
        yield Tasks(module, call, target.node, {}, _around(module, call), by_processors)
        return
    found = list(callees(evaluator, target, evaluator.project.resolve(module, target.scope, target.node)))
    if len(found) != 1 or found[0][0][0].module is not module:
        return
    (function, receiver), kept = found[0]
    bound = call.args[1:] if getattr(call.func, "attr", "") == "submit" else []
    whole = kept.then(Arguments(tuple(map(target.part, bound))))
    names = [one.arg for one in parameters(function.node)]
    sources = {name: whole.get(name, position(function, name)) for name in names}
    given = {name: one.node for name, one in sources.items() if isinstance(one, Expression)}
    owner = receiver.facts if receiver is not None else _around(module, function.node)
    yield Tasks(module, call, function.node, given, owner, by_processors)


def _around(module: Module, node: ast.AST) -> ClassFacts | None:
    """The class in whose method a node stands."""
    above = next((above for above in module.above(node) if isinstance(above, ast.ClassDef)), None)
    return module.class_facts(above) if above is not None else None
