"""Which other classes may give ``self`` a name that the class of a method lacks: those derived from it or mixed in."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator

from forklint.knowledge.torch_api import class_names
from forklint.members import abstract
from forklint.members.attribute_stores import is_assigned_somewhere, is_nowhere
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import dotted, is_class_name, last_name
from forklint.rules.unknown_method.attributes import OF_CONTAINERS, Attributes
from forklint.rules.unknown_method.nearest import nearest
from forklint.rules.unknown_method.owners import OF_WRAPPERS, Owner
from forklint.summaries.terms import CALL
from forklint.values import files
from forklint.values.callers import is_super_call

OBJECT = "object"
OF_PARTIALS = frozenset({"func", "args", "keywords"})
"""What `functools.partial` has, which is passed where the annotation names a class that is still to be called."""
DATACLASS = "dataclass"
"""Part of the names of decorators that give a class a constructor."""
PLAIN = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})
"""Bases outside a project that make an object of no library's kind."""
MIXIN_NAME = re.compile(r"[Mm]ix_?[Ii]n")


class Suppliers:
    """Answers for the classes of one project."""

    def __init__(self, project: Project, attributes: Attributes) -> None:
        self.project = project
        self.attributes = attributes

    def may_give_self(self, facts: ClassFacts, name: str, method: str = "") -> bool:
        """Whether ``self`` in a method of this class may be an object of another class, which has ``name``.

        So it is where a class derived from it has the name, or is not understood, and does not replace the method,
        unless the class is there for others. Such a class is judged only if some class of the project uses it: a mixin,
        if all of these lack the name; any other, if the name stands nowhere in the project, or objects of that very
        class are made.
        """
        is_mixin = MIXIN_NAME.search(facts.name) is not None
        is_for_others = not is_mixin and abstract.is_for_others(self.project, facts)
        if is_for_others and not is_nowhere(self.project, name) and not self._is_made_itself(facts):
            return True
        derived = []
        for other in self.project.subclasses(facts):
            if self._has(other, name) and (is_mixin or is_for_others or self._runs(other, facts, method)):
                return True
            derived.append(other)
        strangers = [*self._strangers(facts, derived)]
        if strangers:
            return any(len(other.node.bases) > 1 for other in strangers) or not is_nowhere(self.project, name)
        if not (is_mixin or is_for_others) and self._is_only_combined(derived) and not is_nowhere(self.project, name):
            return True
        if is_mixin:
            return all(MIXIN_NAME.search(other.name) for other in derived)
        if is_for_others:
            return not derived and not self._is_made(facts)
        if not derived and (self._is_out_of_use(facts) or _hands_arguments_up(facts)):
            return True
        return not derived and not abstract.can_be_made(self.project, facts)

    def supplied_by_nobody(self, said: Owner | None, names: set[str]) -> set[str]:
        """Those of some names that no object has which may be passed for one of the class that an annotation says.

        For an object of a library's kind, such as a module of torch, something else that wraps it may be passed, or
        another one; for one of a class of the project alone, only what derives from it.
        """
        left = names - OF_WRAPPERS - OF_CONTAINERS - OF_PARTIALS
        if isinstance(said, ClassFacts):
            left = {one for one in left if not self._is_given_beside(said, one)}
        if isinstance(said, ClassFacts) and PLAIN.issuperset(self.project.ancestry(said).external):
            left = {one for one in left if not is_assigned_somewhere(self.project, one, [said.module])}
        else:
            left = {one for one in left if is_nowhere(self.project, one)}
        if isinstance(said, ClassFacts):
            return {one for one in left if not self.may_give_self(said, one)}
        return {one for one in left if said is not None and nearest(one, said.offered).misspelt}

    def may_be_mixed_in(self, facts: ClassFacts) -> bool:
        """Whether a class sets nothing up and is made nowhere: it may be combined with others, listed in a table."""
        decorators = (mark for one in self.project.ancestry(facts).classes for mark in one.node.decorator_list)
        if any(DATACLASS in ast.unparse(mark) for mark in decorators):
            return False  # its constructor is made for it
        return self.project.method(facts, "__init__") is None and not self.project.where(CALL, facts.name)

    def _is_out_of_use(self, facts: ClassFacts) -> bool:
        """Whether a class is the copy of a mixin: no base, in a file that cannot be imported, and not made there."""
        path, has_base = facts.module.path, any(dotted(base) != OBJECT for base in facts.node.bases)
        return not has_base and not path.stem.isidentifier() and path not in self.project.where(CALL, facts.name)

    def _is_only_combined(self, derived: list[ClassFacts]) -> bool:
        """Whether some class is combined with others, and none of those that derive from it is ever made."""
        combined = any(len(other.node.bases) > 1 for other in derived)
        return combined and not any(self.project.where(CALL, other.name) for other in derived)

    def _is_made(self, facts: ClassFacts) -> bool:
        """Whether the project makes objects of a class that was meant for others."""
        is_called = bool(self.project.where(CALL, facts.name))
        is_made = is_called or files.is_named(self.project, facts.module.path, facts.name)
        return abstract.can_be_made(self.project, facts) and is_made

    def _is_made_itself(self, facts: ClassFacts) -> bool:
        """Whether a call in the project surely makes an object of a class, and not of another of its name."""
        if not abstract.can_be_made(self.project, facts):
            return False
        modules = (self.project.module(path) for path in self.project.where(CALL, facts.name))
        return any(
            self.project.resolve(module, module.scope_at(call), call.func) == facts
            for module in modules
            if module is not None
            for call in module.calls_of((facts.name,))
        )

    def _is_given_beside(self, facts: ClassFacts, name: str) -> bool:
        """Whether a class of the same file that derives from one has a name: for that, no other file need be read."""
        others = (one for one in facts.module.classes if one != facts and facts in self.project.ancestry(one).classes)
        return any(self._has(other, name) for other in others)

    def _has(self, other: ClassFacts, name: str) -> bool:
        return name not in self.attributes.lacking(other, {name})

    def _runs(self, other: ClassFacts, facts: ClassFacts, method: str) -> bool:
        """Whether an object of a class may run a method of a base, rather than one that stands in its place."""
        above = self.project.ancestry(other).classes
        names = {one.name for one in above}
        for owner in above:
            if owner == facts:
                return True
            if method in owner.methods:
                return any(_asks_above(node, method, names) for node in nodes_below(owner.node))
        return True

    def _strangers(self, facts: ClassFacts, derived: list[ClassFacts]) -> Iterator[ClassFacts]:
        """Give the classes that derive from something of the same name that may be this class, or another."""
        known = {(other.module.path, other.name) for other in derived}
        names = self.project.hierarchy.names_for(facts.name)
        for path, name in self.project.hierarchy.with_base(facts.name):
            module = self.project.module(path) if (path, name) not in known else None
            alike = (other for other in (module.classes if module is not None else ()) if other.name == name)
            yield from (other for other in alike if self._may_mean(facts, other, names))

    def _may_mean(self, facts: ClassFacts, other: ClassFacts, names: frozenset[str]) -> bool:
        """Whether a base of another class, of one of these names, may be this class after all."""
        written = (base.value if isinstance(base, ast.Subscript) else base for base in other.node.bases)
        for base, symbol in zip(written, self.project.bases(other), strict=True):
            if names.isdisjoint(dotted(base).split(".")):
                continue
            if symbol is None or (isinstance(symbol, External) and self._may_be_imported_as(facts, symbol.name)):
                return True
            if not is_certain(self.project, other.module, other.scope.parent or other.module.scope, base):
                return True
        return False

    def _may_be_imported_as(self, facts: ClassFacts, name: str) -> bool:
        """Whether a name that leads out of the project may mean this class, by the folders that its file lies in."""
        module, _, last = name.rpartition(".")
        if module == "builtins":
            return not hasattr(builtins, last)  # from a star, or not bound at all
        if class_names(name) is not None:
            return False
        path = facts.module.path
        inside = path.relative_to(self.project.root).parts if path.is_relative_to(self.project.root) else path.parts
        return not {*inside, path.stem}.isdisjoint(module.split("."))


def _hands_arguments_up(facts: ClassFacts) -> bool:
    """Whether a class without a base gives ``super().__init__`` arguments, which `object` does not take."""
    init = facts.methods.get("__init__")
    if init is None or any(dotted(base) != OBJECT for base in facts.node.bases):
        return False
    calls = (node for node in nodes_below(init) if isinstance(node, ast.Call) and is_super_call(node))
    return any(ast.unparse(one.func).startswith("super()") and (one.args or one.keywords) for one in calls)


def _asks_above(node: ast.AST, method: str, names: Collection[str]) -> bool:
    """Whether a node is a method of a base, one of ``names`` or of another: ``super().step``, ``Base.step``."""
    if not isinstance(node, ast.Attribute) or node.attr != method:
        return False
    name = last_name(node.value)
    return isinstance(node.value, ast.Call) or name in names or is_class_name(name)
