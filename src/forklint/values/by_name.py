"""What is looked up by a name that is known only while the program runs, in a module, a class, an object or a package.

``transforms.__dict__[name]``, ``globals()[name]``, ``getattr(self, f"make_{name}")()``,
``import_module(f"models.{name}")``: what any of the names there leads to may be meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.spelling import argument
from forklint.values import calls, command_line
from forklint.values.model import (
    NOTHING,
    UNKNOWN,
    Constant,
    Expression,
    Found,
    Instance,
    Made,
    Ref,
    Text,
    Value,
    agreed,
    perhaps,
)

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

MOST_NAMES = 16
"""So many functions or modules are looked at; of more it is not said which may be meant."""
IMPORT = "builtins.__import__"
GETATTR = "builtins.getattr"
MODULES = "sys.modules"
OWN_NAME = "__name__"
NAMES = "__dict__"
GLOBALS, VARS = "builtins.globals", "builtins.vars"
TABLES_OF_NAMES = frozenset({GLOBALS, VARS})
STATIC = frozenset({"staticmethod", "classmethod"})


def own_module(evaluator: Evaluator, source: Expression, item: ast.Subscript) -> Found:
    """The module that ``sys.modules[__name__]`` is, where it stands; NOTHING for an item of anything else."""
    holder = evaluator.project.qualified(source.module, source.scope, item.value)
    return Found(Ref(source.module)) if holder == MODULES else NOTHING


def table_of_names(evaluator: Evaluator, call: Expression, function: str, given: Expression | None) -> Found:
    """What holds the names that ``globals()`` and ``vars(args)`` give: a module, or options; else what is made."""
    found = Found(Ref(call.module)) if function == GLOBALS else evaluator.find(given) if given is not None else NOTHING
    has_names = isinstance(found.value, Ref) or command_line.is_parsed(found.value)
    return found if has_names else Found(Made(function, call))


def of_any_method(evaluator: Evaluator, source: Expression) -> Found:
    """What ``getattr(object, name)(...)`` gives, where any method of the object whose name fits may be called."""
    looked_up = source.part(source.node.func)  # type: ignore[attr-defined]
    return perhaps(calls.returned(evaluator, one, source, owner) for one, owner in methods_meant(evaluator, looked_up))


def methods_meant(evaluator: Evaluator, looked_up: Expression) -> list[tuple[FunctionFacts, Instance]]:
    """The methods that ``getattr(object, name)`` may give, each with its object."""
    node = looked_up.node
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return []
    if calls.qualified(evaluator, looked_up.part(node.func)) != GETATTR:
        return []
    owner, name = (evaluator.find(looked_up.part(one)) for one in node.args[:2])
    if not isinstance(owner.value, Instance):
        return []
    methods = [*_fitting(owner.value, name.value)]
    return [(one, owner.value) for one in methods] if len(methods) <= MOST_NAMES else []


def of_class(owner: ClassFacts, name: Value) -> Found:
    """What ``getattr(Class, name)`` gives, where any of its functions that need no object may be meant."""
    methods = [one for one in _fitting(Ref(owner), name) if _is_static(one)]
    return perhaps(Found(Ref(one)) for one in methods) if len(methods) <= MOST_NAMES else NOTHING


def _fitting(owner: Value, name: Value) -> Iterator[FunctionFacts]:
    """Give the methods of an object's class, or of a class, that a name may mean, of which a part may be known."""
    facts = owner.facts if isinstance(owner, Instance) else owner.symbol if isinstance(owner, Ref) else None
    start = name.start if isinstance(name, Text) else ""
    for each, method in facts.methods.items() if isinstance(facts, ClassFacts) else ():
        is_meant = each == name.value if isinstance(name, Constant) else each.startswith(start)
        if is_meant and not each.startswith("__"):
            yield FunctionFacts(facts.module, method)  # type: ignore[union-attr]


def _is_static(function: FunctionFacts) -> bool:
    marks = {mark.id for mark in function.node.decorator_list if isinstance(mark, ast.Name)}
    return not STATIC.isdisjoint(marks)


def imported(evaluator: Evaluator, source: Expression, function: str) -> Found:
    """The modules that ``importlib.import_module(name, package)`` and ``__import__(name, fromlist=...)`` may give."""
    node = source.node
    given = argument(node, "name", 0)  # type: ignore[arg-type]
    name = evaluator.find(source.part(given)).value if given is not None else UNKNOWN
    if function == IMPORT and argument(node, "fromlist", 3) is None:  # type: ignore[arg-type]
        return NOTHING
    text = _absolute(evaluator, source, name)
    if text is None:
        return NOTHING
    project = evaluator.project
    if isinstance(name, Constant):
        path = project.resolver.find(source.module.path, text)
        module = project.module(path) if path is not None else None
        return Found(Ref(module)) if module is not None else Found(Made(function, source))
    above, _, start = text.rpartition(".")
    paths = project.resolver.modules_of(source.module.path, above, start) if above else []
    found = map(project.module, paths) if len(paths) <= MOST_NAMES else ()
    return agreed(Found(Ref(one)) for one in found if one is not None)


def _absolute(evaluator: Evaluator, source: Expression, name: Value) -> str | None:
    """The name of a module, or how it begins, from the top; None where that is not known."""
    text = name.start if isinstance(name, Text) else name.value if isinstance(name, Constant) else None
    if not isinstance(text, str) or not text.startswith("."):
        return text if isinstance(text, str) else None
    given = argument(source.node, "package", 1)  # type: ignore[arg-type]
    found = evaluator.find(source.part(given)).value if given is not None else UNKNOWN
    package = found.value if isinstance(found, Constant) else None
    return package + text if isinstance(package, str) and not text.startswith("..") else None
