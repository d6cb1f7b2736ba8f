"""Which files may store a handle on an object that workers get, judged by bytes: nothing is parsed.

A finding stands where a handle is stored. So the file opens one itself, or it calls or inherits something that does;
and it has to do with the project's datasets. Names stand for whatever goes by them anywhere in the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.facts.datasets.screening import handed, screen
from forklint.facts.handles.tokens import WORD, OpenerTokens
from forklint.source import headings
from forklint.source.headings import Head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forklint.knowledge.handles import Handle
    from forklint.project.index import Project

Names = frozenset[bytes]
BOUND = re.compile(rb"((?:" + WORD + rb"+[ \t]*(?::[^=\n]*)?=(?:[\s(\\]|#[^\n]*\n)*)+)(?:" + WORD + rb"+\s*\.\s*)*$")
"""What is given the value of a call: names, before what is called."""
METHOD = rb"\s*\.\s*" + WORD + rb"+\s*\(\s*" + WORD + rb"+\s*[,)\n#]"
"""A method that is called through the class before it, with an object."""
LONGEST = 300
"""Bytes before a call in which the names stand that are given its value."""
MOST_NAMES = 200
"""With more names of functions that open something, every call is taken for one of them."""


class HandleScreen:
    """Answers for one project."""

    def __init__(self, project: Project, table: Mapping[str, Handle]) -> None:
        self._project = project
        self.tokens = OpenerTokens(table)

    def may_store(self, path: Path) -> bool:
        """Whether a handle may be stored in a file, on an object of a dataset or of what one keeps."""
        classes = self._project.families.classes_in(path)
        if not self._project.families.has(path):
            return bool(classes or self.places(path))
        if self.places(path):
            return self._is_near(classes) or self._is_shared(path)
        return bool(classes) and self._is_near(classes) and self._is_given_handles(path, classes)

    def places(self, path: Path) -> tuple[int, ...]:
        """Where in a file something may be opened that is kept."""
        return self._project.families.read("openers", path, self.tokens.places)

    def _is_near(self, classes: tuple[Head, ...]) -> bool:
        if screen(self._project).may_reach_workers(classes):
            return True
        return any(one.name in self._handed for one in classes)

    @property
    def _handed(self) -> Names:
        """Names of classes that may open something, and whose objects may be handed to a dataset or to workers."""
        memory = self._project.memory("classes that are handed on")
        if "all" not in memory:
            memory["all"] = handed(self._project, self.opening_classes)
        found: Names = memory["all"]
        return found

    def _is_shared(self, path: Path) -> bool:
        """Whether a dataset may get what a file opens: by the name that it is given, or as an argument."""
        known = screen(self._project)
        text = self._project.families.text(path)
        if any(name in known.near for place in self.places(path) for name in _bound(text, place)):
            return True
        return not known.names.isdisjoint(headings.WORD.findall(text))

    def _is_given_handles(self, path: Path, classes: tuple[Head, ...]) -> bool:
        """Whether a file may get handles from elsewhere: by a call, or from what its classes inherit."""
        text = self._project.families.text(path)
        opening = self.opening_classes
        if any(not one.bases.isdisjoint(opening) for one in classes) or self._calls_opener(text):
            return True
        named = opening.intersection(headings.WORD.findall(text))
        return bool(named) and re.search(rb"\b(?:" + _either(named) + rb")" + METHOD, text) is not None

    # What opens something

    @property
    def opening_names(self) -> frozenset[str] | None:
        """Names of functions and classes by which a handle may come from elsewhere; None if any may be one."""
        memory = self._project.memory("names that open something")
        if "all" not in memory:
            names = self.opening_functions | self.opening_classes
            is_known = len(self.opening_functions) <= MOST_NAMES
            memory["all"] = frozenset(name.decode(errors="replace") for name in names) if is_known else None
        found: frozenset[str] | None = memory["all"]
        return found

    @property
    def opening_functions(self) -> Names:
        """Names of functions that may give a handle, itself or from another of them."""
        memory = self._project.memory("functions that open something")
        if "all" not in memory:
            memory["all"] = self._find_functions()
        found: Names = memory["all"]
        return found

    @property
    def opening_classes(self) -> Names:
        """Names of classes whose methods may open something, those that inherit from one included."""
        memory = self._project.memory("classes that open something")
        if "all" not in memory:
            memory["all"] = self._project.families.heirs(self._find_classes())
        found: Names = memory["all"]
        return found

    def _find_functions(self) -> Names:
        families = self._project.families
        names = new = families.heirs(
            head.name
            for path in self._opening_files()
            for head in self._around(path, self._functions_in(path))
            if _gives(families.text(path), head)
        )
        while new and len(names) <= MOST_NAMES:
            new = families.heirs(self._callers_of(new)) - names
            names |= new
        return names

    def _callers_of(self, names: Names) -> Iterator[bytes]:
        """Give the names of functions that call one of these and are followed, since they speak of an opener too."""
        calls, opens = _calls_of(names), self.tokens.pattern
        for path in self._project.files:
            text = self._project.families.text(path)
            if any(name in text for name in names) and calls.search(text) and opens.search(text):
                for head in self._functions_in(path):
                    inside = (text, head.start, head.stop)
                    if _gives(text, head) and calls.search(*inside) and opens.search(*inside):
                        yield head.name

    def _find_classes(self) -> Iterator[bytes]:
        families = self._project.families
        for path in self._opening_files():
            yield from (head.name for head in self._around(path, families.classes_in(path)))
        for path in self._project.files:
            classes = families.classes_in(path)
            if classes and self._calls_opener(families.text(path)):
                yield from (head.name for head in classes)

    def _opening_files(self) -> Iterator[Path]:
        return (path for path in self._project.files if self.places(path))

    def _functions_in(self, path: Path) -> tuple[Head, ...]:
        return self._project.families.read("functions", path, headings.functions)

    def _around(self, path: Path, heads: tuple[Head, ...]) -> Iterator[Head]:
        """Give those of some definitions in whose text something may be opened."""
        for head in heads:
            if any(head.start < place < head.stop for place in self.places(path)):
                yield head

    def _calls_opener(self, text: bytes) -> bool:
        """Whether a text may call a function that opens something."""
        names = self.opening_functions
        if len(names) > MOST_NAMES:
            return True
        return any(name in text for name in names) and _calls_of(names).search(text) is not None


def _bound(text: bytes, place: int) -> list[bytes]:
    found = BOUND.search(text, max(0, place - LONGEST), place)
    return headings.WORD.findall(found[1]) if found else []


def _gives(text: bytes, head: Head) -> bool:
    """Whether a function may return something."""
    return any(text.find(word, head.start, head.stop) >= 0 for word in (b"return", b"yield"))


def _calls_of(names: Names) -> re.Pattern[bytes]:
    return re.compile(rb"\b(?:" + _either(names) + rb")\s*\(")


def _either(names: Names) -> bytes:
    return b"|".join(sorted(map(re.escape, names)))
