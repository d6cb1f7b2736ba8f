"""Who else may give an object a name that its class does not declare: subclasses, mixing in, assignments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from forklint.facts.members.attributes import Attributes, segment
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module

ABSTRACT = re.compile(r"\babstract\w*|\bNotImplemented(?:Error)?\b")
BASE_NAME = re.compile(r"^_*(?:Base|Abstract|I[A-Z][a-z])|(?:Base|Interface|Protocol|ABC)\d*$|[Mm]ix[_]?[Ii]n")
ABSTRACT_BASES = ("Protocol", "ABC", "ABCMeta")
DERIVED = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)", re.MULTILINE)


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
        memory = self.project.memory("suppliers.derived")
        if facts not in memory:
            memory[facts] = None if self._is_abstract(facts) else self._find_derived(facts)
        found: tuple[ClassFacts, ...] | None = memory[facts]
        return found

    def _find_derived(self, facts: ClassFacts) -> tuple[ClassFacts, ...] | None:
        derived = tuple(self.project.subclasses(facts))
        if any(self._is_abstract(other) or len(other.node.bases) > 1 for other in derived):
            return None
        known = {(other.module.path, other.name) for other in derived}
        return None if any(found not in known for found in self._derived_by_text(facts.name)) else derived

    def _is_abstract(self, facts: ClassFacts) -> bool:
        if BASE_NAME.search(facts.name) or ABSTRACT.search(segment(facts.module, facts.node)):
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

    def _derived_by_text(self, name: str) -> Iterator[tuple[object, str]]:
        """Give file and name of each class whose bases mention this name, or another that it is given."""
        word = name.encode()
        names = {word}
        pattern = rb"\b%b[ \t]+as[ \t]+(\w+)|^[ \t]*(\w+)[ \t]*=[^=\n]*\b%b[ \t]*$" % (word, word)
        given = re.compile(pattern, re.MULTILINE)
        holders = [path for path in self.project.files if word in self.project.data(path)]
        for path in holders:
            names.update(one or other for one, other in given.findall(self.project.data(path)))
        mentions = re.compile(rb"\b(?:" + b"|".join(sorted(names)) + rb")\b")
        for path in holders:
            for derived in DERIVED.finditer(self.project.data(path)):
                if mentions.search(derived[2]):
                    yield path, derived[1].decode()


def is_assigned_somewhere(project: Project, name: str, modules: Iterable[Module]) -> bool:
    """Whether any project file assigns an attribute of this name, or one of ``modules`` holds it as a string."""
    word = name.encode()
    quoted = re.compile(rb"[\"'](?:\w+,\s*)*" + word + rb"(?:,\s*\w+)*[\"']")
    if any(quoted.search(module.document.code) for module in modules):
        return True
    assigned = rb"\.%b\b[ \t]*(?::[^=\n]+)?(?:=(?!=)|,[^\n()]*[^=!<>\n()]=(?!=))" % word
    stores = re.compile(assigned + rb"|setattr(?:__)?\([^\n]*[\"']%b[\"']" % word)
    files = (project.data(path) for path in project.files)
    return any(word in data and stores.search(data) for data in files)
