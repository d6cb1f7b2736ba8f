"""The text around a finding: of the file on the disk, or of what was linted in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forklint.edits.text import split_lines
from forklint.source import document
from forklint.source.document import UnreadableError


class Sources:
    """The texts that findings point into, read when they are asked for.

    ``overlay`` holds the bytes of files that were linted as they came from elsewhere (standard input), by their path
    as shown to the user.
    """

    def __init__(self, overlay: Mapping[str, bytes] | None = None) -> None:
        self._overlay = overlay or {}
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def lines(self, path: str, notebook_cell: int | None = None) -> list[str]:
        """Give the lines of a file, or of one cell of a notebook, with their ends; none if it cannot be read."""
        key = (path, notebook_cell)
        if key not in self._lines:
            try:
                self._lines[key] = split_lines(self._text(path, notebook_cell))
            except UnreadableError:
                self._lines[key] = []
        return self._lines[key]

    def _text(self, path: str, notebook_cell: int | None) -> str:
        if notebook_cell is not None:
            raise UnreadableError("the cells of notebooks are not read")
        data = self._overlay[path] if path in self._overlay else document.read(Path(path))
        return document.decode(Path(path), data).text
