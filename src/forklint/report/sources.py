"""The code around a finding: of the file on disk, or of the text that was linted instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.source import document
from forklint.source.document import BrokenError, UnreadableError
from forklint.source.lines import split_lines

if TYPE_CHECKING:
    from forklint.source.notebook import Notebook


class Sources:
    """The texts of files with findings, read on first use.

    ``overlay`` holds the bytes of files that were linted as they came from elsewhere (standard input), by their path
    as shown to the user.
    """

    def __init__(self, overlay: Mapping[str, bytes] | None = None) -> None:
        self._overlay = {Path(path).absolute(): data for path, data in (overlay or {}).items()}
        self._sources: dict[str, str | Notebook] = {}
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def lines(self, path: str, notebook_cell: int | None = None) -> list[str]:
        """The lines of a file, or of a notebook cell, with their line endings; empty if it cannot be read."""
        key = (path, notebook_cell)
        if key not in self._lines:
            source = self._source(path)
            if isinstance(source, str):
                self._lines[key] = split_lines(source) if notebook_cell is None else []
            elif notebook_cell is None:
                self._lines[key] = split_lines(source.text)
            else:
                self._lines[key] = source.lines_of(notebook_cell)
        return self._lines[key]

    def file_row(self, path: str, row: int, notebook_cell: int | None) -> int:
        """The row in the file for a row of a notebook cell; 1 if it is not found."""
        if notebook_cell is None:
            return row
        source = self._source(path)
        return 1 if isinstance(source, str) else source.file_row(notebook_cell, row)

    def _source(self, path: str) -> str | Notebook:
        """The text of a file; of a notebook with its cells."""
        if path not in self._sources:
            data = b""
            try:
                known = self._overlay.get(Path(path).absolute())
                data = document.read(Path(path)) if known is None else known
                doc = document.decode(Path(path), data)
                self._sources[path] = doc.text if doc.notebook is None else doc.notebook
            except BrokenError:
                self._sources[path] = data.decode(errors="replace")
            except UnreadableError:
                self._sources[path] = ""
        return self._sources[path]
