"""LMDB environments: keys with bytes, in one unnamed database and in named ones."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from forklint_harness.stores.asked import Obliging
from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import opener
from forklint_harness.stores.marked import mark
from forklint_harness.stores.node import COUNT, Node


class AskedEnvironment(Obliging):
    """An environment that has every key that it is asked for."""

    def __init__(self, node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> None:
        subdir = keywords.get("subdir", arguments[2] if len(arguments) > 2 else True)
        node.facts["subdir"] = bool(subdir)
        if keywords.get("max_dbs"):
            node.facts["max_dbs"] = int(keywords["max_dbs"])
        self._node = node

    def begin(self, *arguments: Any, **keywords: Any) -> Any:
        """Begin a transaction."""
        database = keywords.get("db", arguments[0] if arguments else None)
        return AskedTransaction(self._node, database)

    def open_db(self, key: Any = None, *_arguments: Any, **_keywords: Any) -> Any:
        """Open a named database."""
        return Named(key)

    def stat(self, *_arguments: Any) -> Dict[str, int]:
        """As LMDB's: so many entries."""
        self._node.facts.setdefault("counted", True)
        return {"psize": 4096, "depth": 1, "branch_pages": 0, "leaf_pages": 1, "overflow_pages": 0, "entries": COUNT}

    def info(self) -> Dict[str, int]:
        """As LMDB's."""
        return {
            "map_addr": 0,
            "map_size": 1 << 24,
            "last_pgno": 1,
            "last_txnid": 1,
            "max_readers": 126,
            "num_readers": 1,
        }


class Named:
    """A named database; None is the unnamed one."""

    def __init__(self, name: Any) -> None:
        self.name = name


def _keys_of(node: Node, database: Any) -> Node:
    name = getattr(database, "name", None)
    return node if name is None else node.part("!db", "db").part(bytes(name))


class AskedTransaction(Obliging):
    """A transaction, and its own cursor."""

    def __init__(self, node: Node, database: Any) -> None:
        self._node, self._database = node, database
        self._at: Optional[bytes] = None

    def get(self, key: Any, default: Any = None, db: Any = None) -> Any:
        """Get bytes; no default is ever needed."""
        keys = _keys_of(self._node, db or self._database)
        plain = bytes(key)
        is_new = plain not in keys.parts
        part = keys.part(plain, plain.decode("utf-8", "replace"))
        if is_new:
            part.facts["number"] = None
            part.facts["place"] = len(keys.parts)
        return mark(part, part.facts["place"])

    def cursor(self, db: Any = None) -> Any:
        """Itself: it goes through the keys that are known, or through some."""
        return AskedTransaction(self._node, db or self._database)

    def stat(self, *_arguments: Any) -> Dict[str, int]:
        """As the environment's."""
        self._node.facts.setdefault("counted", True)
        return {"entries": COUNT}

    def _each(self) -> Iterator[Tuple[bytes, Any]]:
        keys = _keys_of(self._node, self._database)
        if not keys.parts:
            keys.facts["iterated"] = True
            for number in range(COUNT):
                self.get("{:08d}".format(number).encode())
        for key in sorted(key for key in keys.parts if isinstance(key, bytes)):
            self._at = key
            yield key, self.get(key)

    def __iter__(self) -> Iterator[Any]:
        return self._each()

    def iternext(self, keys: Any = 1, values: Any = 1) -> Iterator[Any]:
        """Go on, as a cursor does."""
        for key, value in self._each():
            yield (key, value) if keys and values else key if keys else value

    def first(self) -> bool:
        """Go to the first key."""
        self._at = next((key for key, _ in self._each()), None)
        return self._at is not None

    def set_key(self, key: Any) -> bool:
        """Go to a key."""
        self.get(key)
        self._at = bytes(key)
        return True

    set_range = set_key

    def key(self) -> bytes:
        """The key that it is at."""
        return self._at or b""

    def value(self) -> Any:
        """What lies there."""
        return self.get(self._at or b"")

    def item(self) -> Any:
        """Both."""
        return self.key(), self.value()


def make(path: str, node: Node) -> None:
    """Make an environment and close it."""
    import lmdb

    is_folder = bool(node.facts.get("subdir", True))
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    named = dict(node.part("!db", "db").items()) if "!db" in node.parts else {}
    environment: Any = lmdb.open(path, subdir=is_folder, map_size=1 << 26, max_dbs=len(named) + 4)
    _put(environment, node, None)
    for name, keys in named.items():
        _put(environment, keys, environment.open_db(name))
    environment.close()
    if is_folder and not os.path.exists(os.path.join(path, "data.mdb")):
        raise OSError("no environment was made")


def _put(environment: Any, keys: Node, database: Any) -> None:
    with environment.begin(write=True, db=database) as transaction:
        for key, part in keys.items():
            if isinstance(key, bytes) and not part.facts.get("absent"):
                transaction.put(key, bytes_for(part, part.facts.get("place")) or b"\0")
        for number in range(COUNT if keys.facts.get("counted") else 0):
            if transaction.stat()["entries"] < COUNT:  # as many as it was said to have
                transaction.put(b"~%05d" % number, b"\0")


_opened = opener("lmdb", AskedEnvironment)
HOOKS = {"lmdb.open": _opened, "lmdb.Environment": _opened}
MAKERS = {"lmdb": make}
