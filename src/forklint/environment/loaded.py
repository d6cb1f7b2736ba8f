"""What has certainly run before a statement: third-party modules loaded and calls made, through the project's imports.

It answers from the top of a module, as Python runs it. The module at hand is taken by itself, or another one that it
comes to import: what its own importers ran before it is not known here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

from forklint.environment.reading import Readers, Reads
from forklint.project.index import Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import Position, end_of, nodes_below, start_of
from forklint.project.scopes import FUNCTIONS, Function, bodies, statements
from forklint.runs.calls import by_anyone
from forklint.runs.programs import Program, Role, budget_for
from forklint.runs.walk import trace_of_function, trace_of_module

STEPS_PER_FILE = 20_000
"""Imports, calls and loaded modules that are looked at for one file, whatever is in it."""

END: Position = (sys.maxsize, 0)
"""Behind every statement."""


def before(project: Project, module: Module, statement: ast.stmt, number: int) -> list[Reads]:
    """Give what has certainly happened before a statement runs, in order, its own expressions included.

    It is one of a ``number`` of statements of the file of which that is asked.
    """
    functions = [node for node in module.above(statement) if isinstance(node, FUNCTIONS)][::-1]
    stop = first_use(project, module, outermost_definition(module, statement)) if functions else statement
    program = _come_to(project, module, stop, END if stop is None else _begins(stop, own=not functions), number)
    ends = [*map(start_of, functions[1:]), _begins(statement, own=True)]
    for function, end in zip(functions, ends, strict=False):
        facts = FunctionFacts(module, function)
        program.play(trace_of_function(Readers(project), facts, by_anyone(facts)), until=end)
    events = [event.within(module) for event in program.happened if isinstance(event, Reads)]
    return [event for event in events if event.loaded or event.calls]


def _begins(statement: ast.stmt, *, own: bool) -> Position:
    """Where a statement begins, or what follows its ``own`` expressions."""
    if not own:
        return start_of(statement)
    inner = next((body[0] for body in bodies(statement) if body), None)
    return start_of(inner) if inner is not None else end_of(statement)


def _come_to(project: Project, module: Module, stop: ast.stmt | None, end: Position, number: int) -> Program:
    """A program that has come to a statement: where that stands in the module's body, as the one whole run has."""
    if stop is None or module.parents.get(stop) is module.tree:
        whole = project.answer("whole runs", module, lambda: _run(project, module, END, 1))
        return whole.come_to(end, budget_for(project, module, number, STEPS_PER_FILE))
    return _run(project, module, end, number)


def _run(project: Project, module: Module, end: Position, number: int) -> Program:
    topic = Readers(project)
    program = Program(topic, budget_for(project, module, number, STEPS_PER_FILE), module, role=Role.PREFIX)
    program.play(trace_of_module(topic, module.path), until=end)
    return program


def program_before_import(project: Project, module: Module, path: Path, number: int) -> Program | None:
    """A program, one of a ``number``, that has come to the import of a file; None if it is not seen to get there."""
    topic = Readers(project)
    budget = budget_for(project, module, number, STEPS_PER_FILE)
    program = Program(topic, budget, module)
    program.goal = path
    program.play(trace_of_module(topic, module.path))
    return program if program.has_arrived else None


def outermost_definition(module: Module, node: ast.AST) -> Function | ast.ClassDef | None:
    """The module-level function or class that a node stands in, if any."""
    found = [above for above in module.above(node) if isinstance(above, (*FUNCTIONS, ast.ClassDef))]
    return found[-1] if found else None


def first_use(project: Project, module: Module, definition: Function | ast.ClassDef | None) -> ast.stmt | None:
    """The first top-level statement that may run code of a definition; None if only other modules can.

    A statement may do so if it mentions the name, or that of another definition that mentions it.
    """
    if definition is None:
        return None
    if definition.decorator_list:
        return definition
    index = project.answer("first uses", module, lambda: _first_uses(project, module)).get(definition.name)
    return None if index is None else module.tree.body[index]


def is_used_behind(
    project: Project, module: Module, definition: Function | ast.ClassDef | None, statement: ast.stmt
) -> bool:
    """Whether a top-level statement may run code of a definition that is, holds or stands behind one of the module."""
    if definition is None:
        return False
    if definition.decorator_list:
        return True
    last = project.answer("last uses", module, lambda: _last_uses(project, module)).get(definition.name)
    top = next((one for one in (statement, *module.above(statement)) if module.parents.get(one) is module.tree), None)
    return last is not None and (top is None or last >= module.tree.body.index(top))  # type: ignore[arg-type]


def is_run(project: Project, module: Module, statement: ast.stmt) -> bool:
    """Whether a module's own body runs a statement, or a definition that it stands in."""
    definition = outermost_definition(module, statement)
    return definition is None or first_use(project, module, definition) is not None


def leading_to(project: Project, module: Module) -> dict[str, frozenset[str]]:
    """For each name, the definitions of a module that mention it, or one another that does; "" is the top level."""
    return project.answer("definitions that lead to names", module, lambda: _find_leading(project, module))


def _find_leading(project: Project, module: Module) -> dict[str, frozenset[str]]:
    mentions = {**_mentions(project, module), "": {name for one in module.tree.body for name in _names_now(one)}}
    reached: dict[str, set[str]] = {}
    for definition, names in mentions.items():
        waiting, seen = list(names), set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                reached.setdefault(name, set()).add(definition)
                waiting += mentions.get(name, ())
    return {name: frozenset(definitions) for name, definitions in reached.items()}


def _mentions(project: Project, module: Module) -> dict[str, set[str]]:
    """The names that each function and class of a module mentions."""
    return project.answer("names that definitions mention", module, lambda: _find_mentions(module))


def _find_mentions(module: Module) -> dict[str, set[str]]:
    mentions: dict[str, set[str]] = {}
    for one in statements(module.tree.body):
        if isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            names = {node.id for node in nodes_below(one) if isinstance(node, ast.Name)}
            mentions.setdefault(one.name, set()).update(names)
    return mentions


def _first_uses(project: Project, module: Module) -> dict[str, int]:
    """For each name, the number of the first top-level statement that mentions it or leads to a mention of it."""
    return _uses(project, module, enumerate(module.tree.body))


def _last_uses(project: Project, module: Module) -> dict[str, int]:
    """The same for the last one."""
    return _uses(project, module, reversed(list(enumerate(module.tree.body))))


def _uses(project: Project, module: Module, numbered: Iterable[tuple[int, ast.stmt]]) -> dict[str, int]:
    """For each name, the number of the first of some statements that mentions it or leads to a mention of it."""
    mentions = _mentions(project, module)
    found: dict[str, int] = {}
    for index, statement in numbered:
        waiting = list(_names_now(statement))
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = index
                waiting += mentions.get(name, ())
    return found


def _names_now(statement: ast.stmt) -> set[str]:
    """Names that are read when a statement runs, as against when a function defined by it is called."""
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, FUNCTIONS):
            waiting += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return names
