"""A Jupyter notebook as one Python program in the order of its cells, and the way back into the cells.

Only cells that hold Python are in the program. They are parted by markers: statements that do nothing, each with a
text that stands nowhere else. After a change the program is cut at the markers again; a change that moved one, or lost
a masked magic, is refused. Of the file only the ``source`` of changed cells is written anew.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from forklint.model import Applicability, Edit, Finding, Fix, Link, Span
from forklint.records import dataclass
from forklint.source import notebook_json
from forklint.source.lines import apply_edits, edits_between, split_lines
from forklint.source.magics import OTHER_CELLS, PYTHON_CELLS, SHELL_CELLS, Masked, Masker, cell_magic
from forklint.source.notebook_json import RawCell
from forklint.source.paths import NO_FILE

BLANK_HEAD = re.compile(r"(?:[ \t\f]*\n)*")
UNPARSABLE = (SyntaxError, RecursionError, MemoryError, ValueError)


@dataclass(frozen=True)
class Fault:
    """A cell that is no Python; ``source`` is its text with its magics masked."""

    number: int
    source: str
    error: Exception


@dataclass(frozen=True)
class Part:
    """One cell of the program."""

    raw: RawCell
    masked: Masked
    first_row: int
    """Row of its first line in the program, from 1."""

    @property
    def number(self) -> int:
        """Its number among all cells, from 1."""
        return self.raw.number

    @cached_property
    def source(self) -> str:
        r"""The cell as written, its line ends ``\n``."""
        return _plain_ends(self.raw.source)


@dataclass(frozen=True)
class Notebook:
    """The cells of a notebook that are Python, and the program that they make."""

    text: str
    """The JSON text."""
    parts: tuple[Part, ...]
    mark: str
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    """What a user should know of cells that were passed over."""
    fixable: bool = True
    raws: dict[int, RawCell] = field(default_factory=dict, compare=False, repr=False)
    """All code cells by number, for what shows them."""

    @cached_property
    def program(self) -> str:
        """The Python program."""
        lines: list[str] = []
        for index, part in enumerate(self.parts):
            lines += [*([self._marker(part)] if index else []), *part.masked.lines]
        return "".join(f"{line}\n" for line in lines)

    def _marker(self, part: Part) -> str:
        return f"'{self.mark}cell{part.number}'"

    # Places

    def part_at(self, row: int) -> Part:
        """The cell that holds a row of the program."""
        return self.parts[max(0, bisect_right(self._first_rows, row) - 1)]

    @cached_property
    def _first_rows(self) -> list[int]:
        return [part.first_row for part in self.parts]

    def lines_of(self, number: int) -> list[str]:
        """The lines of a cell as written, with their ends; none for a cell that is no code."""
        raw = self.raws.get(number)
        return split_lines(raw.source) if raw is not None else []

    def file_row(self, number: int, row: int) -> int:
        """The row of the file in which a row of a cell is written."""
        raw = self.raws.get(number)
        return self.text.count("\n", 0, raw.place_of(row)) + 1 if raw is not None else 1

    @cached_property
    def marker_rows(self) -> dict[int, int]:
        """The row of the program in which each cell but the first is marked, by its number."""
        return {part.number: part.first_row - 1 for part in self.parts[1:]}

    def program_row(self, number: int, row: int) -> int:
        """The row of the program in which a row of a cell stands."""
        return next(part.first_row for part in self.parts if part.number == number) + row - 1

    def local(self, span: Span) -> tuple[int, Span]:
        """Give the number of a span's cell, and the span in it; what was masked is spanned as it is written."""
        part = self.part_at(span.row)
        first = part.first_row - 1
        row, end_row = span.row - first, min(span.end_row - first, len(part.masked.lines))
        mask = part.masked.masks.get(row - 1)
        if mask is None:
            return part.number, Span(row, span.column, end_row, span.end_column)
        lines = part.source.split("\n")
        indent = len(lines[row - 1]) - len(lines[row - 1].lstrip())
        last = row + mask.written.count("\n")
        return part.number, Span(row, indent + 1, last, len(lines[last - 1].rstrip()) + 1)

    def localized(self, finding: Finding, path: str) -> Finding:
        """A finding of the program as one of its cell; ``path`` is the notebook's as links have it."""
        number, span = self.local(finding.span)
        part = self.part_at(finding.span.row)
        first = part.first_row - 1
        is_masked = finding.span.row - part.first_row in part.masked.masks
        return replace(
            finding,
            span=span,
            notebook_cell=number,
            text=part.source.split("\n")[span.row - 1] if is_masked else finding.text,
            comment_rows=(finding.comment_rows[0] - first, finding.comment_rows[1] - first),
            chain=tuple(self._local_link(link) if link.path == path else link for link in finding.chain),
            fixes=tuple(self.localized_fix(fix) for fix in finding.fixes),
        )

    def localized_fix(self, fix: Fix) -> Fix:
        """A fix with its edits by cells; only words where a cell cannot take it."""
        if all(edit.notebook_cell is not None for edit in fix.edits):
            return fix
        edits = self.edits_to(apply_edits(self.program, fix.edits)) if self.fixable else None
        return replace(fix, edits=edits) if edits else Fix(fix.message, Applicability.DISPLAY)

    def _local_link(self, link: Link) -> Link:
        number, span = self.local(Span(link.row, link.column, link.row, link.column))
        return replace(link, row=span.row, column=span.column, notebook_cell=number)

    # Changes

    def edits_to(self, program: str) -> tuple[Edit, ...] | None:
        """The edits, cell by cell, that make the program another; None if they cannot be told apart by cells."""
        sources = self._cut(program)
        if sources is None:
            return None
        edits = []
        for part, source in zip(self.parts, sources, strict=True):
            changed = _with_ends_of(part.source, source)
            edits += [replace(edit, notebook_cell=part.number) for edit in edits_between(part.source, changed)]
        return tuple(edits)

    def _cut(self, program: str) -> list[str] | None:
        """The sources of all cells of a changed program, masked lines as they were written."""
        if not self.parts:
            return None if program.strip() else []
        markers = [self._marker(part) for part in self.parts[1:]]
        segments: list[list[str]] = [[]]
        for line in program.split("\n"):
            if len(segments) <= len(markers) and line == markers[len(segments) - 1]:
                segments.append([])
            else:
                segments[-1].append(line)
        if len(segments) != len(self.parts):
            return None
        sources = []
        for part, segment in zip(self.parts, segments, strict=True):
            if self._lost_place(part, segment):
                return None
            sources.append("\n".join(segment))
        for part in self.parts:
            for mask in part.masked.masks.values():
                if sum(source.count(mask.statement) for source in sources) != 1:
                    return None
                sources = [source.replace(mask.statement, mask.written) for source in sources]
        return None if any(self.mark in source for source in sources) else sources

    @staticmethod
    def _lost_place(part: Part, lines: Sequence[str]) -> bool:
        """Whether a cell that one statement stands for was changed, or the magic of a whole cell is no longer first."""
        if part.masked.sealed:
            return "\n".join(lines).strip() != part.masked.text
        if not cell_magic(part.source):
            return False
        statements = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
        return next(statements, "") != part.masked.masks[min(part.masked.masks)].statement.split("\n")[0]

    def edited(self, edits: Iterable[Edit]) -> str:
        """The JSON text with edits applied to the cells that they name."""
        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            by_cell.setdefault(edit.notebook_cell or 0, []).append(edit)
        text = self.text
        for number in sorted(by_cell, reverse=True):
            raw = self.raws[number]
            text = text[: raw.start] + raw.respelt(_edited(raw.source, by_cell[number]), self.text) + text[raw.end :]
        return text


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _edited(source: str, edits: Sequence[Edit]) -> str:
    """A cell's source with edits applied; lines that are not edited keep their ends, new ones end as the first does."""
    lines = split_lines(source)
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line.endswith(("\r", "\n"))), "\n")
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        lines[edit.span.row - 1 : edit.span.end_row - 1] = [edit.content.replace("\n", end)]
    return "".join(lines)


def _with_ends_of(old: str, new: str) -> str:
    """A changed text with the blank lines at the start and the end that the old one had, no more and no fewer."""
    head, tail, core = _framed(old)
    changed = _framed(new)[2]
    return old if changed == core else head + changed + tail if changed else ""


def _framed(text: str) -> tuple[str, str, str]:
    """The blank lines at the start of a text, the space at its end, and what is between."""
    match = BLANK_HEAD.match(text)
    head = match[0] if match else ""
    core = text[len(head) :].rstrip()
    return head, text[len(head) + len(core) :], core


def read(text: str) -> Notebook:
    """Read the JSON text of a notebook.

    Raises NotebookError for a file that holds no notebook of Python, JsonError for one that is not JSON.
    """
    document = notebook_json.read(text)
    mark = _unused_mark(document.cells)
    parts: list[Part] = []
    faults: list[Fault] = []
    notes = list(document.notes)
    row, masker = 1, Masker(mark)
    for raw in document.cells:
        if not raw.is_python:
            continue
        masked = _masked(masker, raw)
        if isinstance(masked, Exception):
            faults += _faults(masker, raw, masked)
        elif masked is not None:
            row += bool(parts)
            parts.append(Part(raw, masked, row))
            row += len(masked.lines)
    raws = {raw.number: raw for raw in document.cells}
    return Notebook(text, tuple(parts), mark, tuple(faults), tuple(notes), not document.doubled, raws)


def _unused_mark(cells: Sequence[RawCell]) -> str:
    """A word that no cell holds, so that what is made of it stands for one thing alone."""
    number = 0
    while any(f"forklint_{number}_" in cell.source for cell in cells):
        number += 1
    return f"forklint_{number}_"


def _masked(masker: Masker, raw: RawCell) -> Masked | Exception | None:
    """A cell as Python; None if it is none, the error if it should be and is not."""
    source = _plain_ends(raw.source)
    magic = cell_magic(source)
    if magic in SHELL_CELLS:
        return masker.sealed(source)
    if (magic and magic not in PYTHON_CELLS) or not source.strip():
        return None
    masked = masker.mask(source)
    try:
        _parse(masked.text)
    except UNPARSABLE as error:
        return masker.automatic(source) or error
    return masked


def _parse(text: str) -> Any:
    import warnings  # noqa: PLC0415 - a cell's own invalid escapes are not this tool's business

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, filename=NO_FILE)


def _faults(masker: Masker, raw: RawCell, error: Exception) -> Iterator[Fault]:
    """Give the fault of a cell, unless IPython or the platform reads it in a way of its own."""
    source = _plain_ends(raw.source)
    first = next((line for line in source.split("\n") if line.strip()), "")
    is_prompt = first.lstrip().startswith((">>> ", "In ["))
    magic = re.match(r"%([\w-]+)", first)
    if not (first[:1].isspace() or is_prompt or (magic and magic[1] in OTHER_CELLS)):
        yield Fault(raw.number, masker.mask(source).text, error)
