"""The documents that are open in the client, as they are there: files, and notebooks with their cells.

pygls keeps texts as well, but cuts lines at form feeds and a few more characters at which neither the protocol nor
Python does, so that edits behind one would go astray.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from forklint.server.positions import index_of
from forklint.source.document import encoded
from forklint.source.kinds import Kind, kind_of
from forklint.source.lines import split_lines
from forklint.source.paths import from_root


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for one that is no file, such as a version from git."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return from_root(Path(path)) if path and "\0" not in path else None


@dataclass
class Text:
    """One text of the client: a file, or a cell of a notebook."""

    uri: str
    version: int
    source: str
    language: str = ""

    @property
    def lines(self) -> list[str]:
        """Its lines without their ends; a text that ends with a line end has an empty last one."""
        lines = [line.rstrip("\r\n") for line in split_lines(self.source)]
        return [*lines, ""] if not lines or self.source.endswith(("\r", "\n")) else lines

    def change(self, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str) -> None:
        """Apply what the client changed, in order."""
        for one in changes:
            if isinstance(one, types.TextDocumentContentChangePartial):
                start, end = (self._offset(place, encoding) for place in (one.range.start, one.range.end))
                self.source = self.source[:start] + one.text + self.source[max(start, end) :]
            else:
                self.source = one.text

    def _offset(self, place: types.Position, encoding: str) -> int:
        lines = split_lines(self.source)
        if place.line >= len(lines):
            return len(self.source)
        line = lines[max(place.line, 0)].rstrip("\r\n")
        return sum(map(len, lines[: place.line])) + index_of(line, place.character, encoding)


@dataclass
class Document:
    """A file that is open: one text, or the cells of a notebook."""

    uri: str
    path: Path
    version: int
    cells: list[tuple[types.NotebookCell, Text]] = field(default_factory=list)
    text: Text | None = None
    metadata: Any = None

    def snapshot(self) -> Snapshot:
        """The document as it is now."""
        if self.text is not None:
            return Snapshot(self.uri, self.path, self.version, (self.text.uri,), (self.text.source,))
        uris, sources = (
            zip(*((text.uri, text.source) for _, text in self.cells), strict=True) if self.cells else ((), ())
        )
        return Snapshot(self.uri, self.path, self.version, uris, sources, self._notebook())

    def _notebook(self) -> str:
        """The cells as a file of a notebook."""
        cells = [
            {
                "cell_type": "code" if cell.kind is types.NotebookCellKind.Code else "markdown",
                "metadata": {"vscode": {"languageId": text.language}} if text.language else {},
                "source": text.source,
            }
            for cell, text in self.cells
        ]
        metadata = self.metadata if isinstance(self.metadata, dict) else {}
        known = {key: metadata[key] for key in ("kernelspec", "language_info") if isinstance(metadata.get(key), dict)}
        return json.dumps({"cells": cells, "metadata": known, "nbformat": 4, "nbformat_minor": 5})


@dataclass(frozen=True)
class Snapshot:
    """A document at one version."""

    uri: str
    path: Path
    version: int
    uris: tuple[str, ...]
    """Of its text, or of its cells."""
    sources: tuple[str, ...]
    notebook: str | None = None
    """Of a notebook, its JSON."""

    @cached_property
    def data(self) -> bytes:
        """What would be in the file if it were saved."""
        if self.notebook is not None:
            return self.notebook.encode()
        return encoded(self.sources[0]) if kind_of(self.path) is Kind.PYTHON else self.sources[0].encode()

    def place(self, cell: int | None) -> tuple[str, list[str]]:
        """The URI and the lines of the text, or of a cell by its number from 1; raises LookupError."""
        number = 0 if cell is None or self.notebook is None else cell - 1
        return self.uris[number], Text(self.uris[number], 0, self.sources[number]).lines


class Texts:
    """All documents that are open."""

    def __init__(self) -> None:
        self.encoding: str = types.PositionEncodingKind.Utf16
        self._documents: dict[str, Document] = {}
        self._by_cell: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._documents.values()))

    def find(self, uri: str) -> Document | None:
        """The document of a URI, which may be that of a cell; None if it is not open."""
        return self._documents.get(uri) or self._by_cell.get(uri)

    def at(self, path: Path) -> Document | None:
        """The document of a file, if it is open."""
        return next((one for one in self._documents.values() if one.path == path), None)

    def open(self, item: types.TextDocumentItem) -> Document | None:
        """Take in a text that was opened; None if it is no file."""
        path = path_of(item.uri)
        if path is None:
            return None
        text = Text(item.uri, item.version, item.text, item.language_id)
        document = self._documents[item.uri] = Document(item.uri, path, item.version, text=text)
        return document

    def change(self, params: types.DidChangeTextDocumentParams) -> Document | None:
        """Take in an edit; None if the document is not open."""
        document = self._documents.get(params.text_document.uri)
        if document is None or document.text is None:
            return None
        document.text.change(params.content_changes, self.encoding)
        document.version = document.text.version = params.text_document.version
        return document

    def close(self, uri: str) -> Document | None:
        """Forget a document; gives it if it was open."""
        document = self._documents.pop(uri, None)
        for _, text in document.cells if document is not None else ():
            self._by_cell.pop(text.uri, None)
        return document

    # Notebooks

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> Document | None:
        """Take in a notebook that was opened; None if it is no file."""
        notebook = params.notebook_document
        path = path_of(notebook.uri)
        if path is None:
            return None
        document = Document(notebook.uri, path, notebook.version, metadata=notebook.metadata)
        self._documents[notebook.uri] = document
        self._put_cells(document, notebook.cells, params.cell_text_documents)
        return document

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> Document | None:
        """Take in an edit of a notebook; None if it is not open."""
        document = self._documents.get(params.notebook_document.uri)
        if document is None or document.text is not None:
            return None
        document.version = params.notebook_document.version
        if params.change.metadata is not None:
            document.metadata = params.change.metadata
        cells = params.change.cells
        if cells is not None:
            if cells.structure is not None:
                self._restructure(document, cells.structure)
            by_uri = {text.uri: text for _, text in document.cells}
            for changed in cells.text_content or ():
                text = by_uri.get(changed.document.uri)
                if text is not None:
                    text.change(changed.changes, self.encoding)
                    text.version = changed.document.version
            new = {cell.document: cell for cell in cells.data or ()}
            document.cells = [(new.get(text.uri, cell), text) for cell, text in document.cells]
        return document

    def _restructure(self, document: Document, structure: types.NotebookDocumentCellChangeStructure) -> None:
        array = structure.array
        start, end = array.start, array.start + array.delete_count
        cells = [cell for cell, _ in document.cells]
        cells[start:end] = array.cells or []
        known = [types.TextDocumentItem(one.uri, one.language, one.version, one.source) for _, one in document.cells]
        self._put_cells(document, cells, [*known, *(structure.did_open or ())])

    def _put_cells(
        self, document: Document, cells: Sequence[types.NotebookCell], texts: Iterable[types.TextDocumentItem]
    ) -> None:
        by_uri = {one.uri: Text(one.uri, one.version, one.text, one.language_id) for one in texts}
        for _, text in document.cells:
            self._by_cell.pop(text.uri, None)
        document.cells = [(cell, by_uri[cell.document]) for cell in cells if cell.document in by_uri]
        self._by_cell |= {text.uri: document for _, text in document.cells}
