"""Which files may store a handle on an object that workers get, judged by summaries: nothing is parsed.

A finding stands where a handle is stored. So a class of the file, or one that it inherits from, opens one itself or
calls a function that returns one, and its objects come to workers; or the file opens one that datasets share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.facts.datasets.screening import DatasetScreen
from forklint.facts.handles.opening_calls import NONE, OpeningCalls, Openings, around
from forklint.project.meanings import Definition, Meanings
from forklint.summaries.summary import CLASS, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forklint.knowledge.handles import Handle
    from forklint.project.index import Project

MAX_DEPTH = 6
"""How many calls deep a handle is followed."""
MAX_LEADING = 2
"""Through so many calls from one definition to the next an opener is looked for."""
MOST_FUNCTIONS = 100
"""So many functions are looked at for what a class may open. Where there are more, it may open anything."""


class HandleScreen:
    """Answers for one project."""

    def __init__(self, project: Project, table: Mapping[str, Handle]) -> None:
        self._project = project
        self._table = OpeningCalls(table)
        self._meanings = Meanings(project)
        self._datasets = DatasetScreen(project)

    def may_store(self, path: Path) -> bool:
        """Whether a handle may be stored in a file, on an object of a dataset or of what one keeps."""
        return self._project.answer("may store a handle", path, lambda: self._may_store(path), compared=True)

    def openings(self, path: Path) -> Openings:
        """Which definitions of a file may open something."""
        return self._project.answer("openings", path, lambda: self._find_openings(path), compared=True)

    def leading(self, path: Path, depth: int = MAX_LEADING) -> frozenset[str]:
        """What a file calls, as spelt, that may mean something of the project which leads to an opener."""
        find = partial(self._leading, path, depth)
        return self._project.answer("calls that lead to openers", (path, depth), find, compared=True)

    def leads(self, definition: Definition, depth: int = MAX_LEADING) -> bool:
        """Whether a definition names an opener, or may call one that does, through a few calls."""
        if definition.number in self.openings(definition.path).named:
            return True
        return depth > 0 and definition.number in self._leading_scopes(definition.path, depth - 1)

    def _may_store(self, path: Path) -> bool:
        openings = self.openings(path)
        classes = list(self._datasets.classes_in(path))
        if not self._project.owns(path):  # it is ignored: nobody is asked who has to do with it
            return bool(classes or openings.retained)
        opening = self._opening_classes(path)
        if any(one.number in opening and self._datasets.reaches_workers(one) for one in classes):
            return True
        if any(map(self._datasets.is_named_beside_dataset, sorted(openings.names))):
            return True
        return bool(openings.retained) and self._datasets.makes_dataset(path)

    def _find_openings(self, path: Path) -> Openings:
        summary = self._project.summary(path)
        return self._table.of(summary, self._matches(path)) if summary is not None else NONE

    def _matches(self, path: Path) -> Callable[[re.Pattern[bytes]], bool]:
        return lambda pattern: self._project.matches(path, pattern)

    def _leading(self, path: Path, depth: int) -> frozenset[str]:
        calls = self._meanings.calls(path).items()
        return frozenset(spelling for spelling, meant in calls if any(self.leads(one, depth) for one in meant))

    def _leading_scopes(self, path: Path, depth: int) -> frozenset[int]:
        """The definitions of a file that call what leads to an opener, themselves or within."""

        def find() -> frozenset[int]:
            summary, leading = self._project.summary(path), self.leading(path, depth)
            scopes = enumerate(summary.scopes) if summary is not None and leading else ()
            calling = [number for number, scope in scopes if not leading.isdisjoint(scope.calls)]
            return frozenset(one for number in calling if summary is not None for one in around(summary, number))

        return self._project.answer("definitions that lead to openers", (path, depth), find, compared=True)

    # What a class opens

    def _opening_classes(self, path: Path) -> frozenset[int]:
        """The classes of a file, by their numbers, whose methods, or those of bases, may get a handle."""

        def find() -> frozenset[int]:
            return frozenset(one.number for one in self._datasets.classes_in(path) if self._may_open(one))

        return self._project.answer("classes that may open", path, find, compared=True)

    def _may_open(self, definition: Definition) -> bool:
        """Whether methods of a class, or of its bases, may get a handle: from an opener, or from a function."""
        lineage = self._meanings.lineage(definition)
        if lineage.is_cut or any(map(self._retains, lineage.classes)):
            return True
        seen: set[Definition] = set()
        functions = self._called(lineage.classes)
        for _ in range(MAX_DEPTH):
            new = functions - seen
            seen |= new
            if len(seen) > MOST_FUNCTIONS or any(map(self._retains, new)):
                return True
            functions = self._called(new)
        return False

    def _retains(self, definition: Definition) -> bool:
        return definition.number in self.openings(definition.path).retained

    def _called(self, definitions: Iterable[Definition]) -> set[Definition]:
        """The functions that some definitions call and that are followed."""
        return {call for one in definitions for call in self._followed(one.path).get(one.number, ())}

    def _followed(self, path: Path) -> dict[int, frozenset[Definition]]:
        """The functions that each definition of a file calls, itself or within, and that are followed."""
        return self._project.answer("calls that are followed", path, lambda: self._find_followed(path), compared=True)

    def _find_followed(self, path: Path) -> dict[int, frozenset[Definition]]:
        summary = self._project.summary(path)
        calls = self._meanings.calls(path).items()
        meant = {spelling: frozenset(filter(self._is_followed, some)) for spelling, some in calls}
        meant = {spelling: some for spelling, some in meant.items() if some}
        found: dict[int, frozenset[Definition]] = {}
        for number, scope in enumerate(summary.scopes if summary is not None and meant else ()):
            functions = frozenset[Definition]().union(*(meant[call] for call in scope.calls & meant.keys()))
            while functions and number > 0 and summary is not None:
                found[number] = found.get(number, frozenset()) | functions
                number = summary.scopes[number].parent  # noqa: PLW2901 - to the definition around it
        return found

    def _is_followed(self, definition: Definition) -> bool:
        """Whether a call is followed: of a function that names an opener and returns something, or of a method."""
        scope = self._meanings.scope(definition)
        if scope.kind != FUNCTION:
            return False
        is_method = self._meanings.scope(Definition(definition.path, scope.parent)).kind == CLASS
        return is_method or (scope.gives and self.leads(definition, 0))
