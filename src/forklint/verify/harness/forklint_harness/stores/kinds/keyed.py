"""Files of keys and values of the standard library: dbm and shelve."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List

from forklint_harness.stores.asked import Asked
from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import Answer, opener
from forklint_harness.stores.marked import mark
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import learning_value
from forklint_harness.stores.values import value_of


class AskedKeys(Asked):
    """A file that has every key that it is asked for."""

    def __init__(self, node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> None:
        self._node = node

    def __getitem__(self, key: Any) -> Any:
        plain = key.encode() if isinstance(key, str) else bytes(key)
        part = self._node.part(plain, plain.decode("utf-8", "replace"))
        part.facts.setdefault("place", len(self._node.parts))
        return self._value(part)

    def _value(self, part: Node) -> Any:
        return mark(part, part.facts["place"])

    def get(self, key: Any, _default: Any = None) -> Any:
        """As a dict's."""
        return self[key]

    def keys(self) -> List[Any]:
        """All keys, or some."""
        if not any(True for _ in self._node.items()):
            for number in range(COUNT):
                self["item_{}".format(number)]
        return [self._key(key) for key, _ in self._node.items()]

    def _key(self, key: bytes) -> Any:
        return key

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: Any) -> bool:
        return True

    def close(self) -> None:
        """Close, as files do."""


class AskedShelf(AskedKeys):
    """A shelf: its values are objects."""

    def _value(self, part: Node) -> Any:
        part.facts["format"] = "pickle"
        return learning_value(part.inner, part.facts["place"])

    def _key(self, key: bytes) -> Any:
        return key.decode()

    def items(self) -> Any:
        """As a dict's."""
        return [(key, self[key]) for key in self.keys()]


def make_dbm(path: str, node: Node) -> None:
    """Make a file of keys and close it."""
    import dbm

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with dbm.open(path, "n") as file:
        for key, part in node.items():
            file[key] = bytes_for(part, part.facts.get("place"))


def make_shelf(path: str, node: Node) -> None:
    """Make a shelf and close it."""
    import shelve

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with shelve.open(path, "n") as shelf:  # noqa: S301 - it is written, not read
        for key, part in node.items():
            shelf[key.decode()] = value_of(part.inner, part.facts.get("place"))


HOOKS: Dict[str, Answer] = {"dbm.open": opener("dbm", AskedKeys), "shelve.open": opener("shelf", AskedShelf)}
MAKERS = {"dbm": make_dbm, "shelf": make_shelf}
