"""Which files of a project define, call, derive from, rename or merely hold a name.

A library may know the terms of all files: gathered beforehand where most files of a project are linted, or written
down by an earlier run. Otherwise a file is summarised only if its bytes hold the name, since one without it cannot
answer, until most are summarised anyway. Both give the same (tests/test_terms.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.haystack import Haystack
from forklint.summaries import byte_search, path_roots
from forklint.summaries.summary import STAR
from forklint.summaries.terms import PATH_ROOT, WORD, Terms

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.library import Library


MANY = 500
"""After so many searches through the bytes of all files it pays to summarise them all."""
MOST_UNGATHERED = 100
"""So many files may change until their terms are gathered once more."""


NOTHING_HELD: tuple[str, list[Path]] = ("", [])


class TermIndex:
    """Answers for the files of one project."""

    def __init__(self, project: Project, library: Library | None = None) -> None:
        self._project = project
        self._library = library
        self._newer = set(library.newer) if library is not None else set()
        self._numbers: dict[Path, int] = {}
        self._searches = 0
        self._gathered: dict[tuple[str, str], list[Path]] | None = None
        self._ungathered: set[Path] = set()
        """The files that have changed since, or come."""
        self._gathered_from: frozenset[Path] = frozenset()
        self._is_listed = False
        """Whether the files are known to be the same as when their numbers were given."""
        self._terms: dict[Path, Terms] = {}
        self._haystack: Haystack | None = None
        self._held = NOTHING_HELD
        """The name that was last searched for in it, and the files that hold it."""

    def where(self, kind: str, name: str) -> tuple[Path, ...]:
        """The files that have a term, in the order of the project's files."""
        return self._project.answer("where", (kind, name), lambda: self._where(kind, name))

    def _where(self, kind: str, name: str) -> tuple[Path, ...]:
        self._project.questions.note(("holds", kind, name))
        known = self._library.where(kind, name) if self._library is not None else None
        if known is not None:
            return self._brought_up_to_date(known, kind, name)
        if kind == PATH_ROOT:
            return tuple(self._adding(kind, name))
        self._searches += 1
        if self._searches > MANY or self._project.is_mostly_summarised:
            return self._in_gathered(kind, name)
        return tuple(self._searched(kind, name))

    def exceeds(self, kind: str, name: str, most: int) -> bool:
        """Whether more than ``most`` files have a term: where they do, the others are not looked at."""
        find = lambda: self._exceeds(kind, name, most)  # noqa: E731 - it is short
        return self._project.answer("has many", (kind, name, most), find, compared=True)

    def _exceeds(self, kind: str, name: str, most: int) -> bool:
        self._project.questions.note(("holds", kind, name))
        return next(islice(self._in_turn(kind, name), most, None), None) is not None

    def any_with(self, kind: str, name: str) -> Path | None:
        """A file that has a term, if there is one: whoever asks goes on to read it, and rests on what it says."""
        found = self._project.questions.aside(lambda: next(self._in_turn(kind, name), None))
        if found is None:
            self._project.questions.note(("holds", kind, name))
        return found

    def _in_turn(self, kind: str, name: str) -> Iterator[Path]:
        """The files that have a term, one by one where they are looked for."""
        if self._is_known(kind):
            return iter(self.where(kind, name))
        self._searches += 1
        return self._searched(kind, name)

    def _is_known(self, kind: str) -> bool:
        """Whether no file need be searched to say which have a term."""
        return (
            self._library is not None
            or self._searches > MANY
            or kind == PATH_ROOT
            or self._project.is_mostly_summarised
        )

    def of(self, path: Path) -> Terms:
        """The terms of a file as it is now, words included."""
        known = self._terms.get(path)
        if known is None:
            summary, data = self._project.peek(path), self._project.bytes_of(path)
            known = self._terms[path] = byte_search.all_terms(summary, data)
        return known

    def forget(self, path: Path) -> None:
        """Forget the terms of a file that changed."""
        self._terms.pop(path, None)
        self._haystack = None
        self._newer.add(path)
        self._ungathered.add(path)
        self._is_listed = False  # it may import other files now

    def keep(self, path: Path, terms: Terms) -> None:
        """Take the terms of a file as it is now, where they are known."""
        self._terms[path] = terms

    def _brought_up_to_date(self, known: tuple[Path, ...], kind: str, name: str) -> tuple[Path, ...]:
        """What the library says, with the files that it does not know as they are now, in the order of the files."""
        found = {path for path in known if path not in self._newer}
        if kind == PATH_ROOT:
            files = self._project.walked_files()
            return tuple(path for path in files if path in found or self._has_now(path, kind, name))
        order = self.order
        found.update(path for path in self._newer if path in order and name in self.of(path).get(kind, ()))
        found.update(path for path in self._project.imported_files.files() if name in self.of(path).get(kind, ()))
        return tuple(sorted(found, key=lambda path: order.get(path, -1)))

    def _has_now(self, path: Path, kind: str, name: str) -> bool:
        return path in self._newer and name in self.of(path).get(kind, ())

    def _adding(self, kind: str, name: str) -> Iterator[Path]:
        """Give the files that add path roots; which are imported from outside depends on them, not they on that."""
        for path in self._project.walked_files():
            if path_roots.may_hold(self._project.bytes_of(path)) and name in self.of(path).get(kind, ()):
                yield path

    @property
    def order(self) -> dict[Path, int]:
        """The place of each file among the project's; for a caller that notes by itself what its answer rests on."""
        files = self._project.all_files()
        if not self._is_listed or len(files) != len(self._numbers):
            self._numbers = {path: number for number, path in enumerate(files)}
            self._is_listed = True
            if self._gathered is not None:
                self._ungathered.update(path for path in files if path not in self._gathered_from)
        return self._numbers

    def _in_gathered(self, kind: str, name: str) -> tuple[Path, ...]:
        """What was gathered, which takes seconds in a large project, with the few files that have changed since."""
        if self._gathered is None or len(self._ungathered) > MOST_UNGATHERED:
            self._gathered_from = frozenset(self.order)
            self._gathered, self._ungathered = self._gather(), set()
        order = self.order  # it takes note of files that have come
        known = self._gathered.get((kind, name), ())
        if not self._ungathered:
            return tuple(known)
        found = [path for path in known if path in order and path not in self._ungathered]
        found += [path for path in self._ungathered if path in order and name in self.of(path).get(kind, ())]
        return tuple(sorted(found, key=order.__getitem__))

    def _gather(self) -> dict[tuple[str, str], list[Path]]:
        """The files that have each term."""
        found: dict[tuple[str, str], list[Path]] = {}
        for path in self._project.all_files():
            for kind, names in self.of(path).items():
                for name in names:
                    found.setdefault((kind, name), []).append(path)
        return found

    def _searched(self, kind: str, name: str) -> Iterator[Path]:
        for path in self._holding(name):
            if not byte_search.may_have(kind, name, self._project.bytes_of(path)):
                continue
            if kind == WORD or name in self.of(path).get(kind, ()):
                yield path

    def _holding(self, name: str) -> list[Path]:
        """The files in whose bytes a name may be found; it is mostly asked for as a term of several kinds in turn."""
        files = self._project.all_files()
        if self._haystack is None or len(self._haystack) != len(files):
            self._haystack = Haystack(files, self._project.bytes_of)
            self._held = NOTHING_HELD
        if self._held[0] != name:
            self._held = name, self._haystack.holding("" if name == STAR else name)
        return self._held[1]
