"""Who imports whom, from the summaries of files, and what is reached by imports.

A search walks wherever it likes; what its answer rests on is noted afterwards, as a proof. That a file reaches one
that passes a test rests on the way there alone. That it reaches none rests on all that it reaches, which files that
import each other in circles have in common: each circle is a question of its own, answered as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from forklint.project.circles import Circle, Circles
from forklint.project.edges import PACKAGE, Edges
from forklint.project.searches import Search
from forklint.source.digest import digest
from forklint.summaries.parts import EXPORTS, ORDER
from forklint.summaries.terms import IMPORTED, WORD

if TYPE_CHECKING:
    from forklint.project.answers import Fact
    from forklint.project.index import Project

T = TypeVar("T")


class Term(NamedTuple):
    """A test that files pass which have a term (see ``summaries.terms``)."""

    kind: str
    name: str


class Words(NamedTuple):
    """A test that files pass in whose bytes a pattern is found; each match holds one of ``words``, if there are any."""

    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...] = ()


Test = Term | Words


@cache
def word_test(word: bytes) -> Words:
    """A test that files pass which hold a text anywhere."""
    return Words(re.compile(re.escape(word)), (word,))


MOST_IMPORTERS = 32
"""So many files that may import one are looked at from below; from above it is looked for what has more."""
MOST_NAMING = 4
MOST_HOLDING = 16
"""So many times as many files may name one of its name in an import, or hold that word, as may import it, until it
counts as imported by many."""
EDGES = frozenset({"imports", EXPORTS.name, ORDER, "entry", "folder", "file", "files", "path roots"})
"""Kinds of facts on which edges may rest."""


class ImportGraph:
    """The import graph of a project: all that may be imported, wherever in a file that is.

    A graph with a ``home`` is that of one more file, which no other imports.
    """

    def __init__(self, project: Project, home: ImportGraph | None = None, guest: Path | None = None) -> None:
        self.project = project
        self._home = home
        self._guest = guest
        self._circles = Circles(self.imports)
        self._edges = Edges(project)
        self._hops: dict[tuple[str, str], dict[Path, Path | None]] = {}
        """By test, what is known of files: the next one on the way to a file that passes, which leads to
        itself; None for a file that reaches none. As far as anybody asked, and while no file changes."""
        self._settled: set[Path] = set()
        """The files whose circles are known, with the digests of all edges below them."""

    def imports(self, path: Path) -> tuple[Path, ...]:
        """Project files that a file may import directly, in the order in which it names them, its package first."""
        home = self._home_of(path)
        if home is not None:
            return self._borrowed(lambda: home.imports(path))
        find = lambda: tuple(self._edges.of(path))  # noqa: E731 - it is short
        return self.project.answer("what a file imports", path, find, compared=True)

    def any_reached(self, path: Path, test: Test) -> bool:
        """Whether the file or any project file that it reaches passes a test."""
        home = self._home_of(path)
        if home is not None:
            return self._borrowed(lambda: home.any_reached(path, test))
        if self._home is not None:
            return self._passes(path, test) or any(self.any_reached(one, test) for one in self.imports(path))
        key = (path, *_named(test))
        return self.project.answer("reaches", key, lambda: self._reaches(path, test), compared=True)

    def reached(self, path: Path) -> tuple[Path, ...]:
        """The file and all project files that importing it may run, nearest first."""
        home = self._home
        if home is None:
            find = lambda: self.reached_in_order((path,))  # noqa: E731 - it is short
            return self.project.answer("what a file reaches", path, find, compared=True)
        if path != self._guest:
            return self._borrowed(lambda: home.reached(path))
        targets = self.imports(path)
        return (path, *self._borrowed(lambda: home.reached_in_order(targets)))

    def reached_in_order(self, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        """Some files and all project files that importing one of them may run, nearest first."""
        for path in paths:
            self._all_below(path)
        return tuple(self._aside(lambda: self._follow(paths)))

    def reached_from(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Some files and all project files that importing one of them may run."""
        known = tuple(paths)
        if self._home is None:
            return frozenset(self.reached_in_order(known))
        return frozenset(one for path in known for one in self.reached(path))

    def reaches(self, first: Path, second: Path) -> bool:
        """Whether importing one file may run another, or both are the same."""
        home = self._home_of(first)
        if home is not None:
            return self._borrowed(lambda: home.reaches(first, second))
        if self._home is not None:
            return first == second or any(self.reaches(target, second) for target in self.imports(first))
        few = self._few_reaching(second)
        if few is not None:
            return first in few
        way = self._aside(lambda: self._short_way(first, second))
        if way:
            return all(self._leads(*step) for step in pairwise(way))
        self._all_below(first)
        return self._aside(lambda: self._circles.leads(first, second))

    def _short_way(self, first: Path, second: Path) -> tuple[Path, ...]:
        """The way from a file to one that it imports, or that one of those imports; empty if it is longer."""
        near = self.imports(first)
        if second in near:
            return first, second
        return next(((first, one, second) for one in near if second in self.imports(one)), ())

    def _few_reaching(self, path: Path) -> frozenset[Path] | None:
        """The files from which one is reached, itself included; None where they may be many."""
        find = lambda: self._find_reaching(path)  # noqa: E731 - it is short
        return self.project.answer("few files that reach one", path, find, compared=True)

    def _find_reaching(self, path: Path) -> frozenset[Path] | None:
        if not self.project.is_whole:
            return None
        found, waiting = {path}, [path]
        for one in waiting:
            if one.name == PACKAGE or self.project.terms.exceeds(IMPORTED, one.stem, MOST_IMPORTERS):
                return None
            new = [source for source in self.importers(one) if source not in found]
            found.update(new)
            waiting += new
            if len(found) > MOST_IMPORTERS:
                return None
        return frozenset(found)

    def importers(self, path: Path) -> tuple[Path, ...]:
        """The files of the project that import a file directly."""
        find = lambda: tuple(self._find_importers(path))  # noqa: E731 - it is short
        return self.project.answer("who imports a file", path, find, compared=True)

    def few_importers(self, path: Path, most: int) -> tuple[Path, ...] | None:
        """The files that import a file directly; None if they are more than ``most``.

        None as well if very many name a file like it: they would all have to be looked at.
        """
        key = (path, most)
        return self.project.answer("few who import a file", key, lambda: self._find_few(path, most), compared=True)

    def is_imported(self, path: Path) -> bool:
        """Whether any file of the project imports a file directly."""
        find = lambda: next(self._find_importers(path), None) is not None  # noqa: E731 - it is short
        return self.project.answer("is imported", path, find, compared=True)

    def _find_few(self, path: Path, most: int) -> tuple[Path, ...] | None:
        name, exceeds = _named_as(path), self.project.terms.exceeds
        if exceeds(WORD, name, MOST_HOLDING * most) or exceeds(IMPORTED, name, MOST_NAMING * most):
            return None
        found = tuple(islice(self._find_importers(path), most + 1))
        return found if len(found) <= most else None

    def reaching(self, paths: Iterable[Path]) -> frozenset[Path]:
        """All files of the project from which one of some files is reached, these themselves included."""
        seen = set(paths)
        waiting = list(seen)
        while waiting:
            new = [source for source in self.importers(waiting.pop()) if source not in seen]
            seen.update(new)
            waiting += new
        return frozenset(seen)

    def forget(self, changed: Iterable[Fact] | None = None) -> None:
        """Forget what was found on the way to answers, once files have changed: all that may rest on some facts."""
        self._hops.clear()
        if changed is None or any(fact[0] in EDGES for fact in changed):
            self._circles.forget()
            self._settled.clear()

    def _find_importers(self, path: Path) -> Iterator[Path]:
        seen = {path}
        for source in self._may_import(path):
            if source not in seen:
                seen.add(source)
                if path in self.imports(source):
                    yield source

    def _may_import(self, path: Path) -> Iterator[Path]:
        """Give the files whose imports name a module or its package, and those that a package's own files are."""
        folder = path.parent
        is_package = path.name == PACKAGE
        yield from self.project.where(IMPORTED, _named_as(path))
        if is_package:
            inside = f"{folder}{os.sep}"  # `folder in one.parents` takes fifty times as long
            yield from (one for one in self.project.files if str(one).startswith(inside))
        package = (folder.parent if is_package else folder) / PACKAGE
        if _named_as(path) in self._edges.exports(package):
            yield from self.importers(package)

    # What is reached

    def _follow(self, paths: Iterable[Path], known: Collection[Path] = ()) -> list[Path]:
        """Some files and all that they reach, nearest first, without those that are known."""
        waiting = list(paths)
        seen = {*waiting, *known}
        for current in waiting:
            new = [target for target in self.imports(current) if target not in seen]
            seen.update(new)
            waiting += new
        return waiting

    def _all_below(self, path: Path) -> None:
        """Rest on all edges that are reached from a file."""
        if path not in self._settled:
            new = self._aside(lambda: self._follow((path,), self._settled))
            self._aside(lambda: self._settle(new, self._below))
            self._settled.update(new)
        self._below(self._circle(path))

    def _below(self, circle: Circle) -> str:
        find = lambda: self._digest(circle.head)  # noqa: E731 - it is short
        return self.project.answer("edges below", circle.head, find, compared=True)

    def _digest(self, head: Path) -> str:
        circle = self._circle(head)
        lines = [f"{path}>{target}" for path in circle.members for target in self.imports(path)]
        return digest("\n".join([*lines, *map(self._below, self._next(circle))]).encode(errors="surrogatepass"))

    def _circle(self, path: Path) -> Circle:
        return self._aside(lambda: self._circles.of(path))

    def _next(self, circle: Circle) -> list[Circle]:
        """The circles that one leads to directly."""
        targets = [target for member in circle.members for target in self.imports(member)]
        return [one for one in self._aside(lambda: self._circles.ordered(targets)) if one != circle]

    def _reaches(self, path: Path, test: Test) -> bool:
        imports_any = bool(self._aside(lambda: self.imports(path)))  # else there is no need to search other files
        if imports_any and self._is_plain(path) and not self._passes(path, test) and self._nowhere(test):
            return False
        way = self._aside(lambda: self._way(path, test))
        if not way:
            return self._any_below(self._circle(path), test)[0]
        return all(self._leads(*step) for step in pairwise(way)) and self._passes(way[-1], test)

    def _is_plain(self, path: Path) -> bool:
        """Whether imports of a file are looked for in folders that can be packages, and in no others."""
        folder = path.parent
        return self.project.root in (folder, *folder.parents) and all(
            part.isidentifier() for part in folder.relative_to(self.project.root).parts
        )

    def _nowhere(self, test: Test) -> bool:
        """Whether nothing passes that can be imported, since no file does, and none is ignored."""

        def find() -> bool:
            if isinstance(test, Term):
                return not self.project.where(*test) and is_whole()
            paths = (path for word in test.words for path in self.project.containing(word))  # up to the first
            return bool(test.words) and not any(self._passes(path, test) for path in paths) and is_whole()

        def is_whole() -> bool:
            return self.project.is_whole and self.project.path_roots.are_plain

        return self.project.answer("passes nowhere", _named(test), find, compared=True)

    def _leads(self, path: Path, target: Path) -> bool:
        """Whether a file imports another; rests on the statement that says so, and on no other."""
        return self.project.answer("imports another", (path, target), lambda: self._prove(path, target), compared=True)

    def _prove(self, path: Path, target: Path) -> bool:
        package = partial(self.project.resolver.find, path, "", 1)
        if self._aside(package) == target:
            return package() == target
        for one in self.project.imports(path):
            named = partial(self._edges.named, path, one)
            if target in self._aside(named):
                return target in named()
        return False

    def _way(self, path: Path, test: Test) -> list[Path]:
        """A way from a file to one that passes; empty if there is none."""
        hops = self._hops.setdefault(_named(test), {})
        if path not in hops:
            self._decide(path, test, hops)
        way: list[Path] = []
        following = hops[path]
        at = path
        while following is not None:
            way.append(at)
            if following == at:
                break
            at, following = following, hops[following]
        return way

    def _decide(self, path: Path, test: Test, hops: dict[Path, Path | None]) -> None:
        """Find out whether a file reaches one that passes, by the shortest way to what is known already."""
        before = {path: path}
        waiting = [path]
        for current in waiting:
            if hops.get(current) is not None or self._passes(current, test):
                hops.setdefault(current, current)
                while current != path:
                    hops[before[current]] = current
                    current = before[current]  # noqa: PLW2901 - the way back
                return
            for target in self.imports(current):
                if target not in before and hops.get(target, target) is not None:
                    before[target] = current
                    waiting.append(target)
        hops.update(dict.fromkeys(before))
        self._settle(before, lambda circle: self._any_below(circle, test))

    def _any_below(self, circle: Circle, test: Test) -> tuple[bool, tuple[Path, ...]]:
        """Whether anything passes that the files of a circle reach, and these files: one answer for all of them."""
        find = lambda: self._find_below(circle.head, test)  # noqa: E731 - it is short
        return self.project.answer("circle reaches", (circle.head, *_named(test)), find, compared=True)

    def _find_below(self, head: Path, test: Test) -> tuple[bool, tuple[Path, ...]]:
        circle = self._circle(head)
        following = self._next(circle)  # notes how the circle hangs together, and what it leads to
        found = any(self._passes(one, test) for one in circle.members) or any(
            self._any_below(one, test)[0] for one in following
        )
        return found, circle.members

    def _passes(self, path: Path, test: Test) -> bool:
        if isinstance(test, Term):
            return path in self.project.where(*test)
        return self.project.matches(path, _pattern(test), test.words)

    def _settle(self, paths: Iterable[Path], ask: Callable[[Circle], object]) -> None:
        """Ask for circles in their order: a long chain of questions below one another is never asked at once."""
        for circle in self._circles.ordered(paths):
            ask(circle)

    def _aside(self, find: Callable[[], T]) -> T:
        return self.project.questions.aside(find)

    # A file that is a guest

    def _home_of(self, path: Path) -> ImportGraph | None:
        return self._home if path != self._guest else None

    def _borrowed(self, find: Callable[[], T]) -> T:
        """An answer of the home project, with all that it rests on there."""
        assert self._home is not None  # noqa: S101 - the callers asked
        value, rests = self._home.project.questions.watched(find)
        self.project.questions.note_all(rests)
        return value


def _named_as(path: Path) -> str:
    """The last part of the name that a file is imported by."""
    return path.parent.name if path.name == PACKAGE else path.stem


def _named(test: Test) -> tuple[str, str]:
    """What tells a test from others."""
    return (test.kind, test.name) if isinstance(test, Term) else ("", Search.of(_pattern(test)).text)


def _pattern(test: Words) -> re.Pattern[bytes]:
    """The pattern of a test; any of its words where it has none."""
    return test.pattern if test.pattern.pattern else _any_of(test.words)


@cache
def _any_of(words: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, words)))
