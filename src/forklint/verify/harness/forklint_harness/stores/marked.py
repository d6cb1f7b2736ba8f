"""Bytes and texts out of a store that is being learnt: wherever they go, it can be told from which key they came.

A mark stands in the bytes themselves, for most readers are handed a copy: a buffer, an array, a slice.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, Tuple

from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.node import Node
from forklint_harness.stores.unknown import recent

MARK = re.compile(rb"\x01fkl(\d+)\x02")
SIZE = 64
"""Bytes of a value of which nothing is known."""
_nodes: Dict[int, Tuple[Node, Optional[int]]] = {}
_texts: Dict[str, Tuple[Node, Optional[int]]] = {}


class Asked(bytes):
    """Bytes that note whether they are taken for a number or for text."""

    forklint: Tuple[Node, Optional[int]]

    def __int__(self) -> int:
        return int(_holding(self.forklint, "int"))

    def __float__(self) -> float:
        return float(_holding(self.forklint, "float"))

    def decode(self, *_arguments: Any, **_keywords: Any) -> str:
        """Decode, as bytes do."""
        node, number = self.forklint
        if node.facts.get("format", "text") == "text":
            return text(node, number)
        return text(node, number, bytes(self).decode("latin-1"))

    def __str__(self) -> str:
        return repr(bytes_for(*self.forklint))


class AskedText(str):  # noqa: SLOT000 - it holds where it is from
    """Text that notes whether it is taken for a number, or apart into columns."""

    forklint: Tuple[Node, Optional[int]]

    def __int__(self) -> int:
        return int(_holding(self.forklint, "int"))

    def __float__(self) -> float:
        return float(_holding(self.forklint, "float"))

    def _again(self, value: str) -> AskedText:
        again = AskedText(value)
        again.forklint = self.forklint
        return again

    def strip(self, *arguments: Any) -> AskedText:
        """Strip, as texts do."""
        return self._again(super().strip(*arguments))

    def rstrip(self, *arguments: Any) -> AskedText:
        """Strip, as texts do."""
        return self._again(super().rstrip(*arguments))

    def lower(self) -> AskedText:
        """Give lower case, as texts do."""
        return self._again(super().lower())

    def replace(self, *arguments: Any) -> AskedText:
        """Replace, as texts do."""
        return self._again(super().replace(*arguments))

    def __getitem__(self, key: Any) -> AskedText:
        return self._again(super().__getitem__(key))

    def split(self, sep: Optional[str] = None, maxsplit: Any = -1) -> Any:
        """Split, as texts do: into columns, each of them noted by itself."""
        node, number = self.forklint
        parts = super().split(sep, maxsplit)
        if sep == "\n" or node.kind in ("path", "int", "float") or node.facts.get("format"):
            return parts
        node.facts.setdefault("separator", sep if sep is not None else " ")
        node.facts.setdefault("columns", 1)
        recent.append(node)
        if node.facts["separator"] != (sep if sep is not None else " "):
            return parts
        return [text(node.part("!column{}".format(index), "column"), number, one) for index, one in enumerate(parts)]

    def endswith(self, suffix: Any, *arguments: Any) -> bool:
        """Tell, as texts do, and note the ending that is wanted."""
        node, _ = self.forklint
        if not arguments and not super().endswith(suffix):
            node.facts.setdefault("ending", suffix[0] if isinstance(suffix, tuple) else str(suffix))
        return super().endswith(suffix, *arguments)


def _holding(told: Tuple[Node, Optional[int]], kind: str) -> Any:
    node, number = told
    from forklint_harness.stores.values import value_of

    node.facts.setdefault("holds", kind)
    is_one_of_many = node.facts.get("many") or node.name == "column"
    recent.append(node)
    return value_of(Node(node.name, kind, node.facts.get("number")), number if is_one_of_many else None)


def mark(node: Node, number: Optional[int] = None) -> Asked:
    """Bytes for a node that is being learnt; what is known of it stands in them already."""
    if not node.facts.get("format") and not node.facts.get("holds"):
        key = len(_nodes)
        _nodes[key] = (node, number)
        begin = b"\x01fkl%d\x02" % key
        data = Asked(begin + b"\0" * max(0, int(node.facts.get("size", SIZE)) - len(begin)))
    else:
        data = Asked(_marked(node, number))
    data.forklint = (node, number)
    recent.append(node)
    return data


def _marked(node: Node, number: Optional[int]) -> bytes:
    """Bytes with a mark, of the size that is known."""
    if node.facts.get("holds") or node.facts.get("format") == "text":
        data = bytes_for(node, number)
        _texts.setdefault(data.decode("utf-8", "replace"), (node, number))
        return data
    key = len(_nodes)
    _nodes[key] = (node, number)
    begin = b"\x01fkl%d\x02" % key
    return begin + b"\0" * max(0, int(node.facts.get("size", SIZE)) - len(begin))


def text(node: Node, number: Optional[int] = None, value: Optional[str] = None) -> AskedText:
    """Text for a node that is being learnt."""
    from forklint_harness.stores.values import text_of

    if value is None:
        node.facts.setdefault("format", "text") if not node.kind else None
        value = text_of(node, number)
    found = AskedText(value)
    found.forklint = (node, number)
    _texts[value] = (node, number)
    recent.append(node)
    return found


def told_of(data: Any) -> Optional[Tuple[Node, Optional[int]]]:
    """The node from which bytes, a text, an array or an open file came; None if it is none of these."""
    known = getattr(data, "forklint", None)
    if isinstance(known, tuple) and isinstance(known[0], Node):
        return known
    if isinstance(data, str):
        return _texts.get(data) or _in(data[: 2 * SIZE].encode("latin-1", "replace"))
    if hasattr(data, "getbuffer"):
        data = data.getbuffer()
    elif hasattr(data, "read") and hasattr(data, "seek"):
        return _of_file(data)
    elif hasattr(data, "tobytes"):
        data = data.tobytes()
    try:
        head = bytes(memoryview(data)[: 2 * SIZE])
    except TypeError:
        return None
    return _in(head) or _texts.get(head.decode("utf-8", "replace"))


def _in(head: bytes) -> Optional[Tuple[Node, Optional[int]]]:
    found = MARK.search(head)
    return _nodes.get(int(found.group(1))) if found else None


def _of_file(file: Any) -> Optional[Tuple[Node, Optional[int]]]:
    try:
        place = file.tell()
        head = file.read(SIZE)
        file.seek(place)
    except Exception:
        return None
    return None if isinstance(head, str) or not head else told_of(head)


def reads_as(told: Tuple[Node, Optional[int]], reader: str) -> Tuple[Node, Optional[int]]:
    """Note what reads the bytes, and give the node of what it finds in them."""
    node, number = told
    if node.facts.get("format") in (None, "text", "raw", "binary", "lines"):
        node.facts["format"] = reader
    recent.append(node)
    return node.inner, number
