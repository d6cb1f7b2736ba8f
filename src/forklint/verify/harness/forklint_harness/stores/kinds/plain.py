"""Plain files: lines of text, bytes that differ by position, or what a reader of open files makes of them."""

from __future__ import annotations

import io
import os
from typing import Any, Dict, Iterator, List

from forklint_harness.stores.content import bytes_for, counters, line_of
from forklint_harness.stores.hooks import opener
from forklint_harness.stores.marked import Asked, mark, text
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import recent


class AskedLines(io.StringIO):
    """A file of text that notes what its lines are taken for."""

    def __init__(self, node: Node) -> None:
        content = bytes_for(node).decode("utf-8") if node.facts.get("format") else ""
        super().__init__(content)
        self.forklint = (node, None)
        self._at = 0

    def _lines(self) -> Any:
        node = self.forklint[0]
        node.facts.setdefault("format", "lines")
        recent.append(node)
        return node

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self, *_arguments: Any) -> Any:
        """Read a line."""
        node = self._lines()
        number, self._at = self._at, self._at + 1
        if number >= node.facts.get("length", 8 * COUNT):
            return ""
        each = node.each
        each.facts["many"] = True
        return text(each, number, line_of(each, number) + "\n")

    def readlines(self, *_arguments: Any) -> List[Any]:
        """Read all lines."""
        return list(self)

    def read(self, *_arguments: Any) -> Any:
        """Read all: what is then taken apart at line ends is lines."""
        node = self.forklint[0]
        recent.append(node)
        if node.facts.get("format") in (None, "lines"):
            whole = Whole("".join(self))
            whole.node = node
            return whole
        return text(node, None, super().read())


class Whole(str):  # noqa: SLOT000 - it holds where it is from
    """The text of a whole file."""

    node: Node

    def splitlines(self, *_arguments: Any) -> Any:
        """Take apart into lines."""
        each = self.node.each
        each.facts["many"] = True
        return [text(each, number, one) for number, one in enumerate(super().splitlines())]

    def split(self, sep: Any = None, maxsplit: Any = -1) -> Any:
        """Take apart; at line ends, these are lines."""
        if sep in ("\n", None):
            found = self.splitlines()
            return found if sep is None else [*found, ""]
        return super().split(sep, maxsplit)

    def strip(self, *arguments: Any) -> Whole:
        """Strip, as texts do."""
        again = Whole(super().strip(*arguments))
        again.node = self.node
        return again

    rstrip = strip

    @property
    def forklint(self) -> Any:
        """For readers: where it is from."""
        return self.node, None


class AskedBytes(io.BytesIO):
    """A file of bytes; read as a whole it may be anything, read in parts it holds records."""

    def __init__(self, node: Node) -> None:
        told = node.facts.get("format")
        super().__init__(counters(1 << 18) if told in (None, "binary") else bytes_for(node))
        self.forklint = (node, None)

    def read(self, size: Any = -1) -> Any:
        """Read."""
        node = self.forklint[0]
        if (size is None or size < 0) and self.tell() == 0 and node.facts.get("format") is None:
            return mark(node)
        if size and size > 0:
            node.facts.setdefault("format", "binary")
            node.facts["size"] = max(node.facts.get("size", 0), min(self.tell() + size, 1 << 24))
        recent.append(node)
        return super().read(size)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        self.forklint[0].facts.setdefault("format", "binary")
        return super().readinto(buffer)

    def __iter__(self) -> Iterator[Any]:
        node = self.forklint[0]
        node.facts.setdefault("format", "lines")
        for number, line in enumerate(bytes_for(node).splitlines(keepends=True)):
            found = Asked(line)
            found.forklint = (node.each, number)
            yield found


def opened(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """Give what learns; a file whose descriptor is wanted is a real one."""
    mode = str(keywords.get("mode", arguments[1] if len(arguments) > 1 else "r"))
    if node.facts.get("real"):
        from forklint_harness.stores.values import scratch

        path = os.path.join(scratch(), "real", node.name or "file")
        make(path, node)
        return io.open(path, "rb" if "b" in mode else "r")
    return AskedBytes(node) if "b" in mode else AskedLines(node)


def reads(arguments: List[Any], keywords: Dict[str, Any]) -> bool:
    """Whether a file is opened for reading alone."""
    mode = keywords.get("mode", arguments[1] if len(arguments) > 1 else "r")
    return isinstance(mode, str) and not set(mode) & set("wax+")


def make(path: str, node: Node) -> None:
    """Make a file and close it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    told = node.facts.get("format") or format_of(path)
    if told and not node.facts.get("format"):
        node = Node.of_json(node.as_json())
        node.facts["format"] = told
    with io.open(path, "wb") as file:
        file.write(bytes_for(node) if told else counters(1 << 12))


def format_of(path: str) -> str:
    """What a file holds, by its ending."""
    ending = os.path.splitext(path)[1].lower()
    if ending in (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".gif"):
        return "image"
    endings = {".txt": "lines", ".lst": "lines", ".npy": "npy", ".npz": "npz", ".wav": "wave", ".json": "json"}
    return {**endings, ".pkl": "pickle", ".pickle": "pickle", ".pt": "torch", ".pth": "torch"}.get(ending, "")


_opened = opener("plain", opened, reads)
HOOKS = {"open": _opened, "io.open": _opened, "codecs.open": _opened}
MAKERS = {"plain": make, "": make}
