"""What the classes of a project may have and lack, judged by summaries.

A name is taken for there only if a class itself binds it, or a base that is followed to its file.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forklint.knowledge.patches import patches
from forklint.knowledge.torch_api import class_names, gone_from, torch_class
from forklint.members.attribute_stores import is_nowhere
from forklint.project.index import Project
from forklint.project.meanings import INSIDE, MODULE, Definition, Meanings, Place
from forklint.rules.unknown_method.attributes import EVERY_OBJECT
from forklint.rules.unknown_method.members import INVENTING, REACHING_BACK, REGISTERING, members_of
from forklint.rules.unknown_method.nearest import nearest
from forklint.rules.unknown_method.owners import WRAPPERS
from forklint.rules.unknown_method.receivers import made_by
from forklint.summaries.parts import BASES, DEFINITION, HEAD, NAMED
from forklint.summaries.summary import CLASS, FUNCTION, Summary, last_name
from forklint.summaries.terms import WORD

OPENING = REGISTERING | REACHING_BACK | {"setattr", "__setattr__", "vars"}
"""Last names of what a method calls to give its object names that are not written out."""
UNNAMED = "?"
"""A base that is no dotted name."""
STATIC = "staticmethod"
Named = Definition | str | None
"""A class of the project, the qualified name of something outside it, or None where only a tree can tell."""


class Has(NamedTuple):
    """What a class by itself gives its objects."""

    names: frozenset[str]
    """Those that its body binds and its methods store."""
    bases: tuple[frozenset[Named], ...]
    """What each of its bases may be."""
    is_open: bool
    """Whether something surely may give its objects other names."""


class ScreenedClasses:
    """Answers for the classes of one project, and for what may be an object of one."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.meanings = Meanings(project)

    # Of what class an object is

    def owners(self, path: Path, callee: str) -> list[Named]:
        """Classes that a callee may be, wherever it is called: those of which something can be said, or None."""
        found = self._classes(path, callee)
        return [one for one in found if not isinstance(one, str) or torch_class(one) is not None]

    def _classes(self, path: Path, name: str) -> frozenset[Named]:
        """Classes that a dotted name of a file may be; None among them if that cannot be told."""
        found, _, is_whole = self.meanings.meant(path, name)
        classes = (one for one in found if isinstance(one, str) or self.is_class(one))
        return frozenset((*classes, *(() if is_whole else (None,))))

    def meant(self, path: Path, name: str) -> frozenset[Definition | str]:
        """What a dotted name of a file may mean, if all of that is known; else nothing."""
        found, _, is_whole = self.meanings.meant(path, name)
        return frozenset(found) if is_whole else frozenset()

    def is_class(self, definition: Definition) -> bool:
        """Whether a definition is a class."""

        def find() -> bool:
            summary = self.project.definition(definition.path, HEAD, definition.number)
            return summary is not None and _is_class(summary, definition.number)

        return self.project.answer("is a class", definition, find, compared=True)

    def imported(self, path: Path, alias: str) -> Iterator[Named]:
        """Give the classes that an imported name may be, or be an object of."""
        yield from (one for one in self._classes(path, alias) if not isinstance(one, str))
        for at, names in self.meanings.meant(path, alias).ways:
            if isinstance(at, Place) and at.kind in {INSIDE, MODULE} and len(names) == 1 and at.where != str(path):
                home = Path(at.where)
                for callee in self._makers(home, names[0]):
                    yield from self.owners(home, callee)

    def _makers(self, path: Path, name: str) -> tuple[str, ...]:
        """The dotted names that are called to make what the top level of a file gives a name."""
        return self.project.answer(
            "what makes an object", (path, name), lambda: tuple(self._find_makers(path, name)), compared=True
        )

    def _find_makers(self, path: Path, name: str) -> Iterator[str]:
        self.project.part(path, BASES)  # which names are those of classes
        summary = self.project.part(path, NAMED, name)
        for number, value in summary.by_target.get(name, ()) if summary is not None else ():
            callee = made_by(value, summary) if summary is not None and not number else ""
            if callee:
                yield callee

    # What a class has

    def named_lacks(self, named: Named, used: AbstractSet[str]) -> bool:
        """Whether something may lack what is called on it or read."""
        if isinstance(named, Definition):
            return self.lacks(named, used)
        names = torch_class(named) if named else None
        return named is None or (names is not None and not used <= names.every)

    def lacks(self, definition: Definition, called: AbstractSet[str]) -> bool:
        """Whether an object of a class may lack one of the names."""
        left = {name for name in called - EVERY_OBJECT if not patches().supply(name)}
        waiting = [definition] if left else []
        for one in waiting:
            has = self.has(one)
            if has is None:
                return False
            left -= has.names
            if not left or has.is_open:
                return False
            for base in has.bases:
                if not base:  # it is not known what that is, so nothing is said of the class
                    return False
                named = next(iter(base)) if len(base) == 1 else None
                if isinstance(named, Definition):
                    waiting += [named] if named not in waiting else []
                elif named is not None:
                    names = class_names(named)
                    if names is None:  # anything may come from there
                        return False
                    left -= names.every
        return bool(left) and not any(map(self._is_surely_open, reversed(waiting)))

    def _is_surely_open(self, definition: Definition) -> bool:
        """Whether a class surely may give its objects any name; a tree is looked at only if a word suggests it."""

        def find() -> bool:
            summary = self.project.definition(definition.path, DEFINITION, definition.number)
            if summary is None or not _may_be_open(summary, definition.number):
                return False
            node = self.project.code(definition.path, definition.number)
            return isinstance(node, ast.ClassDef) and bool(members_of(node).open_because)

        return self.project.answer("is surely open", definition, find, compared=True)

    def has(self, definition: Definition) -> Has | None:
        """What a class has; None for what is none."""
        find = lambda: self._find_what_it_has(definition)  # noqa: E731 - it is short
        return self.project.answer("what a class has", definition, find, compared=True)

    def _find_what_it_has(self, definition: Definition) -> Has | None:
        path, number = definition
        summary = self.project.definition(path, DEFINITION, number)
        if summary is None or not _is_class(summary, number):
            return None
        bases = (self._base(path, base) for base in summary.scopes[number].bases)
        return Has(_names(summary, number), tuple(bases), is_open=not INVENTING.isdisjoint(summary.methods(number)))

    def _base(self, path: Path, written: str) -> frozenset[Named]:
        """What a base may be; nothing if that is surely not known to the facts."""
        if written == UNNAMED:
            return frozenset()
        found = self._classes(path, written)
        may_be_builtin = "." not in written and (not found or hasattr(builtins, written))
        return found | {f"builtins.{written}"} if may_be_builtin else found

    # What objects have

    def object_lacks(self, named: Named, used: AbstractSet[str]) -> bool:
        """Whether an object of a class may lack a name in a way that is reported.

        A name that one of torch's classes lacks has to be misspelt, gone, or found nowhere else: others may be given.
        """
        names = torch_class(named) if isinstance(named, str) else None
        if names is None or named in WRAPPERS:
            return self.named_lacks(named, used)
        path, left = names.path, used - names.every
        if any(may_be_slip(path, one) or gone_from(path, one) is not None for one in left):
            return True
        return any(is_nowhere(self.project, one) for one in sorted(left))

    def is_given_below(self, above: Definition, name: str) -> bool:
        """Whether a class that derives from another one binds a name, or stores it on its objects."""

        def find() -> bool:
            for path in self.project.where(WORD, name):
                summary = self.project.summary(path)
                for number in summary.classes if summary is not None else ():
                    has = self.has(Definition(path, number))
                    if has is not None and name in has.names and above in self._line(Definition(path, number))[1:]:
                        return True
            return False

        return self.project.answer("a class below has it", (above, name), find, compared=True)

    def method(self, definition: Definition, name: str) -> Definition | None:
        """The method of a name that a class has, or one above it in the project."""
        for one in self._line(definition):
            summary = self.project.definition(one.path, DEFINITION, one.number)
            number = summary.methods(one.number).get(name) if summary is not None else None
            if number is not None:
                return Definition(one.path, number)
        return None

    def makes_own(self, method: Definition) -> bool:
        """Whether a method calls the class that it stands in, or what is above that: it may give an object of it."""
        summary = self.project.definition(method.path, DEFINITION, method.number)
        if summary is None:
            return False
        calls = {call.partition(".")[0] for at in summary.below(method.number) for call in summary.scopes[at].calls}
        return not calls.isdisjoint({"cls", "super", summary.scopes[summary.scopes[method.number].parent].name})

    def _line(self, definition: Definition) -> list[Definition]:
        """A class and those of the project that it derives from, the nearest first."""
        waiting = [definition]
        for one in waiting:
            has = self.has(one)
            bases = {base for named in has.bases for base in named} if has is not None else set()
            waiting += sorted(base for base in bases if isinstance(base, Definition) and base not in waiting)
        return waiting


@cache
def may_be_slip(owner: str, name: str) -> bool:
    """Whether a name that a class of torch lacks may be one that it has, misspelt."""
    names = torch_class(owner)
    return names is not None and nearest(name, names.offered).misspelt


def _is_class(summary: Summary, number: int) -> bool:
    return number < len(summary.scopes) and summary.scopes[number].kind == CLASS


def _names(summary: Summary, number: int) -> frozenset[str]:
    """Names that a class body binds, and that its methods store on what they call their object, or on the class."""
    scope = summary.scopes[number]
    names = set(scope.binds)
    for child in summary.children.get(number, ()):
        method = summary.scopes[child]
        me = method.parameters[0] if method.kind == FUNCTION and method.parameters else "*"
        if me[0] == "*" or STATIC in method.decorators:
            continue
        for at in summary.below(child):
            stores = (store.partition(".") for store in summary.scopes[at].stores)
            names.update(name for owner, _, name in stores if owner in {me, scope.name} and name.isidentifier())
    return frozenset(names)


def _may_be_open(summary: Summary, number: int) -> bool:
    """Whether a class may set attributes of which the names are not written out."""
    scopes = (summary.scopes[at] for at in summary.below(number))
    return any("__dict__" in one.attributes or not OPENING.isdisjoint(map(last_name, one.calls)) for one in scopes)
