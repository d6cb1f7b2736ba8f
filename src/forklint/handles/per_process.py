"""Whether a key tells one process from another: a worker's id, a process id."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from forklint.project.nodes import nodes_below
from forklint.project.scopes import Scope
from forklint.project.spelling import last_name

PROCESS_CALLS = frozenset({"getpid", "get_worker_info", "current_process"})


def tells_process(scope: Scope, key: ast.expr) -> bool:
    """Whether no two processes use the same key: ``os.getpid()``, or a worker's id that is None or -1 elsewhere.

    Where it is a number from zero on outside of workers, one worker has the key of the process that starts it.
    """
    return bool(_tells(scope, key, frozenset()))


def _tells(scope: Scope, key: ast.expr, seen: frozenset[str]) -> bool | None:
    """The same; None for a constant that no worker has for an id, and for a name that is being looked at."""
    if isinstance(key, ast.Constant):
        is_number = isinstance(key.value, int) and not isinstance(key.value, bool)
        return False if is_number else None
    if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub):
        return None
    if isinstance(key, ast.IfExp):
        return _all(_tells(scope, arm, seen) for arm in (key.body, key.orelse))
    nodes = list(nodes_below(key))
    if any(last_name(node) in PROCESS_CALLS for node in nodes):
        return True
    named = [_named(scope, node.id, seen) for node in nodes if isinstance(node, ast.Name)]
    return any(named) if any(named) or None not in named else None


def _named(scope: Scope, name: str, seen: frozenset[str]) -> bool | None:
    """The same for what a name is given, wherever it is bound."""
    home, bindings = scope.find(name) or (scope, [])
    if name in seen:
        return None
    values = [binding.value for binding in bindings]
    if None in values:
        return False
    return _all(_tells(home, value, seen | {name}) for value in values if value is not None)


def _all(told: Iterable[bool | None]) -> bool | None:
    known = [one for one in told if one is not None]
    return all(known) if known else None
