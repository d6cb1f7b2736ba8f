"""Which classes may be datasets, or what datasets keep: judged by summaries, before anything is parsed.

Each question is about one class or one file: a class is followed up to its bases, and down to what may inherit from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.datasets import entries, is_base
from forklint.project.meanings import Definition, Meanings
from forklint.summaries.parts import BASES, METHODS, NAMED
from forklint.summaries.summary import CLASS, FUNCTION, last_name
from forklint.summaries.terms import CALL, WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

MAP_STYLE = frozenset({"__getitem__", "__len__"})
LOADER = re.compile(rb"DataLoader")
IN_WORKERS = frozenset({"collate_fn", "worker_init_fn"})
"""Arguments of a loader, besides the dataset, that its workers call."""
MOST_NAMES = 64
"""So many names of classes are looked at for what may inherit from one class."""
MAX_CALLS = 3
"""Through so many calls of functions a dataset is looked for that they make."""
MAX_HOLDERS = 2
"""Through so many classes, each of which makes objects of the one before, one is followed to a dataset."""
MOST_FILES = 256
"""So many files are looked at that mention one class. Where there are more, it may be anything in them."""


class DatasetScreen:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._meanings = Meanings(project)

    def may_be_dataset(self, definition: Definition) -> bool:
        """Whether ``is_dataset`` may hold for a class."""
        return self._project.answer(
            "may be a dataset", definition, lambda: self._may_be_dataset(definition), compared=True
        )

    def defines_dataset(self, path: Path) -> bool:
        """Whether a file may define a dataset."""
        return self._project.answer(
            "may define a dataset", path, lambda: any(map(self.may_be_dataset, self.classes_in(path))), compared=True
        )

    def makes_dataset(self, path: Path) -> bool:
        """Whether a file may make an object of a dataset of the project."""
        return self._project.answer("may make a dataset", path, lambda: self._makes_dataset(path), compared=True)

    def leads_to_dataset(self, path: Path) -> bool:
        """Whether a file may make an object of a dataset, or functions that it calls do."""
        return self._project.answer("may lead to a dataset", path, lambda: self._leads_to_dataset(path), compared=True)

    def reaches_workers(self, definition: Definition) -> bool:
        """Whether an object of a class may be a dataset, a part of one, of a class inherited from, or handed to one."""
        return self._project.answer(
            "may reach workers", definition, lambda: self._reaches_workers(definition), compared=True
        )

    def is_named_beside_dataset(self, name: str) -> bool:
        """Whether a file with a word may define a dataset."""
        paths = self._project.where(WORD, name)
        return len(paths) > MOST_FILES or any(map(self.defines_dataset, paths))

    def classes_in(self, path: Path) -> Iterator[Definition]:
        """Give the classes of a file."""
        summary = self._project.part(path, BASES)
        for number in summary.classes if summary is not None else ():
            yield Definition(path, number)

    def _may_be_dataset(self, definition: Definition) -> bool:
        lineage = self._meanings.lineage(definition)
        if lineage.is_cut or any(map(is_base, lineage.outside)):
            return True
        methods = frozenset[str]().union(*map(self._methods, lineage.classes))
        if methods >= MAP_STYLE:
            return True
        return bool(methods) and not methods.isdisjoint(entries()) and self._is_named_beside_loader(definition)

    def _methods(self, definition: Definition) -> frozenset[str]:
        """The methods of a class by which a dataset is told."""
        return self._project.answer(
            "methods of datasets", definition, lambda: self._find_methods(definition), compared=True
        )

    def _find_methods(self, definition: Definition) -> frozenset[str]:
        summary = self._project.definition(definition.path, METHODS, definition.number)
        methods = summary.methods(definition.number) if summary is not None else {}
        return frozenset(methods) & MAP_STYLE.union(entries())

    def _is_named_beside_loader(self, definition: Definition) -> bool:
        paths = self._project.where(WORD, self._meanings.scope(definition).name)
        return len(paths) > MOST_FILES or any(self._project.matches(path, LOADER) for path in paths)

    def _makes_dataset(self, path: Path) -> bool:
        made = {one for found in self._meanings.calls(path).values() for one in found}
        summary = self._project.summary(path)
        if summary is None:
            return False
        for scope in summary.scopes:  # `cls(...)` in a method of the class
            if scope.kind == FUNCTION and scope.parameters and scope.parameters[0] in scope.calls:
                made.add(Definition(path, scope.parent))
        return any(self._is_class(one) and self.may_be_dataset(one) for one in made)

    def _leads_to_dataset(self, path: Path) -> bool:
        called = {one for found in self._meanings.calls(path).values() for one in found}
        return self.makes_dataset(path) or any(self._makes_within(one, MAX_CALLS - 1) for one in called)

    def _makes_within(self, function: Definition, depth: int) -> bool:
        """Whether a function makes an object of a dataset, or those that it calls do."""
        find = lambda: self._find_makes_within(function, depth)  # noqa: E731 - it is short
        return self._project.answer("function may make a dataset", (function, depth), find, compared=True)

    def _find_makes_within(self, function: Definition, depth: int) -> bool:
        if self._is_class(function):
            return False
        called = {one for found in self._meanings.called(function).values() for one in found}
        if any(self._is_class(one) and self.may_be_dataset(one) for one in called):
            return True
        return depth > 0 and any(self._makes_within(one, depth - 1) for one in called)

    def _is_class(self, definition: Definition) -> bool:
        return self._meanings.scope(definition).kind == CLASS

    def _reaches_workers(self, definition: Definition) -> bool:
        name = self._meanings.scope(definition).name
        return (
            self.may_be_dataset(definition)
            or self.is_named_beside_dataset(name)
            or self._is_handed_on(name)
            or self._has_heir(name)
            or self._is_made_for_dataset(name)
            or self._is_kept_further(name, MAX_HOLDERS)
            or self._is_in_table(name)
        )

    def _is_in_table(self, name: str) -> bool:
        """Whether a class stands in a table, or has another name, in a file that one with a dataset imports."""
        paths = self._project.where(WORD, name)[:MOST_FILES]
        written = re.compile(rf"{name}\s*(?:[,)\]}}]|$)".encode(), re.MULTILINE)
        tables = [one for one in paths if self._project.matches(one, written, (name.encode(),))]
        near = {other for one in tables for other in self._project.graph.importers(one)[:MOST_FILES]}
        return any(map(self.defines_dataset, self._project.in_order(near)))

    def _is_kept_further(self, name: str, depth: int) -> bool:
        """Whether a class that makes objects of a class may have to do with workers, or one that makes its objects."""
        paths = self._project.where(CALL, name)
        holders = sorted({holder for path in paths[:MOST_FILES] for holder in self._holders(path, name)} - {name})
        return any(
            self.is_named_beside_dataset(one)
            or self._is_handed_on(one)
            or (depth > 1 and self._is_kept_further(one, depth - 1))
            for one in holders
        )

    def _holders(self, path: Path, name: str) -> frozenset[str]:
        """The classes of a file whose methods call something of a name."""
        summary = self._project.summary(path)
        scopes = summary.scopes if summary is not None else ()
        calling = (one for one in scopes if one.kind == FUNCTION and name in map(last_name, one.calls))
        above = (scopes[one.parent] for one in calling)
        return frozenset(one.name for one in above if one.kind == CLASS)

    def _is_made_for_dataset(self, name: str) -> bool:
        """Whether a function that makes objects of a class is named where a dataset is."""
        paths = self._project.where(CALL, name)
        functions = {one for path in paths[:MOST_FILES] for one in self._makers(path, name)}
        return len(paths) > MOST_FILES or any(map(self.is_named_beside_dataset, sorted(functions)))

    def _makers(self, path: Path, name: str) -> frozenset[str]:
        """The functions of a file that call something of a name and return something."""
        summary = self._project.summary(path)
        scopes = summary.scopes if summary is not None else ()
        calling = (scope for scope in scopes if scope.kind == FUNCTION and scope.gives)
        return frozenset(scope.name for scope in calling if name in map(last_name, scope.calls))

    def _is_handed_on(self, name: str) -> bool:
        """Whether a file that makes objects of a class may hand them to a dataset, or to workers."""
        paths = self._project.where(CALL, name)
        return len(paths) > MOST_FILES or any(self._hands_on(path) for path in paths)

    def _hands_on(self, path: Path) -> bool:
        return self._project.answer(
            "may hand to workers", path, lambda: self._passes_function(path) or self.makes_dataset(path), compared=True
        )

    def _passes_function(self, path: Path) -> bool:
        summary = self._project.summary(path)
        return summary is not None and any(not scope.passed.isdisjoint(IN_WORKERS) for scope in summary.scopes)

    def _has_heir(self, name: str) -> bool:
        """Whether a dataset may inherit from a class of a name."""
        seen, waiting = {name}, [name]
        while waiting:
            for path, heir in self._project.hierarchy.with_base(waiting.pop()):
                if self._defines(path, heir):
                    return True
                if heir not in seen:
                    seen.add(heir)
                    waiting.append(heir)
            if len(seen) > MOST_NAMES:
                return True
        return False

    def _defines(self, path: Path, name: str) -> bool:
        """Whether a class of a name in a file may be a dataset."""
        summary = self._project.part(path, NAMED, name)
        numbers = summary.by_name.get(name, ()) if summary is not None else ()
        definitions = [Definition(path, number) for number in numbers]
        return any(self._is_class(one) and self.may_be_dataset(one) for one in definitions)
