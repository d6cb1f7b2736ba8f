"""Which classes may inherit from which, by their names alone: for screens, before any tree is made.

Two classes of one name count as one, and so do a name and another that is given to it anywhere in the project; so a
family has too many members rather than too few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from forklint.records import dataclass
from forklint.source import headings
from forklint.source.headings import Head

if TYPE_CHECKING:
    from forklint.project.index import Project

T = TypeVar("T")
Names = frozenset[bytes]


@dataclass
class Known:
    """What was read from the bytes of files, each with these bytes."""

    texts: dict[Path, tuple[bytes, bytes]] = field(default_factory=dict)
    answers: dict[str, dict[Path, tuple[bytes, Any]]] = field(default_factory=dict)
    """By the name of the question."""
    endings: dict[bytes, bytes] = field(default_factory=dict)
    """Those of all calls, each kept once: the files have them in common."""


class Families:
    """The names of a project's classes, and what is known of each file from its bytes."""

    def __init__(self, project: Project, known: Known | None = None) -> None:
        self._project = project
        self.known = known or Known()
        """May be shared."""

    def read(self, question: str, path: Path, answer: Callable[[bytes], T]) -> T:
        """What the bytes of one file answer to a question; asked again only once they are others."""
        data = self._project.data(path)
        answers = self.known.answers.setdefault(question, {})
        found = answers.get(path)
        if found is None or found[0] is not data:
            found = answers[path] = (data, answer(self.text(path)))
        result: T = found[1]
        return result

    def text(self, path: Path) -> bytes:
        """The bytes of a file as ``headings`` reads them."""
        data = self._project.data(path)
        found = self.known.texts.get(path)
        if found is None or found[0] is not data:
            found = self.known.texts[path] = (data, headings.normal(data))
        return found[1]

    def has(self, path: Path) -> bool:
        """Whether a file is one of the project's own, whose names are known; one that is ignored may be linted too."""
        memory = self._project.memory("paths of files")
        if not memory:
            memory.update(dict.fromkeys(self._project.files))
        return path in memory

    def words(self, path: Path) -> Names:
        """Every word of a file."""
        return self.read("words", path, headings.words)

    def calling(self, names: Names) -> Iterator[tuple[Path, Names]]:
        """Give the files that may call something by one of these names, each with those that end as what it calls."""
        files = self._endings()
        table = headings.by_ending(names, self.known.endings)
        for path, endings in files:
            if not table.keys().isdisjoint(endings):
                yield path, frozenset().union(*(table[ending] for ending in endings if ending in table))

    def calls(self, names: Names) -> Iterator[tuple[Path, list[int]]]:
        """Give the files that call something by one of these names, and where."""
        for path, some in self.calling(names):
            found = [place for name in some for place in headings.calls(self.text(path), name)]
            if found:
                yield path, found

    def classes_in(self, path: Path) -> tuple[Head, ...]:
        """The classes that a file may define."""
        return self.read("classes", path, headings.classes)

    def heirs(self, names: Iterable[bytes]) -> Names:
        """These names, those of all classes that may inherit from one of them, and other names for any."""
        classes, found = self._by_base(), set(names)
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            new = ({heir.name for _, heir in classes.get(name, ())} | self._other_names(name)) - found
            found |= new
            waiting += new
        return frozenset(found)

    def with_base(self, name: str) -> list[tuple[Path, str]]:
        """The classes with a base that may be called by a name: their files, and their own names."""
        memory = self._project.memory("classes with a base")
        if name not in memory:
            classes, called = self._by_base(), {name.encode()}
            waiting = list(called)
            while waiting:
                new = self._other_names(waiting.pop()) - called
                called |= new
                waiting += new
            found = [one for base in sorted(called) for one in classes.get(base, ())]
            memory[name] = [(path, heir.name.decode(errors="replace")) for path, heir in dict.fromkeys(found)]
        heirs: list[tuple[Path, str]] = memory[name]
        return heirs

    def bases(self, names: Iterable[bytes]) -> Names:
        """These names, and every word among the bases of the classes of these names, at any depth."""
        classes, found = self._by_name(), set(names)
        waiting = list(found)
        while waiting:
            new = {base for _, head in classes.get(waiting.pop(), ()) for base in head.bases} - found
            found |= new
            waiting += new
        return frozenset(found)

    def homes(self, names: Iterable[bytes]) -> frozenset[Path]:
        """The files that may define classes of these names."""
        classes = self._by_name()
        return frozenset(path for name in names for path, _ in classes.get(name, ()))

    def base_words(self) -> Iterable[bytes]:
        """Every word among the bases of classes, and every name that is given another."""
        return self._by_base().keys() | self._renamed().keys()

    def _endings(self) -> list[tuple[Path, tuple[bytes, ...]]]:
        """How the names end that each file calls."""
        memory = self._project.memory("endings of calls")
        if None not in memory:
            memory[None] = [(path, self.read("calls", path, self._endings_in)) for path in self._project.files]
        found: list[tuple[Path, tuple[bytes, ...]]] = memory[None]
        return found

    def _endings_in(self, text: bytes) -> tuple[bytes, ...]:
        known = self.known.endings
        return tuple(known.setdefault(ending, ending) for ending in headings.call_endings(text))

    def _by_name(self) -> dict[bytes, list[tuple[Path, Head]]]:
        memory = self._project.memory("classes by name")
        if not memory:
            memory[b""] = []  # no class has this name: the table is never empty again
            for path in self._project.files:
                for head in self.classes_in(path):
                    memory.setdefault(head.name, []).append((path, head))
        return memory

    def _by_base(self) -> dict[bytes, list[tuple[Path, Head]]]:
        memory = self._project.memory("classes by base")
        if not memory:
            memory[b""] = []
            for path in self._project.files:
                for head in self.classes_in(path):
                    for base in head.bases:
                        memory.setdefault(base, []).append((path, head))
        return memory

    def _other_names(self, name: bytes) -> set[bytes]:
        """The names that are given to what a name stands for."""
        memory = self._project.memory("other names")
        if name not in memory:
            memory[name] = {
                new for path in self._renamed().get(name, ()) for _, new in headings.new_names(self.text(path), (name,))
            }
        found: set[bytes] = memory[name]
        return found

    def _renamed(self) -> dict[bytes, list[Path]]:
        """The files that give a name another."""
        memory = self._project.memory("names that are given others")
        if not memory:
            memory[b""] = []
            for path in self._project.files:
                for name in self.read("renamed", path, headings.renamed):
                    memory.setdefault(name, []).append(path)
        return memory
