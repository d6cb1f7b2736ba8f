"""A value of which little is known yet: it takes whatever is done to it, and notes what that says of it.

As soon as a use tells its kind, the answer is a plain value of that kind: what it makes is no unknown any more.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Optional

from forklint_harness.stores.made import SCALAR
from forklint_harness.stores.names import guess
from forklint_harness.stores.node import COUNT, Node, key_of
from forklint_harness.stores.values import value_of

FEW = 8
"""Elements at the beginning of a list that may each be of a kind of its own, as a tuple's are."""
TEXT = frozenset(set(dir(str)) - set(dir(object)) - {"count", "index", "isdigit"})
MAPPING = frozenset(("items", "keys", "values", "get", "setdefault", "popitem", "update"))
LIST = frozenset(("append", "extend", "insert", "remove", "sort", "reverse", "index", "count"))
_ARRAY = """
shape dtype ndim astype reshape transpose T squeeze mean std sum min max flatten numpy unsqueeze permute nbytes to float
long detach cpu tolist ravel view clip argmax nonzero dim numel cumsum cumprod argsort take argmin repeat dot any all
round prod var searchsorted swapaxes ptp
"""
ARRAY = frozenset(_ARRAY.split())
hints: Dict[str, Any] = {}
"""What configuration files and command lines of the project give for names."""
recent: list = []  # type: ignore[type-arg]
"""Nodes of unknowns as they were used, the last use last: where a use fails, one of the last was wrong."""


def learning_value(node: Node, number: Optional[int] = None, name: str = "") -> Any:
    """The value that a pass works with: plain as far as the kind is known, one that learns where it is not."""
    if not node.kind:
        _guess(node, name)
    recent.append(node)
    del recent[:-200]
    if node.kind == "dict":
        return AskedDict(node, number)
    if node.kind == "list":
        known = dict(node.items())
        count = max([node.facts.get("length") or COUNT] + [key + 1 for key in known if isinstance(key, int)])
        return [learning_value(known.get(index, node.each), index) for index in range(count)]
    if node.kind in ("", "object"):
        return Unknown(node, number)
    return value_of(node, number)


def _guess(node: Node, name: str) -> None:
    found = guess(name) if name else None
    told = hints.get(name, [])
    if node.facts.get("hint", 0) < len(told):
        node.facts.setdefault("hint", 0)
        learn(node, told[node.facts["hint"]])
    elif found is not None:
        node.kind, node.value = found


def learn(node: Node, value: Any) -> None:
    """Take a plain value for what the node is."""
    kinds = {bool: "bool", int: "int", float: "float", str: "text", bytes: "bytes", type(None): "none"}
    if isinstance(value, dict):
        node.kind = "dict"
        for key, inner in value.items():
            learn(node.part(key), inner)
    elif isinstance(value, (list, tuple)):
        node.kind = "list"
        node.facts["length"] = len(value)
        for index, inner in enumerate(value):
            learn(node.part(index, node.name), inner)
    elif type(value) in kinds:
        node.kind, node.value = kinds[type(value)], value


class AskedDict(Dict[Any, Any]):
    """A dict that has every key that it is asked for."""

    def __init__(self, node: Node, number: Optional[int] = None) -> None:
        super().__init__({key: learning_value(part, number, _name(key)) for key, part in node.items()})
        self._node, self._number = node, number
        if node.facts.get("iterated") and not super().__len__():
            super().update(self._own())

    def _own(self) -> Dict[Any, Any]:
        keys = self._node.part("!key")
        keys.settle("text")
        count = self._node.facts.get("length", COUNT)
        return {value_of(keys, index): learning_value(self._node.each, index) for index in range(count)}

    def __missing__(self, key: Any) -> Any:
        plain = key_of(key)
        if plain is None:
            raise KeyError(key)
        if self._node.facts.get("iterated"):
            return learning_value(self._node.each, self._number)
        value = learning_value(self._node.part(plain, _name(plain)), self._number, _name(plain))
        self[plain] = value
        return value

    def _iterate(self) -> None:
        if not self._node.facts.get("iterated"):
            self._node.facts["iterated"] = True
            if not super().__len__():  # asked by ``not``, it would say that it is never empty
                super().update(self._own())

    def __iter__(self) -> Iterator[Any]:
        self._iterate()
        return super().__iter__()

    def __len__(self) -> int:
        self._iterate()
        return super().__len__()

    def __bool__(self) -> bool:
        return True

    def items(self) -> Any:
        """As a dict's."""
        self._iterate()
        return super().items()

    def keys(self) -> Any:
        """As a dict's."""
        self._iterate()
        return super().keys()

    def values(self) -> Any:
        """As a dict's."""
        self._iterate()
        return super().values()

    def __getattr__(self, name: str) -> Any:
        """An object after all, whose attributes are its items, too."""
        if name.startswith("_"):
            raise AttributeError(name)
        self._node.kind = "object"
        return learning_value(self._node.part("." + name, name), self._number, name)

    def get(self, key: Any, default: Any = None) -> Any:
        """As a dict's; a key that was asked for with a default is one that need not be there."""
        plain = key_of(key)
        return self[plain] if plain in self or (isinstance(plain, str) and plain in hints) else default

    def __reduce__(self) -> Any:
        return (dict, (dict(super().items()),))


def _name(key: Any) -> str:
    return key.lstrip(".") if isinstance(key, str) else ""


class Unknown:
    """Takes what is done to it, and notes what that says."""

    def __init__(self, node: Node, number: Optional[int] = None) -> None:
        object.__setattr__(self, "_forklint", (node, number))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        node, number = self._forklint
        if name == "get" and node.kind == "object":
            return lambda key, default=None: self[key] if key in hints else default
        for names, kind in ((MAPPING, "dict"), (ARRAY, "array"), (TEXT, "text"), (LIST, "list")):
            if name in names and not (kind == "array" and node.kind):
                node.settle(kind)
                if node.kind == kind:
                    return getattr(learning_value(node, number), name)
        node.settle("object")
        return learning_value(node.part("." + name, name), number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        node, _ = self._forklint
        node.settle("object")
        object.__setattr__(self, name, value)

    def _as(self, kind: str) -> Any:
        node, number = self._forklint
        node.settle(kind)
        recent.append(node)
        return learning_value(node, number) if node.kind != "object" else value_of(Node(node.name, kind), number)

    def __getitem__(self, key: Any) -> Any:
        node, number = self._forklint
        plain = key_of(key)
        if isinstance(plain, str) or (isinstance(plain, bytes) and node.kind != "list"):
            if node.kind == "object":
                return learning_value(node.part(plain), number, _name(plain))
            return self._as("dict")[plain]
        if node.kind == "object":
            return learning_value(node.each, plain if isinstance(plain, int) else None)
        if isinstance(plain, int) and 0 <= plain < FEW and node.kind in ("", "list"):
            node.settle("list")
            recent.append(node)
            return learning_value(node.part(plain, node.name), plain)
        return self._as("array" if isinstance(key, tuple) else "list")[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._forklint[0].settle("dict" if isinstance(key, str) else "list")

    def __iter__(self) -> Iterator[Any]:
        node, _ = self._forklint
        if node.kind == "object":
            return iter([learning_value(node.each, index) for index in range(COUNT)])
        return iter(self._as("list"))

    def __len__(self) -> int:
        node, _ = self._forklint
        return COUNT if node.kind == "object" else len(self._as("list"))

    def __contains__(self, key: Any) -> bool:
        node, _ = self._forklint
        if key_of(key) is None or node.kind not in ("", "dict"):
            return key in list(self)
        if isinstance(key_of(key), str):
            self._as("dict")[key_of(key)]
        return True

    def __bool__(self) -> bool:
        node, _ = self._forklint
        if node.kind == "":
            node.facts["asked"] = True
            return bool(node.facts.get("truth", False))
        return True

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Give back what looks like a sample; asked by a number or a name, what that gives is to be learnt."""
        node, number = self._forklint
        node.settle("object")
        if (arguments or keywords) and not all(isinstance(one, SCALAR) for one in arguments):
            return arguments[0] if arguments else keywords
        return learning_value(node.part("!returned", node.name), number)

    def __index__(self) -> int:
        return int(self._as("int"))

    def __float__(self) -> float:
        return float(self._as("float"))

    def __str__(self) -> str:
        return str(self._as("text"))

    def __fspath__(self) -> str:
        node, number = self._forklint
        node.settle("path")
        return str(value_of(node, number))

    def __format__(self, wanted: str) -> str:
        kind = "float" if wanted[-1:] in "eEfFgG%" and wanted else "int" if wanted[-1:] in "dxob" and wanted else "text"
        return format(self._as(kind), wanted)

    def __bytes__(self) -> bytes:
        return bytes(self._as("bytes"))

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        import numpy

        return numpy.asarray(self._as("array"))

    def __eq__(self, other: object) -> bool:
        return self._compare(other, lambda own: own == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._as("text"))

    def _compare(self, other: object, ask: Callable[[Any], bool]) -> bool:
        node, number = self._forklint
        if isinstance(other, Unknown):
            return other._forklint[0] is node
        if not node.kind:
            learn(node, other)
            return True
        return bool(ask(value_of(node, number)))

    def _ordered(self, other: Any) -> Any:
        if isinstance(other, Unknown):
            other = other._as("int")
        return self._as(_kind_beside(other))

    def __lt__(self, other: Any) -> Any:
        return self._ordered(other) < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self._ordered(other) <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self._ordered(other) > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self._ordered(other) >= _plain(other)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memory: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        return (_same, (value_of(*self._forklint),))


def _same(value: Any) -> Any:
    return value


def _kind_beside(other: Any) -> str:
    """The kind of what is computed or compared with a value."""
    if isinstance(other, str):
        return "text"
    if isinstance(other, float):
        return "float"
    if isinstance(other, (list, tuple)):
        return "list"
    if isinstance(other, bytes):
        return "bytes"
    return "array" if hasattr(other, "shape") else "int"


def _plain(other: Any) -> Any:
    return other._as("int") if isinstance(other, Unknown) else other


def _operation(name: str) -> Any:
    import operator

    ask = getattr(operator, name)

    def left(self: Unknown, other: Any) -> Any:
        return ask(self._as(_kind_beside(other)), _plain(other))

    def right(self: Unknown, other: Any) -> Any:
        return ask(_plain(other), self._as(_kind_beside(other)))

    return left, right


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _left, _right = _operation(_operator)
    setattr(Unknown, "__{}__".format(_operator), _left)
    setattr(Unknown, "__r{}__".format(_operator), _right)
for _operator in ("neg", "abs", "pos"):
    setattr(
        Unknown, "__{}__".format(_operator), lambda self, _name=_operator: getattr(self._as("int"), "__%s__" % _name)()
    )
Unknown.__int__ = Unknown.__index__  # type: ignore[attr-defined]
