"""Which files may store a handle on an object that workers get, judged by bytes: nothing is parsed.

A finding stands where a handle is stored. So the file opens one itself, or it calls or inherits something that does;
and it has to do with the project's datasets. Names stand for whatever goes by them anywhere in the project.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.facts.datasets.screening import called_beside, making, screen
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
NONE: Names = frozenset()
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
        if not self._project.families.has(path):
            return self.tokens.places(self._project.families.text(path))
        return self._opening_files().get(path, ())

    def _opening_files(self) -> dict[Path, tuple[int, ...]]:
        """The files of the project that may open something, with the places."""
        memory = self._project.memory("files that open something")
        if None not in memory:
            found = memory[None] = {}
            for path, names in self._named().items():
                places = self._project.families.read("openers", path, partial(self.tokens.places, names=names))
                if places:
                    found[path] = places
        files: dict[Path, tuple[int, ...]] = memory[None]
        return files

    def names(self, path: Path) -> Names:
        """The names of openers that may stand before a parenthesis in a file."""
        return self._named().get(path, NONE) if self._project.families.has(path) else self.tokens.names

    def _named(self) -> dict[Path, Names]:
        memory = self._project.memory("files that name openers")
        if None not in memory:
            memory[None] = dict(self._project.families.calling(self.tokens.names))
        files: dict[Path, Names] = memory[None]
        return files

    def _is_near(self, classes: tuple[Head, ...]) -> bool:
        if screen(self._project).may_reach_workers(classes):
            return True
        return any(one.name in self._handed for one in classes)

    @property
    def _handed(self) -> Names:
        """Names of classes that may open something, and whose objects may be handed to a dataset or to workers."""
        memory = self._project.memory("classes that are handed on")
        if "all" not in memory:
            memory["all"] = self.opening_classes & called_beside(self._project)
        found: Names = memory["all"]
        return found

    def _is_shared(self, path: Path) -> bool:
        """Whether a dataset may get what a file opens: by the name that it is given, or as an argument."""
        known = screen(self._project)
        text = self._project.families.text(path)
        if any(name in known.near for place in self.places(path) for name in _bound(text, place)):
            return True
        return path in making(self._project)

    def _is_given_handles(self, path: Path, classes: tuple[Head, ...]) -> bool:
        """Whether a file may get handles from elsewhere: by a call, or from what its classes inherit."""
        opening = self.opening_classes
        if any(not one.bases.isdisjoint(opening) for one in classes):
            return True
        if self._may_call_any or path in self._calls_of_openers():
            return True
        text = self._project.families.text(path)
        named = opening & headings.owners(text)
        return bool(named) and re.search(rb"\b(?:" + b"|".join(named) + rb")" + METHOD, text) is not None

    # What opens something

    @property
    def opening_names(self) -> frozenset[str] | None:
        """Names of functions and classes by which a handle may come from elsewhere; None if any may be one."""
        memory = self._project.memory("names that open something")
        if "all" not in memory:
            names = self.opening_functions | self.opening_classes
            known = frozenset(name.decode(errors="replace") for name in names)
            memory["all"] = None if self._may_call_any else known
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
            for path, places in self._opening_files().items()
            for head in _around(places, self._functions_in(path))
            if _gives(families.text(path), head)
        )
        while new and len(names) <= MOST_NAMES:
            new = families.heirs(self._callers_of(new)) - names
            names |= new
        return names

    def _callers_of(self, names: Names) -> Iterator[bytes]:
        """Give the names of functions that call one of these and are followed, since they speak of an opener too."""
        for path, calls in self._project.families.calls(names):
            text = self._project.families.text(path)
            openers = self.tokens.named(text, self.names(path))
            heads = self._functions_in(path) if openers else ()
            yield from (head.name for head in _around(calls, tuple(_around(openers, heads))) if _gives(text, head))

    def _find_classes(self) -> Iterator[bytes]:
        families = self._project.families
        for path, places in self._opening_files().items():
            yield from (head.name for head in _around(places, families.classes_in(path)))
        if self._may_call_any:
            yield from (head.name for path in self._project.files for head in families.classes_in(path))
        for path, calls in self._calls_of_openers().items():
            yield from (head.name for head in _around(calls, families.classes_in(path)))

    def _functions_in(self, path: Path) -> tuple[Head, ...]:
        return self._project.families.read("functions", path, headings.functions)

    @property
    def _may_call_any(self) -> bool:
        return len(self.opening_functions) > MOST_NAMES

    def _calls_of_openers(self) -> dict[Path, list[int]]:
        """Where the files of the project may call functions that open something."""
        memory = self._project.memory("calls of what opens something")
        if None not in memory:
            calls = self._project.families.calls(self.opening_functions) if not self._may_call_any else ()
            memory[None] = dict(calls)
        places: dict[Path, list[int]] = memory[None]
        return places


def _bound(text: bytes, place: int) -> list[bytes]:
    found = BOUND.search(text, max(0, place - LONGEST), place)
    return headings.WORD.findall(found[1]) if found else []


def _gives(text: bytes, head: Head) -> bool:
    """Whether a function may return something."""
    return any(text.find(word, head.start, head.stop) >= 0 for word in (b"return", b"yield"))


def _around(places: Collection[int], heads: tuple[Head, ...]) -> Iterator[Head]:
    """Give those of some definitions in whose text one of some places is."""
    return (head for head in heads if any(head.start < place < head.stop for place in places))
