"""What has been learnt of one value: how it is used, and so what it can be."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, Optional

COUNT = 32
"""How many of something there are, where nothing else is known: samples, lines, elements, letters at most."""
OWN = "!"
"""Begins the name of a part that is no item of the value but a way to see it: its inner value, its columns."""


class Node:
    """One value: its kind, a value that is known, its parts, and further facts.

    Kinds: ``int``, ``float``, ``bool``, ``none``, ``text``, ``path``, ``bytes``, ``list``, ``dict``, ``object``,
    ``array``, ``identity``, ``class``; of stores those in ``kinds``; empty as long as nothing is known.
    """

    def __init__(self, name: str = "", kind: str = "", value: Any = None) -> None:
        self.name = name
        self.kind = kind
        self.value = value
        self.parts: Dict[Any, Node] = {}
        self.facts: Dict[str, Any] = {}

    def part(self, key: Any, name: str = "") -> Node:
        """The part under a key; made if it is asked for the first time."""
        if key not in self.parts:
            self.parts[key] = Node(name or (key if isinstance(key, str) else self.name))
        return self.parts[key]

    @property
    def each(self) -> Node:
        """What each element of a list is, or each value of a dict whose keys nobody knows."""
        return self.part(OWN + "each", self.name)

    @property
    def inner(self) -> Node:
        """What the bytes or the text hold, once they are read by what reads them."""
        return self.part(OWN + "inner", self.name)

    def items(self) -> Iterator[Any]:
        """The parts that are items, with their keys."""
        for key, part in self.parts.items():
            if not (isinstance(key, str) and key.startswith(OWN)):
                yield key, part

    def settle(self, kind: str) -> None:
        """Take note of a kind, if none is known yet."""
        if not self.kind:
            self.kind = kind

    def walk(self) -> Iterator[Node]:
        """The node and all that is below."""
        yield self
        for part in self.parts.values():
            yield from part.walk()

    def as_json(self) -> Any:
        """The node as JSON can hold it; keys and values by their ``repr``."""
        parts = [[repr(key), part.as_json()] for key, part in self.parts.items()]
        facts = {name: repr(fact) for name, fact in self.facts.items()}
        told: List[Any] = [self.name, self.kind, repr(self.value), parts, facts]
        while len(told) > 2 and told[-1] in ([], {}, "None"):
            told.pop()
        return told

    @classmethod
    def of_json(cls, told: Any) -> Node:
        """The node that ``as_json`` wrote."""
        name, kind, value, parts, facts = list(told) + ["None", [], {}][len(told) - 2 :]
        node = cls(name, kind, ast.literal_eval(value))
        node.parts = {ast.literal_eval(key): cls.of_json(part) for key, part in parts}
        node.facts = {name: ast.literal_eval(fact) for name, fact in facts.items()}
        return node


def key_of(value: Any) -> Optional[Any]:
    """A key as it can be kept, plain; None for what cannot be."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, tuple) and all(key_of(one) is not None for one in value):
        return tuple(key_of(one) for one in value)
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        return None
