"""Which files may store a handle on an object that workers get, judged by summaries: nothing is parsed.

A finding stands where a handle is stored. So a class of the file, or one that it inherits from, opens one itself or
calls a function that returns one, and its objects come to workers; or the file opens one that datasets share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.facts.datasets.screening import DatasetScreen
from forklint.facts.handles.opening_calls import NONE, OpeningCalls, Openings
from forklint.project.meanings import Definition, Meanings
from forklint.summaries.summary import CLASS, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forklint.knowledge.handles import Handle
    from forklint.project.index import Project

MAX_DEPTH = 6
"""How many calls deep a handle is followed."""
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

    def leading(self, path: Path) -> frozenset[str]:
        """What a file calls, as spelt, that may mean something of the project which names an opener."""
        return self._project.answer("calls that lead to openers", path, lambda: self._leading(path), compared=True)

    def _may_store(self, path: Path) -> bool:
        openings = self.openings(path)
        classes = list(self._datasets.classes_in(path))
        if not self._is_known(path):  # it is ignored: nobody is asked who has to do with it
            return bool(classes or openings.retained)
        if any(self._may_open(one) and self._datasets.reaches_workers(one) for one in classes):
            return True
        if any(map(self._datasets.is_named_beside_dataset, sorted(openings.names))):
            return True
        return bool(openings.retained) and self._datasets.makes_dataset(path)

    def _is_known(self, path: Path) -> bool:
        files = self._project.answer("files as a set", None, lambda: frozenset(self._project.files), compared=True)
        return path in files

    def _find_openings(self, path: Path) -> Openings:
        summary = self._project.summary(path)
        return self._table.of(summary, self._matches(path)) if summary is not None else NONE

    def _matches(self, path: Path) -> Callable[[re.Pattern[bytes]], bool]:
        return lambda pattern: self._project.matches(path, pattern)

    def _leading(self, path: Path) -> frozenset[str]:
        calls = self._meanings.calls(path).items()
        return frozenset(spelling for spelling, meant in calls if any(map(self._is_named, meant)))

    def _is_named(self, definition: Definition) -> bool:
        return definition.number in self.openings(definition.path).named

    # What a class opens

    def _may_open(self, definition: Definition) -> bool:
        """Whether methods of a class, or of its bases, may get a handle: from an opener, or from a function."""
        return self._project.answer("may open", definition, lambda: self._find_may_open(definition), compared=True)

    def _find_may_open(self, definition: Definition) -> bool:
        lineage = self._meanings.lineage(definition)
        if lineage.is_cut or any(one.number in self.openings(one.path).retained for one in lineage.classes):
            return True
        seen: set[Definition] = set()
        functions = self._called(lineage.classes)
        for _ in range(MAX_DEPTH):
            new = [one for one in functions if one not in seen]
            seen.update(new)
            if len(seen) > MOST_FUNCTIONS or any(map(self._gives_handle, new)):
                return True
            functions = self._called(new)
        return False

    def _called(self, definitions: Iterable[Definition]) -> set[Definition]:
        """The functions that some definitions call and that are followed, since they name an opener themselves."""
        return {one for definition in definitions for one in self._calls(definition)}

    def _calls(self, definition: Definition) -> frozenset[Definition]:
        return self._project.answer(
            "functions that name openers", definition, lambda: frozenset(self._find_calls(definition)), compared=True
        )

    def _find_calls(self, definition: Definition) -> Iterator[Definition]:
        summary = self._project.summary(definition.path)
        meant = self._meanings.calls(definition.path)
        for number in summary.below(definition.number) if summary is not None else ():
            for call in summary.scopes[number].calls & meant.keys() if summary is not None else ():
                yield from (one for one in meant[call] if self._is_followed(one))

    def _is_followed(self, definition: Definition) -> bool:
        """Whether a call is followed: of a function that names an opener and returns something, or of a method."""
        scope = self._meanings.scope(definition)
        if scope.kind != FUNCTION:
            return False
        is_method = self._meanings.scope(Definition(definition.path, scope.parent)).kind == CLASS
        return is_method or (scope.gives and self._is_named(definition))

    def _gives_handle(self, definition: Definition) -> bool:
        return definition.number in self.openings(definition.path).retained
