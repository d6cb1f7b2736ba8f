"""TOML: the standard library says whether it is valid and what its values are; this says where they stand."""

from __future__ import annotations

import re
import sys
from typing import Any

from forklint.source.presets.nodes import DEEPEST, Entry, Node, PresetError, Shape

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
SPACES = re.compile(r"[ \t]*")
TEXTS = (
    r'"""(?:[^\\]|\\.)*?"""(?!")"{0,2}',
    r"'''.*?'''(?!')'{0,2}",
    r'"(?:[^"\\\r\n]|\\.)*"',
    r"'[^'\r\n]*'",
)
TEXT = re.compile("|".join(TEXTS), re.DOTALL)
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BARE_VALUE = re.compile(r"\d{4}-\d\d-\d\d[ ]\d\d:[^\s,\]}#]*|[^\s,\]}#]+")


def parse(text: str) -> Node:
    """Read a text into nodes; raises PresetError."""
    keys = (line.partition("=")[0] for line in text.splitlines())
    if any(key.count(".") > DEEPEST and "," not in key for key in keys):  # the library's memory is quadratic in these
        raise PresetError("it nests too deeply")
    try:  # numbers with a point stay text: `nan` is not equal to itself
        values = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise PresetError(f"not valid TOML: {_lower(str(error))}") from None
    except ValueError:  # the interpreter's limit for int()
        raise PresetError("not valid TOML: a number has too many digits") from None
    tree = _Reader(text).document()
    if plain(tree) != values:
        raise PresetError("its TOML cannot be followed")
    return tree


def plain(node: Node) -> Any:
    """The values of a tree of TOML as Python has them."""
    if node.shape is Shape.MAPPING:
        return {entry.key: plain(entry.value) for entry in node.entries}
    return [plain(item) for item in node.items] if node.shape is Shape.SEQUENCE else node.value


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


class _Reader:
    """Walks a text that is known to be valid."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self._known: dict[int, dict[str, Entry]] = {}
        """The entries of each table by key, since there may be thousands."""

    def document(self) -> Node:
        root = table = Node(Shape.MAPPING, 0, len(self.text))
        self._skip(BLANK)
        while self.place < len(self.text):
            if self.text[self.place] == "[":
                table = self._header(root)
            else:
                self._statement(table)
            self._skip(BLANK)
        return root

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.place)
        self.place = match.end() if match else self.place

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.place)
        if match is None:
            raise PresetError("its TOML cannot be followed")
        self.place = match.end()
        return match[0]

    def _key(self) -> list[str]:
        """Read a key with its dots."""
        parts = []
        while True:
            self._skip(SPACES)
            quoted = self.text[self.place] in "\"'"
            word = self._take(TEXT if quoted else BARE_KEY)
            parts.append(str(_literal(word)) if quoted else word)
            self._skip(SPACES)
            if self.text[self.place] != ".":
                return parts
            self.place += 1

    def _header(self, root: Node) -> Node:
        start = self.place
        is_row = self.text.startswith("[[", start)
        self.place += 2 if is_row else 1
        *above, name = self._key()
        self.place += 2 if is_row else 1
        parent = self._descend(root, above, start)
        if not is_row:
            return self._descend(parent, [name], start)
        known = self._entries(parent).get(name)
        if known is None:
            known = self._add(parent, Entry(name, start, Node(Shape.SEQUENCE, start, self.place)))
        known.value.items.append(Node(Shape.MAPPING, start, self.place))
        return known.value.items[-1]

    def _descend(self, table: Node, keys: list[str], start: int) -> Node:
        """Go down to a table, made where it was not there yet."""
        for key in keys:
            entry = self._entries(table).get(key)
            if entry is None:
                entry = self._add(table, Entry(key, start, Node(Shape.MAPPING, start, self.place)))
            table = entry.value.items[-1] if entry.value.shape is Shape.SEQUENCE else entry.value
        return table

    def _statement(self, table: Node) -> None:
        start = self.place
        *above, name = self._key()
        self.place += 1
        self._skip(SPACES)
        self._add(self._descend(table, above, start), Entry(name, start, self._value()))

    def _entries(self, table: Node) -> dict[str, Entry]:
        return self._known.setdefault(id(table), {})

    def _add(self, table: Node, entry: Entry) -> Entry:
        table.entries.append(entry)
        self._entries(table)[entry.key] = entry
        return entry

    def _value(self) -> Node:
        start = self.place
        opening = self.text[start]
        if opening == "{":
            node = Node(Shape.MAPPING, start, start, flow=True)
        elif opening == "[":
            node = Node(Shape.SEQUENCE, start, start, flow=True)
        else:
            word = self._take(TEXT if opening in "\"'" else BARE_VALUE)
            return Node(Shape.SCALAR, start, self.place, _literal(word))
        self.place += 1
        self._skip(BLANK)
        while self.text[self.place] not in "]}":
            if node.shape is Shape.MAPPING:
                self._statement(node)
            else:
                node.items.append(self._value())
            self._skip(BLANK)
            if self.text[self.place] == ",":
                self.place += 1
                self._skip(BLANK)
        self.place += 1
        node.end = self.place
        return node


def _literal(word: str) -> Any:
    """The value of one literal."""
    try:
        return tomllib.loads(f"v = {word}", parse_float=str)["v"]
    except tomllib.TOMLDecodeError:
        raise PresetError("its TOML cannot be followed") from None
