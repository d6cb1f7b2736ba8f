"""What a worker process reaches in a dataset."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from forklint.knowledge.datasets import entries
from forklint.project.constructors import CONSTRUCTORS
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function
from forklint.project.spelling import first_parameter, is_name

NOT_IN_WORKERS = frozenset({*CONSTRUCTORS, "__len__", "__del__", "__getstate__", "close", "__repr__"})

MAX_CALLS = 3
"""So many calls deep the project's functions are followed from what workers run."""
MOST_FUNCTIONS = 500
"""So many functions are followed, for each number of calls."""

Code = Function | ast.Lambda
Run = tuple[Module, Code]
"""A function that is run, and its module."""

INIT_PATH = (*CONSTRUCTORS, "__len__")
"""What has run in the parent by the time workers start: a sampler has asked for the length."""


def worker_methods(project: Project, facts: ClassFacts) -> dict[Function, ClassFacts]:
    """The methods that a worker process reaches in an object of this class, each with the class that defines it.

    From ``__getitem__`` and its like, through calls of and references to the object's other methods. If the
    project defines none of these entries (a base class elsewhere does), all methods but ``__init__`` count.
    """
    if not any(project.method(facts, name) for name in entries()):
        owners = project.ancestry(facts).classes
        return {
            f: owner for owner in reversed(owners) for name, f in owner.methods.items() if name not in NOT_IN_WORKERS
        }
    return reached_from(project, facts, entries())


def reached_from(project: Project, facts: ClassFacts, names: Iterable[str]) -> dict[Function, ClassFacts]:
    """Some methods of an object and those that they call or refer to, each with the class that defines it."""
    waiting = [found for name in names if (found := project.method(facts, name))]
    reached: dict[Function, ClassFacts] = {}
    while waiting:
        owner, function = waiting.pop()
        if function in reached:
            continue
        reached[function] = owner
        for name in sorted(attributes_read(function)):
            found = project.method(facts, name)
            if found is not None and name != "__init__":
                waiting.append(found)
    return reached


def with_called(project: Project, code: Iterable[Run], enters: Callable[[Run], bool]) -> Iterator[Run]:
    """Give some code of the project, and the functions that it calls by name, unless it is not to be entered."""
    waiting, seen = list(code), set[ast.AST]()
    for _ in range(1 + MAX_CALLS):
        new = [one for one in dict.fromkeys(waiting) if one[1] not in seen][:MOST_FUNCTIONS]
        seen.update(function for _, function in new)
        yield from new
        waiting = [called for one in new if enters(one) for called in _called(project, *one)]


def _called(project: Project, module: Module, code: Code) -> tuple[Run, ...]:
    """The functions of the project that some code calls by name."""

    def find() -> tuple[Run, ...]:
        calls = (node for node in nodes_below(code) if isinstance(node, ast.Call))
        called = (project.resolve(module, module.scope_at(call), call.func) for call in calls)
        return tuple((one.module, one.node) for one in called if isinstance(one, FunctionFacts))

    return project.answer("functions called by name", code, find)


def attributes_read(function: Function) -> frozenset[str]:
    """Names of the attributes that a method reads from its object (``self``)."""
    return frozenset(node.attr for node in attribute_nodes(function))


def attribute_nodes(function: Function) -> Iterator[ast.Attribute]:
    """Give the places where a method reads an attribute of its object."""
    own = first_parameter(function)
    for node in nodes_below(function) if own else ():
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and node.value.id == own
        ):
            yield node


def init_path(project: Project, facts: ClassFacts) -> Iterator[FunctionFacts]:
    """Give the methods that may run while an object is built and its length is read."""
    return reached_methods(project, facts, INIT_PATH)


def reached_methods(project: Project, facts: ClassFacts, first: tuple[str, ...]) -> Iterator[FunctionFacts]:
    """Give the methods that may run when some methods of an object do."""
    names, seen = list(first), set(first)
    owners = project.ancestry(facts).classes
    while names:
        name = names.pop()
        for owner in owners:
            function = owner.methods.get(name)
            if function is not None:
                yield FunctionFacts(owner.module, function)
                read = project.answer("attributes that are read", function, partial(_methods_read, function))
                new = read - seen
                seen |= new
                names += new


def _methods_read(function: Function) -> frozenset[str]:
    """The attributes that a method reads from its object; ``self[0]`` reads ``__getitem__``."""
    me = first_parameter(function)
    indexes = any(isinstance(node, ast.Subscript) and is_name(node.value, me) for node in nodes_below(function))
    return attributes_read(function) | ({"__getitem__"} if indexes else set())
