"""Settings files in YAML, TOML and JSON as one kind of tree, each value with its position in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from forklint.model import Span
from forklint.records import dataclass
from forklint.source import suppressions
from forklint.source.comments import Comment
from forklint.source.document import Document
from forklint.source.presets.nodes import Node, PresetError
from forklint.source.suppressions import Suppression

LARGEST = {"yaml": 200_000, "toml": 500_000, "json": 1_000_000}
"""Bytes of the largest file that is read: a preset is written by hand, what is larger is data. Each takes a second."""
COMMENTS = {"yaml": re.compile(r"(?<!\S)#"), "toml": re.compile("#")}
"""Where a comment may start, outside of texts."""
__all__ = ["LARGEST", "Preset", "PresetError", "parse", "read"]


@dataclass(frozen=True)
class Preset:
    """One file of settings: its text and the tree of each document in it."""

    path: Path
    document: Document
    trees: tuple[Node, ...]

    @property
    def text(self) -> str:
        """Its text, without a byte order mark."""
        return self.document.text

    @property
    def format(self) -> str:
        """How it is written: ``yaml``, ``toml`` or ``json``."""
        return format_of(self.path)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line starts."""
        return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Row and column, from 1, of a character of the text."""
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The rows and columns of a stretch of the text."""
        return Span(*self.place(start), *self.place(max(start, end)))

    def suppressions(self) -> list[Suppression]:
        """The comments that silence findings; JSON has none."""
        return suppressions.read(self.comments, self.document.lines)

    @cached_property
    def comments(self) -> tuple[Comment, ...]:
        """Its comments; JSON has none."""
        if self.format == "json" or "#" not in self.text:
            return ()
        nodes = (node for tree in self.trees for node in tree.walk())
        texts = sorted((node.start, node.end) for node in nodes if isinstance(node.value, str))
        found: list[Comment] = []
        for match in COMMENTS[self.format].finditer(self.text):
            row, column = self.place(match.start())
            before = bisect_right(texts, (match.start(), len(self.text)))
            if (before and match.start() < texts[before - 1][1]) or (found and found[-1].row == row):
                continue
            found.append(Comment(row, column - 1, self.document.lines[row - 1][column - 1 :]))
        return tuple(found)


def format_of(path: Path) -> str:
    """The language of a preset, by its suffix."""
    suffix = path.suffix.lower().removeprefix(".")
    return "yaml" if suffix == "yml" else suffix


def parse(text: str, language: str) -> Iterator[Node]:
    """Give the tree of each document of a text; raises PresetError."""
    try:
        if language == "yaml":
            from forklint.source.presets import yaml  # noqa: PLC0415 - a library for each language

            yield from yaml.parse(text)
        elif language == "toml":
            from forklint.source.presets import toml  # noqa: PLC0415

            yield toml.parse(text)
        else:
            from forklint.source.presets import json  # noqa: PLC0415

            yield json.parse(text)
    except RecursionError:
        raise PresetError("it nests too deeply") from None


def read(document: Document) -> Preset:
    """Read a document as settings; raises PresetError, which says in a few words why it cannot be read."""
    return Preset(document.path, document, tuple(parse(document.text, format_of(document.path))))
