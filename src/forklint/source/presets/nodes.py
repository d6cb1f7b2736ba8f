"""The tree of a preset: mappings, sequences and scalars, whatever the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from enum import Enum
from typing import Any

from forklint.records import dataclass

MERGE = "<<"
"""The key under which YAML takes over the entries of another mapping."""
Address = tuple[int | str, ...]
"""Where a mapping stands: the number of its document, then keys and numbers of items."""
DEEPEST = 200
"""Levels that are followed; settings that people write stay below 20."""


class PresetError(Exception):
    """A text that cannot be read as settings; the message says why in a few words."""


class Shape(Enum):
    """What a node is."""

    SCALAR = "scalar"
    MAPPING = "mapping"
    SEQUENCE = "sequence"
    ALIAS = "alias"
    """Stands for a node that is written elsewhere and has an anchor."""


@dataclass(eq=False)
class Node:
    """One value and its place: ``text[start:end]``. Compared by identity."""

    shape: Shape
    start: int
    end: int
    value: Any = None
    """Of a scalar, as Python has it."""
    entries: list[Entry] = field(default_factory=list)
    """Of a mapping, in order, merge keys included."""
    items: list[Node] = field(default_factory=list)
    """Of a sequence."""
    flow: bool = False
    """Whether it is written between brackets, its parts between commas."""
    anchor: str = ""
    """The name that it has, or, of an alias, the name of what it stands for."""
    target: Node | None = None
    """Of an alias: what it stands for."""

    @property
    def real(self) -> Node:
        """What it stands for; itself if it is no alias."""
        return self.target or self

    @property
    def parts(self) -> list[Node]:
        """The values right below it, as they are written; nothing below an alias."""
        return [entry.value for entry in self.entries] + self.items

    def walk(self) -> Iterator[Node]:
        """Give the node and all that is written below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.parts)

    def tokens(self, left_out: Callable[[Node, Entry], bool] = lambda _node, _entry: False) -> Iterator[object]:
        """Give all that it says, in order, and nothing of where that stands; some entries of mappings left out."""
        yield (self.shape, repr(self.value), self.anchor)
        for entry in self.entries:
            if not left_out(self, entry):
                yield entry.key
                yield from entry.value.tokens(left_out)
        for item in self.items:
            yield from item.tokens(left_out)
        yield "end"

    def own(self, key: str) -> Entry | None:
        """The entry under a key, if there is just one."""
        found = [entry for entry in self.entries if entry.key == key]
        return found[0] if len(found) == 1 else None

    def unrepeated(self) -> list[Entry]:
        """The entries whose key is there just once, in order."""
        counts = Counter(entry.key for entry in self.entries)
        return [entry for entry in self.entries if counts[entry.key] == 1]

    def merged(self) -> Iterator[Node]:
        """Give the mappings that a merge key takes over, each once, the one that counts first."""
        seen = {id(self)}
        waiting = [self]
        while waiting:
            node = waiting.pop(0)
            for entry in node.entries:
                if entry.key != MERGE:
                    continue
                for given in [entry.value.real, *entry.value.real.items]:
                    if given.real.shape is Shape.MAPPING and id(given.real) not in seen:
                        seen.add(id(given.real))
                        waiting.append(given.real)
                        yield given.real

    def effective(self) -> dict[str, Entry]:
        """The entries that count, those of merged mappings included."""
        found: dict[str, Entry] = {}
        for mapping in (self, *self.merged()):
            for entry in mapping.entries:
                if entry.key != MERGE:
                    found.setdefault(entry.key, entry)
        return found


@dataclass(eq=False)
class Entry:
    """One key of a mapping with its value."""

    key: str
    start: int
    """Where the key starts; of a dotted key of TOML, where the whole of it starts."""
    value: Node

    @property
    def end(self) -> int:
        """Where the value ends."""
        return self.value.end
