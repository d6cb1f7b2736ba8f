"""From what was learnt of a value to the value itself: plain, and the same in every process that asks for it."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from forklint_harness.stores.made import Identity, Made
from forklint_harness.stores.names import suffix_of
from forklint_harness.stores.node import COUNT, Node

FOLDER = "data"
"""Where made-up paths lie, below the scratch folder."""
WORDS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen")


def scratch() -> str:
    """The folder in which stores are made: the same for all processes of a trial."""
    return os.path.join(os.environ.get("FORKLINT_DATA") or os.environ.get("TMPDIR") or os.getcwd(), FOLDER)


def value_of(node: Node, number: Optional[int] = None) -> Any:
    """The value that a node stands for; as one of many, its number makes it differ from the others."""
    make = MAKERS.get(node.kind)
    if make is None:
        return node.value if node.value is not None else Made({}, {}, COUNT)
    return make(node, number)


def text_of(node: Node, number: Optional[int] = None) -> str:
    """A text: letters and digits alone, since most readers take those."""
    if node.value is not None:
        return str(node.value)
    if "columns" in node.facts:
        columns = [node.part("!column{}".format(index)) for index in range(node.facts["columns"])]
        return str(node.facts["separator"] or " ").join(text_of(one, number) for one in columns)
    kind = node.facts.get("holds", "")
    if kind in ("int", "float"):
        is_one_of_many = node.facts.get("many") or node.name == "column"
        return str(value_of(Node(node.name, kind, node.facts.get("number")), number if is_one_of_many else None))
    ending = node.facts.get("ending", "")
    where = 0 if number is None else number
    if node.facts.get("digits"):
        return str(where)
    return "{}{}{}{}".format(node.facts.get("beginning", ""), WORDS[where % len(WORDS)], where, ending)


def int_of(node: Node, number: Optional[int] = None) -> int:
    """A number: what is known, the place among others, or how many there are."""
    if node.value is not None:
        return int(node.value)
    return COUNT if number is None else number


def path_of(node: Node, number: Optional[int] = None) -> str:
    """A path in the scratch folder, never empty."""
    if node.value is not None:
        return str(node.value)
    name = node.name.strip("_.") or "store"
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    ending = node.facts.get("ending") or suffix_of(name)
    return os.path.join(scratch(), "{}{}{}".format(stem, "" if number is None else number, ending))


def list_of(node: Node, _number: Optional[int] = None) -> Any:
    """A list; longer where a larger index was asked for."""
    known: Dict[Any, Node] = dict(node.items())
    count = node.facts.get("length") or max([COUNT] + [key + 1 for key in known if isinstance(key, int)])
    return [value_of(known.get(index, node.each), index) for index in range(count)]


def dict_of(node: Node, _number: Optional[int] = None) -> Any:
    """A dict with the keys that were asked for, or with some of its own where it was gone through."""
    found = {key: value_of(part, _number) for key, part in node.items()}
    if node.facts.get("iterated") and not found:
        keys = node.part("!key")
        keys.settle("text")
        return {value_of(keys, index): value_of(node.each, index) for index in range(node.facts.get("length", COUNT))}
    return found


def object_of(node: Node, number: Optional[int] = None) -> Made:
    """An object with the attributes and items that were asked for."""
    attributes = {key[1:]: value_of(part, number) for key, part in node.items() if _is_attribute(key)}
    items = {key: value_of(part, number) for key, part in node.items() if not _is_attribute(key)}
    if OWN_EACH in node.parts:
        items[None] = value_of(node.each, number)
    made = Made(attributes, items, node.facts.get("length", COUNT))
    if "!returned" in node.parts:
        made.__dict__["_forklint_returned"] = [value_of(node.part("!returned"), number)]
    return made


def _is_attribute(key: Any) -> bool:
    return isinstance(key, str) and key.startswith(".")


OWN_EACH = "!each"
SHAPES = ((16,), (16, 16, 3), (3, 16, 16), (), (16, 16), (16, 16, 16), (2, 16, 16, 16))
"""Shapes of one sample, in the order in which they are tried where the name says nothing."""


def sample_shape(node: Node) -> Any:
    """Shape and dtype of one element of an array, by what was learnt, its name, and how many have failed."""
    if "shape" in node.facts:
        return tuple(node.facts["shape"]), node.facts.get("dtype", "float32")
    tried, plain = node.facts.get("tried", 0), node.name.lower().rpartition("/")[2]
    first: Any = ((16,), "float32")
    if any(word in plain for word in ("image", "img", "pixel", "frame", "rgb", "picture", "photo")):
        first = ((16, 16, 3), "uint8")
    elif any(word in plain for word in ("label", "target", "class", "_id", "ids", "idx", "index", "len", "num", "off")):
        first = ((), "int64")
    elif any(word in plain for word in ("name", "caption", "text", "path", "word")):
        first = ((), "text")
    if not tried:
        return first
    others = [one for one in SHAPES if one != first[0]]
    dtype = first[1] if first[1] != "text" else "float32"
    if tried > len(others):
        return others[(tried - 1) % len(others)], "uint8"
    return others[tried - 1], dtype


def array_of(node: Node, number: Optional[int] = None) -> Any:
    """An array of one sample, or of many where it is a whole store's; values differ by position."""
    import numpy

    shape, dtype = sample_shape(node)
    if node.facts.get("many", number is None):
        shape = (node.facts.get("length", COUNT), *shape)
    if dtype == "text":
        return numpy.array([text_of(Node(), index) for index in range(shape[0] if shape else 1)]).reshape(shape)
    count = 1
    for side in shape:
        count *= side
    plain = node.name.lower()
    values = numpy.arange(count, dtype="int64") + 7 * (number or 0)
    if "len" in plain or "count" in plain or "num" in plain:
        values = values * 0 + (1000 if node.facts.get("large") else 4)
    elif "off" in plain or "start" in plain:
        values = values * 4
    elif "label" in plain or "class" in plain or "target" in plain:
        values = values % 2
    if dtype == "bool":
        values = values % 2
    elif dtype in ("uint8", "int8"):
        values = values * 7 % 120
    elif dtype.startswith("float"):
        return (values % 997 / 997 + 0.001 * (values // 997 % 97)).astype(dtype).reshape(shape)
    return values.astype(dtype).reshape(shape)


def bytes_of(node: Node, number: Optional[int] = None) -> bytes:
    """What stands in a store: see ``content``."""
    from forklint_harness.stores.content import bytes_for

    return bytes_for(node, number)


def _plain(*, value: Any) -> Any:
    def make(node: Node, number: Optional[int] = None) -> Any:
        if node.value is not None:
            return node.value
        if value == 0.5 and number is not None:
            return number + 0.5
        return value

    return make


MAKERS: Dict[str, Any] = {
    "int": int_of,
    "float": _plain(value=0.5),
    "bool": _plain(value=False),
    "none": lambda *_: None,
    "text": text_of,
    "path": path_of,
    "paths": lambda node, _=None: [path_of(node, index) for index in range(2)],
    "bytes": bytes_of,
    "list": list_of,
    "dict": dict_of,
    "object": object_of,
    "array": array_of,
    "identity": lambda *_: Identity(),
}


def _class(node: Node, _number: Optional[int] = None) -> Any:
    """An object of a class of the project, built with arguments of its own."""
    from forklint_harness.stores.building import build

    return build(node)


MAKERS["class"] = _class
