"""The calls of a module that make a loader, each with the arguments that it gives, ``**`` of literals included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from forklint.facts.options import mappings
from forklint.facts.options.mappings import Given
from forklint.knowledge.loader_options import Loader, loaders
from forklint.project.certainty import has_certain_bases, is_certain
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import FUNCTIONS, Scope

HARMLESS_BASES = frozenset({"typing.Generic", "typing_extensions.Generic", "abc.ABC", "builtins.object"})
"""Bases that have no word in how an object is made."""
MAKING = ("__init__", "__new__", "__init_subclass__")


@dataclass(frozen=True)
class LoaderCall:
    """One call that makes a loader."""

    module: Module
    scope: Scope
    call: ast.Call
    row: Loader
    given: Mapping[str, Given]
    """By the name of the option, without the row's prefix."""
    is_closed: bool
    """Whether these are all arguments: nothing else can come by ``*args`` or ``**kwargs``."""


def loader_calls(project: Project, module: Module) -> Iterator[LoaderCall]:
    """Give the calls of a module that surely make one of the known loaders, or a plain subclass of one."""
    has_partial = "partial(" in module.document.text
    for node in module.nodes:
        if not isinstance(node, ast.Call) or not (node.args or node.keywords):
            continue
        scope = module.scope_at(node)
        partial = _partial(project, module, scope, node.func) if has_partial else None
        if partial is not None:
            yield _of_partial(project, module, scope, node, partial)
        elif len(node.args) > 1 or node.keywords:
            row = row_of(project, module, scope, node)
            if row is not None:
                yield _call(project, module, scope, node, row)


def row_of(project: Project, module: Module, scope: Scope, call: ast.Call) -> Loader | None:
    """The loader that a call surely makes, or that ``super().__init__(...)`` of a subclass sets up."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        return _super_row(project, module, scope, call.func.value)
    return _named_row(project, module, scope, call.func)


def _named_row(project: Project, module: Module, scope: Scope, called: ast.expr) -> Loader | None:
    symbol = project.resolve(module, scope, called)
    if isinstance(symbol, External):
        row = loaders().get(symbol.name)
        return row if row is not None and is_certain(project, module, scope, called) else None
    if isinstance(symbol, ClassFacts) and is_certain(project, module, scope, called):
        return inherited_row(project, symbol)
    return None


def inherited_row(project: Project, facts: ClassFacts) -> Loader | None:
    """The loader that makes the objects of a class: its own, if no class of the project has a word in it."""
    ancestry = project.ancestry(facts)
    if any(name in owner.methods for owner in ancestry.classes for name in MAKING):
        return None
    return sole_loader(project, facts)


def sole_loader(project: Project, facts: ClassFacts) -> Loader | None:
    """The one known loader that a class derives from, if all its bases are known and nothing else makes objects."""
    ancestry = project.ancestry(facts)
    outside = [name for name in ancestry.external if name not in HARMLESS_BASES]
    if not ancestry.complete or len(outside) != 1 or outside[0] not in loaders():
        return None
    for owner in ancestry.classes:
        if owner.node.decorator_list or owner.node.keywords or not has_certain_bases(project, owner):
            return None
    return loaders()[outside[0]]


def _super_row(project: Project, module: Module, scope: Scope, owner: ast.expr) -> Loader | None:
    """The loader that ``super()``, or its own name, means in the ``__init__`` of a class.

    None where a class of the project lies between.
    """
    is_super = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
    is_named = not is_super and _named_row(project, module, scope, owner) is not None
    home = scope.parent.node if scope.parent else None
    if not (is_super or is_named) or not isinstance(scope.node, FUNCTIONS) or not isinstance(home, ast.ClassDef):
        return None
    facts = module.class_facts(home)
    between = project.ancestry(facts).classes[1:]
    if scope.node.name != "__init__" or any(name in one.methods for one in between for name in MAKING):
        return None
    if any(True for _ in _combining(project, facts)):
        return None
    return sole_loader(project, facts)


def _combining(project: Project, facts: ClassFacts) -> Iterator[ClassFacts]:
    """Give the classes that derive from one and from another class as well: ``super()`` may then mean the other."""
    return (one for one in project.subclasses(facts) if len(one.node.bases) > 1)


def _call(project: Project, module: Module, scope: Scope, call: ast.Call, row: Loader) -> LoaderCall:
    given: dict[str, Given] = {}
    arguments = call.args[1:] if _is_unbound(call) else call.args
    for argument, name in zip(arguments, row.positional, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given[name] = Given(name, argument, module, scope, call, is_unpacked=False)
    is_closed = not any(isinstance(argument, ast.Starred) for argument in call.args)
    for keyword in call.keywords:
        if keyword.arg is None:
            unpacked = mappings.entries(project, module, scope, keyword.value)
            is_closed &= unpacked is not None
            given |= {row.option(one.name): one for one in unpacked or () if row.option(one.name)}
        elif row.option(keyword.arg):
            name = row.option(keyword.arg)
            given[name] = Given(keyword.arg, keyword.value, module, scope, call, is_unpacked=False)
    return LoaderCall(module, scope, call, row, given, is_closed)


def _is_unbound(call: ast.Call) -> bool:
    """Whether the constructor is called by the name of the class, ``DataLoader.__init__(self, ...)``."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == "__init__" and not isinstance(func.value, ast.Call)


def _partial(project: Project, module: Module, scope: Scope, called: ast.expr) -> LoaderCall | None:
    """What a name that is called surely holds: ``partial(DataLoader, ...)``, made in the same module."""
    symbol = project.lookup(module, scope, called.id) if isinstance(called, ast.Name) else None
    value = symbol.binding.value if isinstance(symbol, Value) and symbol.module is module else None
    if not isinstance(value, ast.Call) or not value.args or not is_certain(project, module, scope, called):
        return None
    assert isinstance(symbol, Value)  # noqa: S101 - or there were no value
    if project.qualified(module, symbol.scope, value.func) != "functools.partial":
        return None
    if not mappings.is_of_module_alone(project, symbol, symbol.binding.name):
        return None
    row = _named_row(project, module, symbol.scope, value.args[0])
    if row is None:
        return None
    inner = ast.Call(func=value.args[0], args=value.args[1:], keywords=value.keywords)
    found = _call(project, module, symbol.scope, inner, row)
    options = {k: replace(one, home=value, is_unpacked=True) for k, one in found.given.items()}
    return replace(found, call=value, given=options)


def _of_partial(project: Project, module: Module, scope: Scope, call: ast.Call, partial: LoaderCall) -> LoaderCall:
    """A call of what a partial made: it adds to the options, or puts others in their place."""
    after = partial.row.positional[len(partial.call.args) - 1 :]
    own = _call(project, module, scope, call, replace(partial.row, positional=after))
    is_closed = own.is_closed and partial.is_closed
    return replace(own, row=partial.row, given={**partial.given, **own.given}, is_closed=is_closed)
