"""NumPy's files: .npy, .npz, raw numbers, memory maps; and Torch's, which hold whole objects."""

from __future__ import annotations

import io
import os
from typing import Any, Callable, Dict, List

from forklint_harness.stores import readers
from forklint_harness.stores.asked import Asked
from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import opener
from forklint_harness.stores.kinds import plain as plain_files
from forklint_harness.stores.marked import reads_as, told_of
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import Unknown, recent
from forklint_harness.stores.values import array_of, scratch
from forklint_harness.stores.world import World

ORDER = ("filename", "dtype", "mode", "offset", "shape", "order")
"""Arguments of np.memmap."""


class AskedArchive(Asked):
    """What np.load gives: an archive of arrays by name, or one array."""

    def __init__(self, node: Node, number: Any = None) -> None:
        self.__dict__.update(_node=node, _number=number)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self._node.inner.kind != "array":
            self._node.facts["format"] = "npz"
            part = self._node.inner.part(str(key), str(key))
            recent.append(part)
            return array_of(part, self._number)
        return self._array()[int(key) if isinstance(key, Unknown) else key]

    def _array(self) -> Any:
        self._node.facts["format"] = "npy"
        inner = self._node.inner
        if inner.kind in ("dict", "object"):
            import numpy

            from forklint_harness.stores.unknown import learning_value

            found = numpy.empty((), dtype=object)
            found[()] = learning_value(inner, self._number)
            return found
        inner.settle("array")
        if self._number is None:
            inner.facts.setdefault("many", True)
        recent.append(inner)
        return array_of(inner, self._number)

    def __contains__(self, key: Any) -> bool:
        return key in self._node.inner.parts

    def __iter__(self) -> Any:
        return iter(self._array())

    def __len__(self) -> int:
        return len(self._array())

    def __array__(self, *_arguments: Any, **_keywords: Any) -> Any:
        return self._array()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("files", "keys", "items", "close", "zip", "f"):
            self._node.facts["format"] = "npz"
            names = [key for key, _ in self._node.inner.items()]
            found = {"files": names, "items": lambda: [(one, self[one]) for one in names], "keys": lambda: names}
            return found.get(name, lambda: None)
        if name == "item" and self._node.inner.kind in ("", "dict", "object"):
            self._node.inner.settle("dict")
        return getattr(self._array(), name)


def _loaded(node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> Any:
    if node.facts.get("format") in (None, "npy") and node.name.endswith(".npz"):
        node.facts["format"] = "npz"
    if node.facts.get("format") in (None, "npz") and not node.name.endswith(".npy"):
        return AskedArchive(node)
    if node.inner.kind in ("dict", "object"):
        return AskedArchive(node)._array()
    return AskedArchive(node) if not node.inner.kind else AskedArchive(node)._array()


_by_path = opener("plain", _loaded)


def _load(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    told = told_of(arguments[0]) if world.is_learning and arguments and hasattr(arguments[0], "read") else None
    if told is None:
        return _by_path(world, plain, arguments, keywords)
    if told[0].facts.get("format") not in ("npy", "npz"):
        reads_as(told, "npy")
    return AskedArchive(*told)


def _numbers(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """np.fromfile: of a path, or of a file that is open."""
    import numpy

    told = told_of(arguments[0]) if world.is_learning and arguments and hasattr(arguments[0], "read") else None
    if told is not None:
        dtype = keywords.get("dtype", arguments[1] if len(arguments) > 1 else float)
        count = int(keywords.get("count", arguments[2] if len(arguments) > 2 else -1))
        size = -1 if count < 0 else count * numpy.dtype(dtype).itemsize
        told[0].facts["real"] = True
        return numpy.frombuffer(arguments[0].read(size), dtype=dtype)
    return opener("plain", lambda node, *_: _from(node, arguments, keywords))(world, plain, arguments, keywords)


def _from(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    import numpy

    node.facts.setdefault("format", "binary")
    recent.append(node)
    dtype = keywords.get("dtype", arguments[1] if len(arguments) > 1 else float)
    found = numpy.frombuffer(bytes_for(node), dtype=dtype)
    count = int(keywords.get("count", -1))
    return found if count < 0 else found[:count]


def _mapped(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """np.memmap: a real one of a file as large as its shape wants."""

    def real(node: Node, given: List[Any], named: Dict[str, Any]) -> Any:
        import numpy

        named = {**named, **{ORDER[place]: one for place, one in enumerate(given)}}
        shape = named.get("shape")
        dtype = numpy.dtype(named.get("dtype", "uint8"))
        shape = shape if shape is None or isinstance(shape, tuple) else (int(shape),)
        size = dtype.itemsize * COUNT * 64
        if shape is not None:
            size = int(numpy.prod([int(side) for side in shape])) * dtype.itemsize + int(named.get("offset", 0))
        node.facts.update(format="binary", size=max(size, node.facts.get("size", 0)))
        recent.append(node)
        path = os.path.join(scratch(), "real", node.name or "map")
        plain_files.make(path, node)
        return plain(path, **{key: value for key, value in named.items() if key != "filename"})

    return opener("plain", real)(world, plain, arguments, keywords)


def _table(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    import numpy

    node.facts.setdefault("format", "lines")
    each = node.each
    each.facts.setdefault("separator", keywords.get("delimiter") or " ")
    each.facts.setdefault("columns", 2)
    for index in range(each.facts["columns"]):
        each.part("!column{}".format(index), "column").facts.setdefault("holds", "int")
    recent.append(each)
    keywords = {key: value for key, value in keywords.items() if key != "fname"}
    return numpy.genfromtxt(io.BytesIO(bytes_for(node)), *arguments[1:], **keywords)


def _torch(node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> Any:
    from forklint_harness.stores.unknown import learning_value

    node.facts["format"] = "torch"
    return learning_value(node.inner)


_torch_by_path = opener("plain", _torch)


def _torch_load(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    if arguments and hasattr(arguments[0], "read"):
        return readers.HOOKS["torch.load"](world, plain, arguments, keywords)
    return _torch_by_path(world, plain, arguments, keywords)


HOOKS = {
    "torch.load": _torch_load,
    "numpy.load": _load,
    "numpy.fromfile": _numbers,
    "numpy.memmap": _mapped,
    "numpy.loadtxt": opener("plain", _table),
    "numpy.genfromtxt": opener("plain", _table),
}
MAKERS: Dict[str, Any] = {}
