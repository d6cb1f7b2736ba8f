"""JSON read with the place of each value in its text, so that one value can be replaced and the rest stays as it is.

The standard library reads the values (``raw_decode`` says where it stopped); this walks the brackets between
them. What need not be looked into is read in one step and costs what ``json.loads`` costs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from forklint.records import dataclass

BLANK = re.compile(r"[ \t\r\n]*")
DEEPEST = 200
"""Levels of brackets that are followed; settings and notebooks that people have stay below 20."""


class JsonError(ValueError):
    """A text that is no JSON; ``row`` and ``column`` count from 1."""

    def __init__(self, message: str, text: str, place: int) -> None:
        self.reason = message
        self.row = text.count("\n", 0, place) + 1
        self.column = place - text.rfind("\n", 0, place)
        super().__init__(f"{message} (line {self.row}, column {self.column})")


class DepthError(JsonError):
    """A text whose brackets nest more deeply than anything that people write."""

    def __init__(self, text: str, place: int) -> None:
        super().__init__("it is nested too deeply", text, place)


@dataclass(frozen=True)
class Node:
    """One value and its place: ``text[start:end]`` is how it is written, quotes and brackets included."""

    value: Any
    """The value as Python has it; of an object with a key twice the last one, as ``json.loads`` has it."""
    start: int
    end: int
    items: tuple[Node, ...] = ()
    """The values of an array that was looked into."""
    members: tuple[Member, ...] = ()
    """The members of an object that was looked into, in order, doubles included."""

    def get(self, key: str) -> Node | None:
        """The value under a key of an object; the last one where the key stands twice."""
        return next((member.value for member in reversed(self.members) if member.key.value == key), None)

    def doubles(self) -> Iterator[Member]:
        """Give the members whose key stood further up in the same object, here and below."""
        seen = set()
        for member in self.members:
            if member.key.value in seen:
                yield member
            seen.add(member.key.value)
            yield from member.value.doubles()
        for item in self.items:
            yield from item.doubles()


@dataclass(frozen=True)
class Member:
    """A key of an object and the value under it."""

    key: Node
    value: Node


def parse(text: str, closed: Collection[str] = ()) -> Node:
    """Read a JSON text into nodes; values under the keys in ``closed`` are not looked into.

    Raises JsonError for what ``json.loads`` refuses, a byte order mark included, and DepthError, which is one, for
    brackets more than DEEPEST deep (those of closed values: as deep as the interpreter's stack allows).
    """
    reader = _Reader(text, closed)
    node = reader.value(_blank(text, 0), 0)
    end = _blank(text, node.end)
    if end != len(text):
        raise JsonError("unexpected content after the end", text, end)
    return node


def _blank(text: str, place: int) -> int:
    """Where the next character stands that is no space."""
    match = BLANK.match(text, place)
    return match.end() if match else place


class _Reader:
    def __init__(self, text: str, closed: Collection[str]) -> None:
        self._text = text
        self._closed = frozenset(closed)
        self._decoder = json.JSONDecoder()

    def value(self, start: int, depth: int) -> Node:
        opening = self._text[start : start + 1]
        if opening == "{":
            return self._object(start, depth + 1)
        if opening == "[":
            return self._array(start, depth + 1)
        return self._whole(start)

    def _string(self, start: int) -> Node:
        if self._text[start : start + 1] != '"':
            raise JsonError("expected a string in double quotes", self._text, start)
        return self._whole(start)

    def _whole(self, start: int) -> Node:
        """Read a value in one step."""
        try:
            value, end = self._decoder.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            raise JsonError(_lower(error.msg), self._text, error.pos) from None
        except RecursionError:
            raise DepthError(self._text, start) from None
        except ValueError:  # the interpreter's limit for int()
            raise JsonError("a number has too many digits", self._text, start) from None
        return Node(value, start, end)

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        place = self._opened(start, depth)
        while self._text[place : place + 1] != "]":
            if items:
                place = self._past(",", place)
            items.append(self.value(place, depth))
            place = _blank(self._text, items[-1].end)
        return Node([item.value for item in items], start, place + 1, items=tuple(items))

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        place = self._opened(start, depth)
        while self._text[place : place + 1] != "}":
            if members:
                place = self._past(",", place)
            key = self._string(place)
            place = self._past(":", _blank(self._text, key.end))
            value = self._whole(place) if key.value in self._closed else self.value(place, depth)
            members.append(Member(key, value))
            place = _blank(self._text, value.end)
        values = {member.key.value: member.value.value for member in members}
        return Node(values, start, place + 1, members=tuple(members))

    def _opened(self, start: int, depth: int) -> int:
        if depth > DEEPEST:
            raise DepthError(self._text, start)
        return _blank(self._text, start + 1)

    def _past(self, mark: str, place: int) -> int:
        if self._text[place : place + 1] != mark:
            raise JsonError(f"expected '{mark}'", self._text, place)
        return _blank(self._text, place + 1)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
