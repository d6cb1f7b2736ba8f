"""The JSON of a notebook: which cells there are, and where and how their sources are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from forklint.records import dataclass
from forklint.source.json_positions import Node, parse
from forklint.source.lines import common, split_lines

CLOSED = ("outputs", "attachments", "widgets")
"""Keys with what may be large, and holds no source."""
ESCAPED = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
SURROGATE = re.compile("[\ud800-\udfff]")


class NotebookError(Exception):
    """A file that holds no notebook of Python; the message says why in a few words."""


class ForeignError(NotebookError):
    """A notebook of another language: no fault, and worth a word only where it was named."""


@dataclass(frozen=True)
class RawCell:
    """A code cell: its number among all cells, from 1, its source, and where in the JSON text that is written."""

    number: int
    source: str
    start: int
    end: int
    items: tuple[Node, ...] | None
    """The texts that a list of texts is made of; None for a single text."""
    is_python: bool = True

    def place_of(self, row: int) -> int:
        """Where in the JSON text the text begins that holds a row of the source, from 1."""
        before = sum(map(len, split_lines(self.source)[: row - 1]))
        for item in self.items or ():
            if before < len(item.value):
                return item.start
            before -= len(item.value)
        return self.items[-1].start if self.items else self.start

    def respelt(self, source: str, text: str) -> str:
        """Another source as JSON in the style of this one, which stands in ``text``; lines keep their spelling."""
        plain = text.isascii() and ESCAPED.search(text) is not None
        if self.items is None:
            return json.dumps(source, ensure_ascii=plain)
        known = {item.value: text[item.start : item.end] for item in reversed(self.items)}
        lines = split_lines(source)
        opening, comma, closing = self._layout(text)
        written = ""
        for number, (line, old) in enumerate(zip(lines, self._counterparts(lines), strict=True)):
            if number:
                written += text[self.items[old - 1].end : self.items[old].start] if old else comma
            written += known.get(line) or json.dumps(line, ensure_ascii=plain)
        return f"[{opening}{written}{closing}]" if lines else "[]"

    def _counterparts(self, lines: list[str]) -> list[int]:
        """For each line the number of the item that it was, among those unchanged at both ends; 0 for others."""
        old = [item.value for item in self.items or ()]
        start = common(old, lines)
        end = common(old[start:][::-1], lines[start:][::-1])
        new = len(lines) - start - end
        return [*range(start), *([0] * new), *range(len(old) - end, len(old))]

    def _layout(self, text: str) -> tuple[str, str, str]:
        """What stands before, between and after the texts of a list."""
        items = self.items or ()
        if not items:
            return "", ", ", ""
        opening, closing = text[self.start + 1 : items[0].start], text[items[-1].end : self.end - 1]
        if len(items) > 1:
            return opening, text[items[0].end : items[1].start], closing
        return opening, f",{opening}" if opening else ", ", closing


@dataclass(frozen=True)
class RawNotebook:
    """The code cells of a notebook."""

    cells: tuple[RawCell, ...]
    notes: tuple[str, ...]
    doubled: bool
    """Whether a key stands twice in one object, so that it is not certain which of the two is meant."""


def read(text: str) -> RawNotebook:
    """Find the code cells of a notebook; raises NotebookError, and JsonError for what is not JSON."""
    if not text.strip():
        raise NotebookError("the notebook is empty")
    root = parse(text, CLOSED)
    if not isinstance(root.value, dict):
        raise NotebookError("not a notebook: its JSON is not an object")
    cells = root.get("cells")
    if cells is None and "worksheets" in root.value:
        raise NotebookError("a notebook in the old format (nbformat 3); open and save it in Jupyter to convert it")
    if cells is None or not isinstance(cells.value, list):
        raise NotebookError("not a notebook: it has no list of cells")
    _check_language(root.value.get("metadata"))
    notes: list[str] = []
    found = tuple(_cells(cells, notes))
    double = next(root.doubles(), None)
    if double is not None:
        row = text.count("\n", 0, double.key.start) + 1
        notes.append(f"cannot be fixed: its JSON has a duplicate key '{double.key.value}' (line {row})")
    return RawNotebook(found, tuple(notes), double is not None)


def _check_language(metadata: object) -> None:
    if not isinstance(metadata, dict):
        return
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(table)
        language = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(language, str) and language.strip() and not _is_python(language):
            raise ForeignError(f"a notebook in {language}")
        if isinstance(inner, dict) and inner.get("name") == "python2":  # editors write any version beside it
            raise ForeignError("a notebook in Python 2")


def _is_python(language: str) -> bool:
    return language.strip().lower() in {"python", "python3", "ipython", "ipython3"}


def _cells(cells: Node, notes: list[str]) -> Iterator[RawCell]:
    for number, cell in enumerate(cells.items, 1):
        if not isinstance(cell.value, dict):
            notes.append(f"cell {number} was skipped: it is not an object")
            continue
        if cell.value.get("cell_type") != "code":
            continue
        source = cell.get("source")
        fault = _fault(source)
        if fault or source is None:
            notes.append(f"cell {number} was skipped: {fault}")
            continue
        items = source.items if isinstance(source.value, list) else None
        whole = source.value if items is None else "".join(source.value)
        yield RawCell(number, whole, source.start, source.end, items, _cell_is_python(cell.value.get("metadata")))


def _fault(source: Node | None) -> str:
    """Why a source is none; empty if it is one."""
    if source is None:
        return "it has no source"
    texts = source.value if isinstance(source.value, list) else [source.value]
    if not all(isinstance(text, str) for text in texts):
        return "its source is neither a string nor a list of strings"
    if any(SURROGATE.search(text) for text in texts):
        return "its source contains a lone surrogate"
    return "its source contains a null character" if any("\0" in text for text in texts) else ""


def _cell_is_python(metadata: object) -> bool:
    """Whether a cell is in the notebook's own language, as far as editors that know several say so."""
    if not isinstance(metadata, dict):
        return True
    for table, key in (
        ("vscode", "languageId"),
        ("polyglot_notebook", "kernelName"),
        ("dotnet_interactive", "language"),
    ):
        inner = metadata.get(table)
        language = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(language, str) and not _is_python(language):
            return False
    return True
