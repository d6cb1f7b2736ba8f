"""Expressions that pickle refuses, told by what they are made of, and where the part that is refused stands."""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import Enum

from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function
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
    by_branch: bool = False
    """Whether a branch of a method stores it."""
    again: bool = False
    """Whether the call sends its first process, and is refused the next one."""

    @property
    def is_lost(self) -> bool:
        """Whether it pickles by its name, which the process that reads the pickle does not find."""
        return self.why in {Why.NOTEBOOK, Why.GUARDED}

    @property
    def key(self) -> ast.AST:
        """What makes two findings one: the definition, or the expression."""
        return self.definition or self.node

    def kept_as(self, attribute: str, facts: ClassFacts | None) -> Culprit:
        """The same, as an attribute of an object, stored by a class's own code if one is named."""
        return replace(self, path=(attribute, *self.path), keeper=self.keeper or facts)


def is_local(facts: FunctionFacts | ClassFacts) -> bool:
    """Whether a definition stands in a function, where pickle does not find it by its name."""
    above = facts.scope.parent
    while above is not None:
        if isinstance(above.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        above = above.parent
    return False
