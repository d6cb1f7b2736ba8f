"""Expressions that pickle refuses, told by what they are made of, and where the part that is refused stands."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum

from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function, Scope
from forklint.records import dataclass


class Why(Enum):
    """What is wrong with a part of a payload."""

    LAMBDA = "lambda"
    LOCAL_FUNCTION = "local function"
    LOCAL_CLASS = "local class"
    GENERATOR = "generator"
    MODULE = "module"
    VIEW = "view"
    """The keys, values or items of a dictionary."""
    OBJECT = "object"
    """What a call makes that stands in unpicklable.toml."""
    HANDLE = "handle"
    NOTEBOOK = "notebook"
    """A function or class of a notebook: it pickles, and no spawned process finds it."""
    GUARDED = "guarded"
    """One that is defined under the main guard: the same."""


@dataclass(frozen=True)
class Culprit:
    """The part of a payload that cannot be sent."""

    why: Why
    module: Module
    node: ast.expr | Function | ast.ClassDef
    """Where it stands; for a definition, where it is named, if that is known."""
    name: str
    """What it is, in words: ``the lambda``, ``a lock``."""
    error: str
    definition: ast.Lambda | Function | ast.ClassDef | None = None
    platforms: tuple[str, ...] = ()
    """Where it is refused; empty: everywhere."""
    late: str = ""
    """Words of the error, where it pickles and only the process that reads the pickle fails."""
    path: tuple[str, ...] = ()
    """The attributes that lead to it, outermost first."""
    keeper: ClassFacts | None = None
    """The class whose own code stores it, if one does."""

    @property
    def is_lost(self) -> bool:
        """Whether it pickles by its name, which the process that reads the pickle does not find."""
        return self.why in {Why.NOTEBOOK, Why.GUARDED}

    @property
    def key(self) -> ast.AST:
        """What makes two findings one: the definition, or the expression."""
        return self.definition or self.node

    def kept_as(self, attribute: str, facts: ClassFacts) -> Culprit:
        """The same, as an attribute of an object."""
        return replace(self, path=(attribute, *self.path), keeper=self.keeper or facts)


@dataclass(frozen=True)
class Given:
    """An expression, where it stands, and what the parameters that it may name were given."""

    module: Module
    scope: Scope
    node: ast.expr
    bound: Mapping[str, Given] = field(default_factory=dict)

    def part(self, node: ast.expr) -> Given:
        """Another expression of the same place."""
        return replace(self, node=node)


def is_local(facts: FunctionFacts | ClassFacts) -> bool:
    """Whether a definition stands in a function, where pickle does not find it by its name."""
    above = facts.scope.parent
    while above is not None:
        if isinstance(above.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        above = above.parent
    return False


def arguments_of(facts: FunctionFacts, call: ast.Call | None, given: Given, *, is_method: bool) -> dict[str, Given]:
    """What a call gives to the parameters of a function, as far as it can be seen; ``self`` is left out.

    Without a call: their defaults.
    """
    function = facts.node
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][1 if is_method else 0 :]
    bound: dict[str, Given] = {}
    for name, value in zip(names, call.args if call else (), strict=False):
        if isinstance(value, ast.Starred):
            break
        bound[name] = given.part(value)
    known = {*names, *(one.arg for one in function.args.kwonlyargs)}
    keywords = call.keywords if call else ()
    bound |= {one.arg: given.part(one.value) for one in keywords if one.arg is not None and one.arg in known}
    if not any(one.arg is None for one in keywords) and not any(isinstance(one, ast.Starred) for one in _args(call)):
        outside = facts.scope.parent or facts.module.scope
        for name, value in _defaults(function):
            bound.setdefault(name, Given(facts.module, outside, value))
    return bound


def _args(call: ast.Call | None) -> list[ast.expr]:
    return call.args if call else []


def _defaults(function: Function) -> list[tuple[str, ast.expr]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    found = [(one.arg, value) for one, value in zip(positional[first:], arguments.defaults, strict=True)]
    return found + [
        (one.arg, value)
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value is not None
    ]
