"""What a dotted name may mean, told from summaries alone: definitions of the project, and names outside it.

``Project.resolve`` says what a name surely means, from trees. Whatever it gives is among what is given here, and so is
what other branches, other scopes of the file and other assignments would make of the name: too much rather than too
little, which is what a screen wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forklint.summaries.parts import ALL_CALLS, BASES, DEFINITION, HEAD, METHODS, NAMED
from forklint.summaries.summary import CLASS, FUNCTION, Import, Scope

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.summaries.summary import Summary

MOST_STEPS = 500
"""So many names, modules and packages are looked at for one dotted name."""
MOST_CLASSES = 64
"""So many classes are looked at for what one class inherits from."""
MOST_NAMES = 24
"""Names in a row that are looked up in one another."""
INSIDE, MODULE, PACKAGE, OUTSIDE, UNKNOWN = "inside", "module", "package", "outside", "unknown"
"""Where a name is looked up: in any scope of a file, at its top level, in a folder, not in the project, or in a file
of which there is no summary."""


class Definition(NamedTuple):
    """A class or function of the project: its file and the number of its scope there."""

    path: Path
    number: int


REMOVED = Scope(FUNCTION, "", 0)


class Place(NamedTuple):
    """Where a name is looked up."""

    kind: str
    where: str
    """The path of a file or folder, or the name of a module outside the project."""


Names = tuple[str, ...]
Step = tuple[Definition | Place, Names]
"""What a name leads to, and the names that are still to be looked up there."""


class Meant(NamedTuple):
    """What a name may mean."""

    found: frozenset[Definition | str]
    """Definitions of the project, and qualified names outside it."""
    ways: frozenset[Step]
    """All that leads there."""
    is_whole: bool
    """Whether nothing else can be meant: every file on the way has a summary, and all ways were followed."""


class Lineage(NamedTuple):
    """A class and what it may inherit from."""

    classes: tuple[Definition, ...]
    """The class itself, and its bases in the project."""
    outside: frozenset[str]
    """Qualified names of the bases outside it."""
    is_cut: bool
    """Whether there are more classes than are looked at."""


class Meanings:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def scope(self, definition: Definition) -> Scope:
        """What a definition is, its name and whether it returns a value; nothing of one that an edit has removed."""
        summary = self._project.definition(definition.path, HEAD, definition.number)
        return summary.scopes[definition.number] if summary is not None else REMOVED

    def meant(self, path: Path, name: str) -> Meant:
        """What a dotted name may mean in a file, other than a method of a class."""
        return self._followed([(Place(INSIDE, str(path)), tuple(name.split(".")))], with_methods=False)

    def imported(self, path: Path, name: str) -> frozenset[str]:
        """The qualified names that a dotted name means in a file where all of them are outside the project; else none.

        What else binds the head of the name, there or on the way, leaves it open.
        """
        find = lambda: self._find_imported(path, name)  # noqa: E731 - it is short
        return self._project.answer("names that are imported", (path, name), find, compared=True)

    def calls(self, path: Path) -> dict[str, tuple[Definition, ...]]:
        """What of the project each dotted name that a file calls may mean; only names that may mean something."""
        return self._project.answer("what calls may mean", path, lambda: self._find_calls(path), compared=True)

    def called(self, definition: Definition) -> dict[str, tuple[Definition, ...]]:
        """The same for what a definition calls, itself or within; the top level for itself."""
        path, number = definition
        summary = self._project.definition(path, DEFINITION, number)
        if summary is None:
            return {}
        spellings = {spelling for scope in summary.scopes_of(number) for spelling in scope.calls}
        return self._called(path, summary, spellings)

    def bases(self, path: Path) -> dict[int, tuple[Definition | str, ...]]:
        """What the bases of each class of a file may be, by the numbers of the classes."""
        return self._project.answer("bases of classes", path, lambda: self._find_bases(path), compared=True)

    def lineage(self, definition: Definition) -> Lineage:
        """What a class may inherit from, at any depth."""
        classes, outside = {definition: None}, set[str]()
        waiting = [definition]
        while waiting and len(classes) <= MOST_CLASSES:
            one = waiting.pop()
            for base in self.bases(one.path).get(one.number, ()):
                if isinstance(base, str):
                    outside.add(base)
                elif base not in classes:
                    classes[base] = None
                    waiting.append(base)
        return Lineage(tuple(classes), frozenset(outside), bool(waiting))

    def _find_imported(self, path: Path, name: str) -> frozenset[str]:
        head, *rest = name.split(".")
        summary = self._project.part(path, NAMED, head)
        if (
            summary is None
            or head in summary.by_target
            or head in summary.by_name
            or not all(map(str.isidentifier, rest))
        ):
            return frozenset()
        steps = [step for one in summary.by_alias.get(head, ()) for step in self._imported(path, one)]
        outside = [(at.where, *names, *rest) for at, names in steps if isinstance(at, Place) and at.kind == OUTSIDE]
        return frozenset(map(".".join, outside)) if len(outside) == len(steps) else frozenset()

    def _find_calls(self, path: Path) -> dict[str, tuple[Definition, ...]]:
        summary = self._project.part(path, ALL_CALLS)
        return self._called(path, summary, summary.spelt_calls) if summary is not None else {}

    def _called(self, path: Path, summary: Summary, spellings: Iterable[str]) -> dict[str, tuple[Definition, ...]]:
        starts: dict[str, list[Step]] = {}
        found: dict[str, tuple[Definition, ...]] = {}
        for spelling in spellings:
            head, *rest = spelling.split(".")
            if head not in starts:
                steps = self._bound_inside(path, summary, head) if head.isidentifier() else ()
                starts[head] = [one for one in steps if isinstance(one[0], Definition) or one[0].kind != OUTSIDE]
            if starts[head] and all(map(str.isidentifier, rest)):
                meant = self._followed([(step, (*names, *rest)) for step, names in starts[head]])
                definitions = tuple(sorted(one for one in meant.found if isinstance(one, Definition)))
                if definitions:
                    found[spelling] = definitions
        return found

    def _bound_inside(self, path: Path, summary: Summary, name: str) -> Iterator[Step]:
        self._project.part(path, NAMED, name)
        return self._bound(path, summary, name, is_inside=True)

    def _find_bases(self, path: Path) -> dict[int, tuple[Definition | str, ...]]:
        summary = self._project.part(path, BASES)
        if summary is None:
            return {}
        known: dict[str, tuple[Definition | str, ...]] = {"?": ()}
        found: dict[int, tuple[Definition | str, ...]] = {}
        for number in summary.classes:
            for base in summary.scopes[number].bases:
                if base not in known:
                    meant = sorted(self.meant(path, base).found, key=str)
                    known[base] = tuple(one for one in meant if isinstance(one, str) or self.scope(one).kind == CLASS)
                found[number] = (*found.get(number, ()), *known[base])
        return found

    # One name

    def _followed(self, steps: list[Step], *, with_methods: bool = True) -> Meant:
        """What some steps lead to."""
        found: set[Definition | str] = set()
        seen, is_whole = set(steps), True
        waiting = list(seen)
        while waiting and len(seen) <= MOST_STEPS:
            at, names = waiting.pop()
            if isinstance(at, Definition):
                is_method = len(names) == 1 and with_methods
                found.update(self._methods(at, names[0]) if is_method else () if names else (at,))
            elif at.kind == OUTSIDE:
                found.add(".".join((at.where, *names)))
            elif at.kind == UNKNOWN or len(names) > MOST_NAMES:
                is_whole = False
            elif names:
                new = {(to, (*more, *names[1:])) for to, more in self._next(at, names[0])} - seen
                seen |= new
                waiting += new
        return Meant(frozenset(found), frozenset(seen), is_whole and not waiting)

    def _methods(self, definition: Definition, name: str) -> Iterator[Definition]:
        for owner in self.lineage(definition).classes if self.scope(definition).kind == CLASS else ():
            summary = self._project.definition(owner.path, METHODS, owner.number)
            number = summary.methods(owner.number).get(name) if summary is not None else None
            if number is not None:
                yield Definition(owner.path, number)

    def _next(self, place: Place, name: str) -> tuple[Step, ...]:
        """What a name leads to where it is looked up, one step on."""
        find = lambda: tuple(self._find_next(place, name))  # noqa: E731 - it is short
        return self._project.answer("where a name leads", (place, name), find, compared=True)

    def _find_next(self, place: Place, name: str) -> Iterator[Step]:
        path = Path(place.where)
        if place.kind == PACKAGE:
            yield from self._submodules(path / "__init__.py", name)
            return
        summary = self._project.part(path, NAMED, name)
        if summary is None:
            yield Place(UNKNOWN, place.where), ()
            return
        yield from self._bound(path, summary, name, is_inside=place.kind == INSIDE)
        if place.kind == MODULE and path.name == "__init__.py" and not _is_at_top(summary, name):
            yield from self._submodules(path, name)

    def _bound(self, path: Path, summary: Summary, name: str, *, is_inside: bool) -> Iterator[Step]:
        """Give what a name of a file may be bound to: in any of its scopes, or at the top level alone."""
        for one in summary.by_alias.get(name, ()):
            if is_inside or not one.scope:
                yield from self._imported(path, one)
        for number in summary.by_name.get(name, ()):
            if is_inside or not summary.scopes[number].parent:
                yield Definition(path, number), ()
        for number, value in summary.by_target.get(name, ()):
            names = tuple(value.split("."))
            if (is_inside or not number) and names[0] != name and all(map(str.isidentifier, names)):
                yield Place(INSIDE, str(path)), names
        if not _is_at_top(summary, name):
            stars = self._project.stars
            for target in stars.imported_whole(path):
                if stars.may_give(target, name):
                    yield Place(MODULE, str(target)), (name,)

    def _imported(self, path: Path, one: Import) -> Iterator[Step]:
        names = (one.attribute,) if one.attribute else ()
        resolver = self._project.resolver
        target = resolver.find(path, one.bound, one.level)
        folder = resolver.is_package(path, one.bound, one.level) if target is None else None
        if target == path and one.attribute:  # ``from . import module`` in a package's own file
            yield from self._submodules(path, one.attribute)
        elif target is not None:
            yield Place(MODULE, str(target)), names
        elif folder is not None:
            yield Place(PACKAGE, str(folder)), names
        elif not one.level:
            yield Place(OUTSIDE, one.bound), names
        elif not one.bound:  # ``from . import module`` in a folder without an ``__init__.py``
            yield Place(PACKAGE, resolver.start(path, one.level)), names

    def _submodules(self, package: Path, name: str) -> Iterator[Step]:
        target = self._project.resolver.find(package, name, level=1)
        folder = self._project.resolver.is_package(package, name, level=1) if target is None else None
        if target is not None:
            yield Place(MODULE, str(target)), ()
        elif folder is not None:
            yield Place(PACKAGE, str(folder)), ()


def _is_at_top(summary: Summary, name: str) -> bool:
    """Whether the top level of a file surely imports a name, defines it, or gives it a value that has a name."""
    return name in summary.top.binds and (
        any(not one.scope for one in summary.by_alias.get(name, ()))
        or any(not summary.scopes[number].parent for number in summary.by_name.get(name, ()))
        or any(not scope for scope, _ in summary.by_target.get(name, ()))
    )
