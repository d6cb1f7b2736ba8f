"""HDF5 files: groups, datasets and attributes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Dict, Iterator, List

from forklint_harness.stores.asked import Asked
from forklint_harness.stores.hooks import opener
from forklint_harness.stores.node import COUNT, Node, key_of
from forklint_harness.stores.unknown import AskedDict, Unknown, recent
from forklint_harness.stores.values import array_of, value_of

OF_ARRAYS = frozenset(
    (
        "shape",
        "dtype",
        "ndim",
        "size",
        "chunks",
        "maxshape",
        "nbytes",
        "astype",
        "asstr",
        "len",
        "read_direct",
        "fields",
    )
)
MANY = 4
"""Groups in a group that is gone through."""


class AskedGroup(Asked):
    """A file, a group or a dataset: what it is used as tells which."""

    def __init__(self, node: Node, name: str = "/") -> None:
        self.__dict__.update(_node=node, name=name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        h5py = sys.modules.get("h5py")
        if h5py is None:
            return AskedGroup
        if self._node.kind == "hdf5":
            return h5py.File
        return h5py.Dataset if self._node.kind == "array" else h5py.Group

    def _array(self) -> Any:
        self._node.settle("array")
        self._node.facts.setdefault("many", True)
        recent.append(self._node)
        return array_of(self._node)

    def _group(self) -> Any:
        self._node.settle("group")
        return self._node

    def _child(self, path: str) -> Any:
        node: Any = self
        for step in path.strip("/").split("/"):
            if not step:
                continue
            inner = node._group().part(step, step)
            node = AskedGroup(inner, node.name.rstrip("/") + "/" + step)
        return node

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Unknown):
            key = str(key) if self._node.kind in ("hdf5", "group") else int(key)
        plain = key_of(key)
        if isinstance(plain, (str, bytes)) and self._node.kind != "array":
            return self._child(plain.decode() if isinstance(plain, bytes) else plain)
        return self._array()[key]

    def __contains__(self, key: Any) -> bool:
        self._child(str(key))
        return True

    def get(self, key: str, default: Any = None) -> Any:
        """As a group's."""
        return self[key] if key in self._group().parts or default is None else default

    def _names(self) -> List[str]:
        node = self._group()
        if not any(True for _ in node.items()):
            node.facts["iterated"] = True
            for number in range(MANY if node.kind == "group" else COUNT):
                node.part("item_{}".format(number))
        return [key for key, _ in node.items()]

    def __iter__(self) -> Iterator[Any]:
        if self._node.kind == "array":
            return iter(self._array())
        return iter(self._names())

    def keys(self) -> List[str]:
        """As a group's."""
        return self._names()

    def values(self) -> List[Any]:
        """As a group's."""
        return [self._child(name) for name in self._names()]

    def items(self) -> Any:
        """As a group's."""
        return [(name, self._child(name)) for name in self._names()]

    def __len__(self) -> int:
        if self._node.kind in ("group", "hdf5"):
            return len(self._names())
        return len(self._array())

    @property
    def attrs(self) -> Any:
        """Its attributes."""
        return Attributes(self._node.part("!attrs", "attrs"))

    def __array__(self, *_arguments: Any, **_keywords: Any) -> Any:
        return self._array()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in OF_ARRAYS:
            return _of_array(self._array(), name)
        if name == "file":
            return self
        if name in ("filename", "mode"):
            return "r" if name == "mode" else self._node.name
        if name in ("close", "flush", "visit", "visititems"):
            return lambda *_arguments, **_keywords: None
        raise AttributeError("{!r} has no attribute {!r}".format("h5py", name))

    def __bool__(self) -> bool:
        return True


def _of_array(array: Any, name: str) -> Any:
    if name in ("chunks", "maxshape"):
        return array.shape
    return (lambda: len(array)) if name == "len" else getattr(array, name)


class Attributes(AskedDict):
    """Attributes of a group: as a dict's items, but one that is looked for need not be there."""

    def __init__(self, node: Node) -> None:
        node.settle("dict")
        super().__init__(node)


def make(path: str, node: Node) -> None:
    """Make a file and close it."""
    h5py: Any = importlib.import_module("h5py")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with h5py.File(path, "w", libver="latest") as file:
        _fill(file, node)


def _fill(group: Any, node: Node) -> None:
    for name, part in node.parts.items():
        if name == "!attrs":
            _attributes(group, part)
        elif isinstance(name, str) and not name.startswith("!"):
            if part.kind == "group":
                _fill(group.require_group(name), part)
                continue
            part.settle("array")
            part.facts.setdefault("many", True)
            values = array_of(part)
            if values.dtype.kind == "U":
                values = values.astype(object)
            _attributes(group.create_dataset(name, data=values), part.parts.get("!attrs", Node()))


def _attributes(owner: Any, node: Node) -> None:
    for name, part in node.items():
        value = value_of(part) if part.kind not in ("", "object") else COUNT
        if not isinstance(value, (dict, list)):
            owner.attrs[str(name)] = value


def _reads(arguments: List[Any], keywords: Dict[str, Any]) -> bool:
    mode = keywords.get("mode", arguments[1] if len(arguments) > 1 else "r")
    return mode in ("r", None, "r+")


def _asked(node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> AskedGroup:
    return AskedGroup(node)


_opened = opener("hdf5", _asked, _reads)
HOOKS = {"h5py.File": _opened}
MAKERS = {"hdf5": make}
