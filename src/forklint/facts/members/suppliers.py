"""Which other classes may give ``self`` a name that the class of a method lacks: those derived from it or mixed in."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from forklint.facts.members.attribute_stores import is_nowhere
from forklint.facts.members.attributes import Attributes
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts
from forklint.project.scopes import Function
from forklint.project.spelling import dotted, last_name
from forklint.summaries.terms import CALL

BASE_NAME = re.compile(r"^_*(?:Base|Abstract|I[A-Z][a-z])|(?:Base|Interface|Protocol|ABC)\d*$")
MIXIN_NAME = re.compile(r"[Mm]ix_?[Ii]n")
ABSTRACT = "abstract"
ABSTRACT_BASES = frozenset({"ABC", "Protocol"})
ABSTRACT_METACLASS = "ABCMeta"
NOT_IMPLEMENTED = frozenset({"NotImplementedError", "NotImplemented"})


class Suppliers:
    """Answers for the classes of one project."""

    def __init__(self, project: Project, attributes: Attributes) -> None:
        self.project = project
        self.attributes = attributes

    def may_give_self(self, facts: ClassFacts, name: str) -> bool:
        """Whether ``self`` in this class may be an object of another class, which has ``name``.

        So it is where a class derived from it has the name, or is not understood. A class that is there for others
        is judged only if some class of the project uses it: a mixin, if all of these lack the name; any other, if
        the name stands nowhere in the project.
        """
        derived = tuple(self.project.subclasses(facts))
        if any(name not in self.attributes.lacking(other, {name}) for other in derived):
            return True
        if self._has_strangers(facts, derived):
            return not is_nowhere(self.project, name)
        if MIXIN_NAME.search(facts.name):
            return not any(not MIXIN_NAME.search(other.name) for other in derived)
        if not self._is_for_others(facts):
            return not self.can_be_made(facts) and not derived
        return not (is_nowhere(self.project, name) and (derived or self._is_made(facts)))

    def can_be_made(self, facts: ClassFacts) -> bool:
        """Whether an object of exactly this class can exist, as far as its constructor and abstract methods tell."""
        constructor = self.project.method(facts, "__init__")
        if constructor is not None and raises_not_implemented(constructor[1]):
            return False
        return not (self._leaves_abstract(facts) and self._is_checked(facts))

    def _is_made(self, facts: ClassFacts) -> bool:
        """Whether the project makes objects of a class that was meant for others."""
        return self.can_be_made(facts) and bool(self.project.where(CALL, facts.name))

    def _is_for_others(self, facts: ClassFacts) -> bool:
        """Whether a class is there to be derived from: by its name, its own bases, or methods that it leaves open."""
        if BASE_NAME.search(facts.name) or self._is_declared_abstract(facts) or self._leaves_abstract(facts):
            return True
        return any(
            not name.startswith("_") and raises_not_implemented(function) for name, function in facts.methods.items()
        )

    def _is_declared_abstract(self, facts: ClassFacts) -> bool:
        bases = (base.value if isinstance(base, ast.Subscript) else base for base in facts.node.bases)
        if any(last_name(base) in ABSTRACT_BASES for base in bases):
            return True
        return any(last_name(keyword.value) == ABSTRACT_METACLASS for keyword in facts.node.keywords)

    def _is_checked(self, facts: ClassFacts) -> bool:
        """Whether Python refuses to make an object while a method is abstract."""
        ancestry = self.project.ancestry(facts)
        keywords = (keyword for one in ancestry.classes for keyword in one.node.keywords)
        if any(last_name(keyword.value) == ABSTRACT_METACLASS for keyword in keywords):
            return True
        return any(name.rpartition(".")[2] in ABSTRACT_BASES for name in ancestry.external)

    def _leaves_abstract(self, facts: ClassFacts) -> bool:
        """Whether a method of a base is still abstract here, whether or not the metaclass is told of it."""
        return any(
            ABSTRACT in dotted(decorator)
            for owner in self.project.ancestry(facts).classes
            for name, function in owner.methods.items()
            if function.decorator_list and self.project.method(facts, name) == (owner, function)
            for decorator in function.decorator_list
        )

    def _has_strangers(self, facts: ClassFacts, derived: tuple[ClassFacts, ...]) -> bool:
        """Whether a class derives from something of the same name that could not be followed to any class."""
        known = {(other.module.path, other.name) for other in derived}
        names = self.project.hierarchy.names_for(facts.name)
        for path, name in self.project.hierarchy.with_base(facts.name):
            module = self.project.module(path) if (path, name) not in known else None
            alike = (other for other in (module.classes if module is not None else ()) if other.name == name)
            if any(self._may_mean(facts, other, names) for other in alike):
                return True
        return False

    def _may_mean(self, facts: ClassFacts, other: ClassFacts, names: frozenset[str]) -> bool:
        """Whether a base of another class, of one of these names, may be this class after all."""
        written = (base.value if isinstance(base, ast.Subscript) else base for base in other.node.bases)
        for base, symbol in zip(written, self.project.bases(other), strict=True):
            if names.isdisjoint(dotted(base).split(".")):
                continue
            if symbol is None or (isinstance(symbol, External) and self._may_be_imported_as(facts, symbol.name)):
                return True
        return False

    def _may_be_imported_as(self, facts: ClassFacts, name: str) -> bool:
        """Whether a name that leads out of the project may mean this class, by the folders that its file lies in."""
        module, _, last = name.rpartition(".")
        if module == "builtins":
            return not hasattr(builtins, last)  # from a star, or not bound at all
        path = facts.module.path
        inside = path.relative_to(self.project.root).parts if path.is_relative_to(self.project.root) else path.parts
        return not {*inside, path.stem}.isdisjoint(module.split("."))


def raises_not_implemented(function: Function) -> bool:
    """Whether a function does nothing but raise NotImplementedError, whatever stands in its docstring."""
    body = [*_statements(function)]
    return len(body) == 1 and isinstance(body[0], ast.Raise) and _names_not_implemented(body[0].exc)


def _statements(function: Function) -> Iterator[ast.stmt]:
    """The statements of a function without docstrings, ``pass`` and ``...``."""
    for statement in function.body:
        if isinstance(statement, ast.Pass) or (
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        ):
            continue
        yield statement


def _names_not_implemented(raised: ast.expr | None) -> bool:
    made = raised.func if isinstance(raised, ast.Call) else raised
    return last_name(made) in NOT_IMPLEMENTED
