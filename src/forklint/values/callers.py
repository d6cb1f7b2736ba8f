"""Who calls a function of the project, and with what: by its name, its class's, or from a file with ``_target_``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project.constructors import CONSTRUCTORS
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import is_static, takes_class
from forklint.project.trials import is_test_file
from forklint.records import dataclass
from forklint.summaries.terms import WORD
from forklint.values import arguments, files, registering
from forklint.values.model import Arguments, Constant, Expression, Instance, Made, Row, Table, Value

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol
    from forklint.values.evaluator import Evaluator


@dataclass(frozen=True)
class Callers:
    """The calls of one function."""

    calls: tuple[Arguments, ...]
    """What each gives, without the object that a method is called on."""
    escapes: bool
    """Whether the function is handed to something else, which may call it with anything."""
    by_default: bool = False
    """Whether it is handed to what calls it with its defaults unless the command line says otherwise."""


HANDED_ON = Callers((), escapes=True)
MOST_MODULES = 50
"""In so many modules a name is looked for; one that stands in more is too common to tell who is meant."""
MOST_CALLS = 30
"""So many calls of one function are compared; one with more, or in a class that more inherit from, is for many uses."""


@dataclass(frozen=True)
class _Target:
    """The function and the names under which it may be called."""

    function: FunctionFacts
    words: frozenset[str]
    is_constructor: bool
    heirs: tuple[ClassFacts, ...]
    """The classes that inherit it: as many as are compared, and one more if there are more."""


def of(evaluator: Evaluator, function: FunctionFacts) -> Callers:
    """Find the calls of a function in the whole project."""

    def find() -> Callers:
        decorated = registering.of_decorator(evaluator, function)
        if decorated:
            return Callers(decorated, escapes=False)
        is_known = _paths(evaluator.project, _own_name(function), _home(function)) is not None
        if not is_known:  # that is told before anything is asked of subclasses
            return HANDED_ON
        target = _target(evaluator.project, function)
        return _find(evaluator, target) if len(target.heirs) <= MOST_CALLS else HANDED_ON

    return evaluator.gather("who calls a function", function.node, find, HANDED_ON, searches=1)


def _own_name(function: FunctionFacts) -> str:
    """The name under which a function is called; of a constructor, that of its class."""
    owner, name = function.owner, function.node.name
    return owner.name if owner is not None and name in CONSTRUCTORS else name


def _target(project: Project, function: FunctionFacts) -> _Target:
    owner, word = function.owner, _own_name(function)
    heirs = tuple(islice(project.subclasses(owner), MOST_CALLS + 1)) if owner is not None else ()
    if owner is None or function.node.name not in CONSTRUCTORS:
        return _Target(function, frozenset({word}), is_constructor=False, heirs=heirs)
    made = (heir.name for heir in heirs if project.method(heir, "__init__") == (owner, function.node))
    return _Target(function, frozenset({word, *made}), is_constructor=True, heirs=heirs)


def _find(evaluator: Evaluator, target: _Target) -> Callers:
    mentions = _mentions(evaluator.project, target.words, _home(target.function))
    if mentions is None:
        return HANDED_ON
    calls: list[Arguments] = []
    default, is_own_test = False, is_test_file(target.function.module.path)
    for module, name in mentions:
        in_tests = is_test_file(module.path)
        reads = [node for node in module.reads(name) if _is_it(evaluator, module, node, target)]
        for node in reads:
            above = module.parents.get(node)
            alias = _alias(evaluator.project, module, above, node)
            if alias is not None:
                reads += [one for one in module.reads(alias) if isinstance(one, ast.Name) and one not in reads]
            elif registering.is_decorator(above, node):
                calls.append(registering.decorated(module, above))
            elif isinstance(above, ast.Call) and above.func is node:
                calls.append(_given(evaluator, module, above, target))
            elif _is_entry(evaluator.project, module, node):
                default = True
            elif (is_own_test or not in_tests) and _is_handed_on(evaluator.project, module, node):
                return HANDED_ON
            if len(calls) > MOST_CALLS:
                return HANDED_ON
    calls += _from_subclasses(evaluator, target)
    if target.is_constructor:
        calls += files.targets(evaluator, target.words)
    return Callers(tuple(calls), escapes=False, by_default=default)


def _home(function: FunctionFacts) -> Path | None:
    """The file that a function is called in or imported from; None for a method: it is called where its object is."""
    is_named = function.owner is None or function.node.name in CONSTRUCTORS
    return function.module.path if is_named else None


def _mentions(project: Project, words: frozenset[str], home: Path | None) -> list[tuple[Module, str]] | None:
    """The modules that read one of the names, with the name that it has there; None if they may be too many."""
    found: list[tuple[Module, str]] = []
    for word in words:
        paths = _paths(project, word, home)
        if paths is None:
            return None
        aliases = dict.fromkeys(alias for path in paths for alias in _aliases(project, path, word))
        found += _reading(project, paths, word)
        for alias in aliases:
            found += _reading(project, _paths(project, alias, None) or (), alias)
    return found


def _paths(project: Project, word: str, home: Path | None) -> tuple[Path, ...] | None:
    """The files in which a name stands as a whole word; None if they are too many.

    What stands in a script that nobody imports, such as its ``main``, is named there alone, as often as others have it.
    """
    found = project.where(WORD, word)
    if len(found) > MOST_MODULES and home in found and not project.graph.is_imported(home):
        return (home,)
    return found if len(found) <= MOST_MODULES else None


def _reading(project: Project, paths: Iterable[Path], name: str) -> Iterator[tuple[Module, str]]:
    """Give those of the files that read a name, as modules: a word of a comment loads none."""
    for path in paths:
        module = project.module(path) if project.reads(path, name) else None
        if module is not None:
            yield module, name


def _aliases(project: Project, path: Path, word: str) -> Iterator[str]:
    """Give the other names under which a file imports something."""
    return (one.alias for one in project.imports(path) if one.attribute == word != one.alias)


def _is_it(evaluator: Evaluator, module: Module, node: ast.expr, target: _Target) -> bool:
    project = evaluator.project
    symbol = _symbol(project, module, node)
    if isinstance(symbol, FunctionFacts):
        return symbol.node is target.function.node
    if isinstance(symbol, ClassFacts):
        found = project.method(symbol, target.function.node.name) if target.is_constructor else None
        return found is not None and found[1] is target.function.node
    if symbol is not None or not isinstance(node, ast.Attribute) or target.is_constructor or not target.function.owner:
        return False
    if not evaluator.sorts_out:
        return True
    owner = evaluator.plain.find(Expression(module, module.scope_at(node), node.value))
    is_whole = owner.known or owner.is_all
    return not is_whole or any(_may_have(project, one.value, target.function) for one in owner.possible)


def _may_have(project: Project, value: Value, method: FunctionFacts) -> bool:
    """Whether a method may be that of an object: one of another class has another."""
    if isinstance(value, Instance):
        found = project.method(value.facts, method.node.name)
        if found is None or found[1] is method.node:
            return True
        above = project.ancestry(method.owner).classes[1:] if method.owner is not None else ()
        return value.made is None and value.facts in above
    return not isinstance(value, (Made, Constant, Table, Row))


def _symbol(project: Project, module: Module, node: ast.expr) -> Symbol | None:
    return project.resolve(module, module.scope_at(node), node)


def _given(evaluator: Evaluator, module: Module, call: ast.Call, target: _Target) -> Arguments:
    given = arguments.of_call(evaluator, Expression(module, module.scope_at(call), call))
    called, owner = target.function.node, target.function.owner
    is_method = owner is not None and not (target.is_constructor or is_static(called) or takes_class(called))
    unbound = is_method and isinstance(call.func, ast.Attribute)
    if unbound and isinstance(_symbol(evaluator.project, module, call.func.value), ClassFacts):  # type: ignore[attr-defined]
        return given.without_first
    return given


def _from_subclasses(evaluator: Evaluator, target: _Target) -> list[Arguments]:
    """What subclasses hand on with ``super().__init__(...)`` or ``Base.__init__(self, ...)``."""
    found = []
    for heir in target.heirs:
        for method in heir.methods.values() if target.function.node.name in heir.methods else ():
            scope = heir.module.scope_of[method]
            found += [
                handed_up(evaluator, Expression(heir.module, scope, call))
                for call in nodes_below(method)
                if isinstance(call, ast.Call) and is_super_call(call, target.function.node.name)
            ]
    return found


def is_super_call(call: ast.Call, method: str = "__init__") -> bool:
    """Whether a call is ``super().method(...)`` or ``Base.method(self, ...)``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != method:
        return False
    above = call.func.value
    if isinstance(above, ast.Call):
        return getattr(above.func, "id", "") == "super"
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == "self"


def handed_up(evaluator: Evaluator, call: Expression) -> Arguments:
    """What a call as of ``is_super_call`` gives, without the object."""
    given = arguments.of_call(evaluator, call)
    func = call.node.func  # type: ignore[attr-defined]
    return given if isinstance(func.value, ast.Call) else given.without_first


def _alias(project: Project, module: Module, above: ast.AST | None, node: ast.AST) -> str | None:
    """The other name that an assignment gives to what a name means, in a script that nobody imports."""
    if not isinstance(above, ast.Assign) or above.value is not node or len(above.targets) != 1:
        return None
    target = above.targets[0]
    return target.id if isinstance(target, ast.Name) and not project.graph.is_imported(module.path) else None


# Where a function is named and not called


def _is_entry(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether a function is given to what calls it with its defaults, such as ``fire.Fire``."""
    return _called_with(project, module, node) in listed("objects", "entry")


def _is_handed_on(project: Project, module: Module, node: ast.expr) -> bool:
    above = module.parents.get(node)
    if isinstance(above, ast.Call):
        return _called_with(project, module, node) not in listed("objects", "harmless")
    if isinstance(above, ast.keyword):
        return True
    if isinstance(above, (ast.Assign, ast.Return, ast.Dict, ast.Tuple, ast.List, ast.IfExp)):
        return not any(isinstance(up, (ast.arg, ast.ExceptHandler, ast.Subscript)) for up in module.above(node))
    return False


def _called_with(project: Project, module: Module, node: ast.expr) -> str:
    """The qualified name of what a name is an argument of; empty if that is not known."""
    above = module.parents.get(node)
    if not isinstance(above, ast.Call):
        return ""
    func = above.func
    if isinstance(func, ast.Name) and module.scope_at(above).find(func.id) is None:
        return f"builtins.{func.id}"
    symbol = _symbol(project, module, func)
    return symbol.name if isinstance(symbol, External) else ""
