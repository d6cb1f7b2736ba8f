"""Daft classes that load a torch model, and of which nobody has said where they run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge.daft import daft
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.records import dataclass

MAX_CALLS = 2
"""How many calls of the project's functions are followed into one another."""


@dataclass(frozen=True)
class Undecided:
    """Such a class."""

    facts: ClassFacts
    decorator: ast.expr
    name: str
    """The decorator's qualified name."""
    loads: ast.Call
    """What loads the model."""
    home: Module
    """Where that stands: a base may do it."""


def undecided(project: Project, module: Module) -> Iterator[Undecided]:
    """Find them in a module; silent where options are unpacked, or given elsewhere."""
    for facts in module.classes:
        for decorator in facts.node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            scope = facts.scope.parent or module.scope
            name = project.qualified(module, scope, call.func if call is not None else decorator)
            options = daft().classes.get(name)
            given = [keyword.arg for keyword in call.keywords] if call is not None else []
            if options is None or None in given or set(given) & set(options):
                continue
            loads = next(_loading(project, facts), None)
            if loads is not None and not _told_later(module, facts.name):
                yield Undecided(facts, decorator, name, loads[1], loads[0])


def _loading(project: Project, facts: ClassFacts) -> Iterator[tuple[Module, ast.Call]]:
    """The calls in a class, or its bases in the project, that load a torch model."""
    for owner in project.ancestry(facts).classes:
        yield from _within(project, owner.module, owner.node, MAX_CALLS)


def _within(project: Project, module: Module, root: ast.AST, calls: int) -> Iterator[tuple[Module, ast.Call]]:
    """Those below a node, and in functions and constructors of the project that are called there."""
    for node in nodes_below(root):
        if not isinstance(node, ast.Call):
            continue
        if _is_model(project, module, node):
            yield module, node
        elif calls:
            symbol = project.resolve(module, module.scope_at(node), node.func)
            init = project.method(symbol, "__init__") if isinstance(symbol, ClassFacts) else None
            called = FunctionFacts(init[0].module, init[1]) if init is not None else symbol
            if isinstance(called, FunctionFacts) and called.node is not root:
                yield from _within(project, called.module, called.node, calls - 1)


def _is_model(project: Project, module: Module, call: ast.Call) -> bool:
    known = daft()
    if isinstance(call.func, ast.Attribute) and call.func.attr in known.loaders:
        owner = project.resolve(module, module.scope_at(call), call.func.value)
        if isinstance(owner, ClassFacts):
            return bool(known.bases & set(project.ancestry(owner).external))
    symbol = project.resolve(module, module.scope_at(call), call.func)
    if isinstance(symbol, ClassFacts):
        return bool(known.bases & set(project.ancestry(symbol).external))
    if not isinstance(symbol, External):
        return False
    name = symbol.name
    if name in known.calls or name.startswith(known.prefixes):
        return True
    is_pretrained = name.endswith(".from_pretrained") and name.startswith(known.pretrained)
    return is_pretrained and not any(word in name for word in known.others)


def _told_later(module: Module, name: str) -> bool:
    """Whether options are given by a method: ``Encoder.with_concurrency(2)``, ``.run_on_process(False)``."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in {"with_concurrency", "with_init_args", "run_on_process", "override_options"}
        and name in ast.unparse(node.value)
        for node in module.nodes
    )
