"""Who else may give an object a name that its class does not declare: subclasses, mixing in, assignments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from forklint.facts.members.attributes import Attributes, says
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.summaries.terms import WORD

ABSTRACT = re.compile(r"\babstract\w*|\bNotImplemented(?:Error)?\b")
BASE_NAME = re.compile(r"^_*(?:Base|Abstract|I[A-Z][a-z])|(?:Base|Interface|Protocol|ABC)\d*$|[Mm]ix[_]?[Ii]n")
ABSTRACT_BASES = ("Protocol", "ABC", "ABCMeta")
DERIVED = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)", re.MULTILINE)
WORDS = re.compile(r"\w+")
GIVEN = rb"\b%b[ \t]+as[ \t]+(\w+)|^[ \t]*(\w+)[ \t]*=[^=\n]*\b%b[ \t]*$"


class Suppliers:
    """Answers for the classes of one project."""

    def __init__(self, project: Project, attributes: Attributes) -> None:
        self.project = project
        self.attributes = attributes

    def may_give_self(self, facts: ClassFacts, name: str) -> bool:
        """Whether ``self`` in this class may be an object of another class, which has ``name``.

        So it is where the class, or one derived from it, is abstract by its name, its bases or its methods, or
        is combined with another class; where a class derived from it has the name, or is not understood; and
        where a class derives from something of the same name that could not be followed to here.
        """
        derived = self._derived(facts)
        return derived is None or any(name not in self.attributes.lacking(other, {name}) for other in derived)

    def _derived(self, facts: ClassFacts) -> tuple[ClassFacts, ...] | None:
        """The project's classes that derive from this one; None if its methods may meet an object of yet another."""
        return self.project.answer("suppliers.derived", facts, lambda: self._find_derived(facts))

    def _find_derived(self, facts: ClassFacts) -> tuple[ClassFacts, ...] | None:
        if self._is_abstract(facts):
            return None
        derived = tuple(self.project.subclasses(facts))
        if any(self._is_abstract(other) or len(other.node.bases) > 1 for other in derived):
            return None
        known = {(other.module.path, other.name) for other in derived}
        return None if any(found not in known for found in self._derived_by_text(facts.name)) else derived

    def _is_abstract(self, facts: ClassFacts) -> bool:
        if BASE_NAME.search(facts.name) or says(self.project, facts, ABSTRACT):
            return True
        if self._leaves_abstract(facts):
            return True
        return any(path.endswith(ABSTRACT_BASES) for path in self.project.ancestry(facts).external)

    def _leaves_abstract(self, facts: ClassFacts) -> bool:
        """Whether a method of a base is still abstract here, whether or not the metaclass is told of it."""
        return any(
            "abstract" in ast.unparse(decorator)
            for owner in self.project.ancestry(facts).classes
            for name, function in owner.methods.items()
            if self.project.method(facts, name) == (owner, function)
            for decorator in function.decorator_list
        )

    def _derived_by_text(self, name: str) -> Iterator[tuple[Path, str]]:
        """Give file and name of each class whose bases mention this name, or another that it is given."""
        holders = self.project.where(WORD, name)
        names = frozenset({name}).union(*(self._given(path, name) for path in holders))
        for path in holders:
            yield from ((path, derived) for derived, bases in self._heads(path) if not names.isdisjoint(bases))

    def _given(self, path: Path, name: str) -> frozenset[str]:
        """Other names that a file gives what has this one."""

        def find() -> frozenset[str]:
            found = re.findall(GIVEN % ((name.encode(),) * 2), self.project.data(path), re.MULTILINE)
            return frozenset((one or other).decode(errors="replace") for one, other in found)

        return self.project.answer("names given to a class", (path, name), find, compared=True)

    def _heads(self, path: Path) -> tuple[tuple[str, frozenset[str]], ...]:
        """The classes of a file, each with the words in its bases."""

        def find() -> tuple[tuple[str, frozenset[str]], ...]:
            text = self.project.data(path).decode(errors="replace")
            return tuple((name, frozenset(WORDS.findall(bases))) for name, bases in DERIVED.findall(text))

        return self.project.answer("words in the bases of classes", path, find, compared=True)


def is_assigned_somewhere(project: Project, name: str, modules: Iterable[Module]) -> bool:
    """Whether any project file assigns an attribute of this name, or one of ``modules`` holds it as a string."""
    word = name.encode()
    quoted = re.compile(rb"[\"'](?:\w+,\s*)*" + word + rb"(?:,\s*\w+)*[\"']")
    if any(project.matches(module.path, quoted) for module in modules):
        return True
    assigned = rb"\.%b\b[ \t]*(?::[^=\n]+)?(?:=(?!=)|,[^\n()]*[^=!<>\n()]=(?!=))" % word
    stores = re.compile(assigned + rb"|setattr(?:__)?\([^\n]*[\"']%b[\"']" % word)
    return any(project.matches(path, stores) for path in project.where(WORD, name))
