"""Which classes may inherit from which, and what else a thing may be called, by names alone.

Two classes of one name count as one, and so do a name and another that is given to it anywhere in the project: there
are too many rather than too few, which is what a screen wants.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from forklint.summaries.parts import ALL_CALLS, CALLS
from forklint.summaries.summary import last_name
from forklint.summaries.terms import BASE, RENAMED, renamed_by
from forklint.summaries.terms import CLASS as CLASS_TERM

if TYPE_CHECKING:
    from forklint.project.index import Project

T = TypeVar("T")
Names = frozenset[str]


class Heads(NamedTuple):
    """The classes of one file, by name."""

    bases: Mapping[str, tuple[str, ...]]
    """Every part of the bases of a class."""
    heirs: Mapping[str, tuple[str, ...]]
    """The classes that have such a part among their bases."""


class Hierarchy:
    """Answers for the classes and names of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def with_base(self, name: str) -> tuple[tuple[Path, str], ...]:
        """The classes with a base that may be called by a name: their files and names, in the order of the files."""
        return self._ask("classes with a base", name, lambda: self._with_base(name))

    def heirs(self, names: Names) -> Names:
        """These names, those of all classes that may inherit from one of them, and other names for any."""
        return self._ask("heirs", names, lambda: self._closed(names, self._heirs_and_names))

    def bases(self, names: Names) -> Names:
        """These names, and every part of the bases of the classes of these names, at any depth."""
        return self._ask("bases", names, lambda: self._closed(names, self._base_parts))

    def homes(self, name: str) -> tuple[Path, ...]:
        """The files that define a class of a name."""
        return self._project.where(CLASS_TERM, name)

    def names_for(self, name: str) -> Names:
        """A name, and all that its thing may be called: by ``as``, by assignment, or as a partial of it."""
        return self._ask("names for", name, lambda: self._closed(frozenset({name}), self._new_names))

    def may_call(self, names: Names, path: Path) -> bool:
        """Whether a file may call what goes by one of some names, whatever it is called there, or make a partial of it.

        The rest of the project is looked at only if the file calls none of the names themselves.
        """

        def find() -> bool:
            called = self._project.questions.aside(lambda: self._called(path))
            known = min(names & called, default="") or min(self.heirs(names) & called, default="")
            if known:  # that it calls this one is all that it rests on
                self._project.part(path, CALLS, known)
                return True
            return not self.heirs(names).isdisjoint(self._called(path))

        return self._ask("may call", (names, path), find)

    def _called(self, path: Path) -> Names:
        """The last names of what a file calls; where it makes partials, of all that it reads."""
        return self._ask("names called", path, lambda: self._find_called(path))

    def _find_called(self, path: Path) -> Names:
        summary = self._project.part(path, ALL_CALLS)
        return summary.called if summary is not None else frozenset()

    def _ask(self, what: str, key: Hashable, find: Callable[[], T]) -> T:
        return self._project.answer(what, key, find, compared=True)

    def _closed(self, names: Names, follow: Callable[[str], Iterable[str]]) -> Names:
        found = set(names)
        waiting = list(found)
        while waiting:
            new = set(follow(waiting.pop())) - found
            found |= new
            waiting += new
        return frozenset(found)

    def _heirs_and_names(self, name: str) -> Iterator[str]:
        yield from self._new_names(name)
        for path in self._project.where(BASE, name):
            yield from self._classes(path).heirs.get(name, ())

    def _base_parts(self, name: str) -> Iterator[str]:
        for path in self.homes(name):
            yield from self._classes(path).bases.get(name, ())

    def _with_base(self, name: str) -> tuple[tuple[Path, str], ...]:
        found: dict[tuple[Path, str], None] = {}
        for base in sorted(self.names_for(name)):
            for path in self._project.where(BASE, base):
                found.update(((path, own), None) for own in self._classes(path).heirs.get(base, ()))
        return tuple(found)

    def _classes(self, path: Path) -> Heads:
        """How the classes of a file depend on each other and on others."""
        return self._project.answer("heads of classes", path, lambda: self._find_classes(path), compared=True)

    def _find_classes(self, path: Path) -> Heads:
        summary = self._project.summary(path)
        bases: dict[str, dict[str, None]] = {}
        heirs: dict[str, dict[str, None]] = {}
        for scope in [summary.scopes[number] for number in summary.classes] if summary is not None else []:
            for part in dict.fromkeys(part for base in scope.bases for part in base.split(".")):
                bases.setdefault(scope.name, {})[part] = None
                heirs.setdefault(part, {})[scope.name] = None
        return Heads(_listed(bases), _listed(heirs))

    def _new_names(self, name: str) -> Iterator[str]:
        """Give the names that are given to what a name stands for, anywhere."""
        for path in self._project.where(RENAMED, name):
            yield from self._renames(path).get(name, ())

    def _renames(self, path: Path) -> Mapping[str, tuple[str, ...]]:
        """What a file gives other names to, by its last name, and what it is called."""
        return self._project.answer("new names", path, lambda: self._find_renames(path), compared=True)

    def _find_renames(self, path: Path) -> Mapping[str, tuple[str, ...]]:
        summary = self._project.summary(path)
        found: dict[str, dict[str, None]] = {}
        for one in summary.imports if summary is not None else ():
            if one.is_renamed:
                found.setdefault(last_name(one.attribute or one.module), {})[one.alias] = None
        for scope in summary.scopes if summary is not None else ():
            for given in scope.given:
                old, new = renamed_by(given.value), last_name(given.target)
                if old and new:
                    found.setdefault(old, {})[new] = None
        return _listed(found)


def _listed(found: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(others) for name, others in found.items()}
