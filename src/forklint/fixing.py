"""Applies fixes until a file is stable, and writes it so that nothing is ever half-written."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace as replace_fields
from pathlib import Path

from forklint.engine import Linter
from forklint.model import Applicability, Edit, FileReport, Finding, Note, Span
from forklint.project.changes import UNPARSABLE
from forklint.records import dataclass
from forklint.source import document
from forklint.source.document import Document, UnreadableError
from forklint.source.kinds import Kind, kind_of
from forklint.source.lines import split_lines
from forklint.source.paths import from_root, shown
from forklint.source.regular import read_regular
from forklint.source.writing import WRITABLE, replace

MAX_ROUNDS = 500
"""The most fixes applied to a file; more would mean that two fixes undo each other."""


@dataclass(frozen=True)
class Fixed:
    """A fixed file: remaining findings, applied fixes, and its text (a notebook's JSON) before and after."""

    report: FileReport
    applied: tuple[Finding, ...]
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the text differs."""
        return self.before != self.after

    def changes(self) -> Iterator[tuple[int | None, str, str]]:
        """The changes, before and after: the whole text, or each changed cell of a notebook with its number."""
        if not self.changed:
            return
        if kind_of(Path(self.report.path)) is not Kind.NOTEBOOK:
            yield None, self.before, self.after
            return
        from forklint.source import notebook_json  # noqa: PLC0415 - most projects have none

        pairs = zip(*(notebook_json.read(text).cells for text in (self.before, self.after)), strict=True)
        for old, new in pairs:
            if old.source != new.source:
                yield old.number, old.source, new.source


def fix(  # noqa: PLR0913 - what is fixed, and how
    linter: Linter,
    path: Path,
    *,
    unsafe: bool,
    write: bool,
    data: bytes | None = None,
    only: Container[str] | None = None,
) -> Fixed:
    """Lint a file, apply one fix after another until none is left, and write the result if ``write``.

    ``only`` holds the fingerprints of the findings that are fixed, if not all are.
    With ``data`` that is its content, whatever is on the disk. The linter's project has the result either way.
    """
    report = linter.lint(path) if data is None else linter.lint_bytes(path, data)
    absolute = from_root(path)
    try:
        original = document.decode(absolute, linter.project.data(absolute))
    except UnreadableError:
        return Fixed(report, (), "", "")
    current, applied, refused = original, list[Finding](), dict[str, Note]()
    first, start = report, original.whole
    alone = False
    for _ in range(MAX_ROUNDS):
        chosen = _at_once(linter, absolute, _wanted(report, only, refused, unsafe=unsafe))
        if not chosen:
            break
        finding, chosen = chosen[0], chosen[:1] if alone else chosen
        candidate = current.edited(_edits(chosen))
        after = linter.lint_bytes(path, original.encode_whole(candidate))
        works = candidate != current.whole and _parses(linter, absolute, current) and not _gained(report, after, chosen)
        fixed = document.decode(absolute, linter.project.data(absolute)) if works else current
        beyond = _changed_beyond(current, fixed, chosen) if works else None
        if not works or beyond is not None:
            linter.project.replace(absolute, current.data)
            if len(chosen) > 1:
                alone = True
                continue
            refused[finding.fingerprint] = _refusal(path, finding, current, beyond)
            continue
        current, report = fixed, after
        applied += chosen
    report = _noted(report, refused.values())
    if not applied:
        return Fixed(_with_notes(report, first), (), start, start)
    if write:
        failure = refused_link(linter, path) or write_atomically(path, current.data, original.data)
        if failure:
            linter.project.replace(absolute, original.data)
            note = Note(shown(path), f"not fixed: {failure}", failure=True)
            return Fixed(_noted(first, [note]), (), start, start)
    return Fixed(_with_notes(report, first), tuple(applied), start, current.whole)


def _wanted(report: FileReport, only: Container[str] | None, refused: Container[str], *, unsafe: bool) -> list[Finding]:
    wanted = (one for one in report.findings if only is None or one.fingerprint in only)
    return [one for one in wanted if applicable(one, unsafe=unsafe) and one.fingerprint not in refused]


def _edits(findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """The edits of the fixes of some findings; what several change alike is changed once."""
    return tuple(dict.fromkeys(edit for one in findings for edit in (one.fix.edits if one.fix else ())))


def _changed_beyond(old: Document, new: Document, chosen: Sequence[Finding]) -> int | None:
    """The first row of a document where the fixes of some findings change a statement that they do not edit.

    Both are parsed here, for the project's trees may share their parts. Fixes of settings files compare values.
    """
    if kind_of(old.path) is Kind.PRESET:
        return None
    from forklint.edits.extent import Edited, Stretch  # noqa: PLC0415 - only when something is fixed

    def row_of(row: int, cell: int | None) -> int:
        return row if old.notebook is None or cell is None else old.notebook.program_row(cell, row)

    stretches = [
        Stretch(
            row_of(edit.span.row, edit.notebook_cell),
            row_of(edit.span.end_row, edit.notebook_cell),
            len(split_lines(edit.content)),
        )
        for edit in _edits(chosen)
    ]
    rows = {row_of(one.span.row, one.notebook_cell) for one in chosen}
    rows |= {row_of(link.row, link.notebook_cell) for one in chosen for link in one.chain if link.path == str(old.path)}
    rows |= {row for one in chosen for row in (one.fix.elsewhere if one.fix else ())}
    if old.notebook is not None and new.notebook is not None:
        emptied = old.notebook.marker_rows.keys() - new.notebook.marker_rows.keys()
        gone = {old.notebook.marker_rows[cell] for cell in emptied}  # a cell that nothing is left of is not marked
        stretches += [Stretch(row, row + 1, 0) for row in gone]
        rows |= gone
    changed = Edited(document.parse(old), document.parse(new), stretches).changed_beyond(rows)
    return None if changed is None else changed.lineno


def _refusal(path: Path, finding: Finding, document: Document, beyond: int | None) -> Note:
    """The note on a finding whose fix is not applied: it does not work, or changes the statement in row ``beyond``."""
    words = f"the fix of {finding.code} on {line_named(finding)}"
    if beyond is None:
        return Note(shown(path), f"{words} did not work and was skipped", unfinished=True)
    place = f"line {beyond}"
    if document.notebook is not None:
        cell, span = document.notebook.local(Span(beyond, 1, beyond, 1))
        place = f"line {span.row} of cell {cell}"
    words = f"{words} would also change {place}, so it was not applied; please report it"
    return Note(shown(path), words, unfinished=True, refused=finding.fingerprint)


def line_named(finding: Finding) -> str:
    """The line of a finding in words, in a notebook with its cell."""
    cell = "" if finding.notebook_cell is None else f" of cell {finding.notebook_cell}"
    return f"line {finding.span.row}{cell}"


def applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether a finding has a fix that may be applied."""
    fix = finding.fix
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return fix is not None and bool(fix.edits) and fix.applicability in allowed


def _with_notes(report: FileReport, first: FileReport) -> FileReport:
    return replace_fields(report, notes=tuple(dict.fromkeys((*first.notes, *report.notes))))


def _noted(report: FileReport, notes: Iterable[Note]) -> FileReport:
    return replace_fields(report, notes=(*report.notes, *notes))


def _parses(linter: Linter, path: Path, before: Document) -> bool:
    """Whether a file is still Python or settings; of a notebook, whether no more of its cells are faulty."""
    if kind_of(path) is Kind.PRESET:
        return linter.presets.parses(path)
    try:
        notebook = linter.project.load(path).document.notebook
    except (UnreadableError, *UNPARSABLE):
        return False
    return notebook is None or before.notebook is None or len(notebook.faults) <= len(before.notebook.faults)


def _gained(before: FileReport, after: FileReport, chosen: Sequence[Finding]) -> bool:
    """Whether more findings of a rule remain than expected, so that one of its fixes had no effect."""
    count = [sum(one.code == chosen[0].code for one in report.findings) for report in (before, after)]
    return count[1] > count[0] - len(chosen)


def _at_once(linter: Linter, path: Path, findings: Sequence[Finding]) -> list[Finding]:
    """The first of some findings, with others of its rule whose fixes have nothing to do with each other.

    They stand in different classes, of which none inherits from another of the file, and change different lines; what
    several change alike, as an import, is changed once.
    """
    chosen = list(findings[:1])
    if not chosen or chosen[0].code not in {rule.code for rule in linter.rules if rule.local_fixes}:
        return chosen
    summary = linter.project.summary(path)
    heads = [summary.scopes[number] for number in summary.classes] if summary is not None else []
    names = {head.name for head in heads}
    apart = {head.name for head in heads if names.isdisjoint(part for base in head.bases for part in base.split("."))}
    if _home(chosen[0]) not in apart:
        return chosen
    edits = set(chosen[0].fix.edits if chosen[0].fix else ())
    for finding in findings[1:]:
        new = set(finding.fix.edits if finding.fix else ()) - edits
        is_free = finding.code == chosen[0].code and _home(finding) in apart - set(map(_home, chosen))
        if is_free and not any(_touch(one, other) for one in new for other in edits):
            chosen.append(finding)
            edits |= new
    return chosen


def _home(finding: Finding) -> str:
    """The outermost definition around a finding."""
    return finding.qualname.partition(".")[0]


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits change the same lines, or put something at the same place."""
    if one.notebook_cell != other.notebook_cell:
        return False
    return one.span.row <= other.span.end_row and other.span.row <= one.span.end_row


def refused_link(linter: Linter, path: Path) -> str:
    """Why a file is not written to: it is a link out of the project that nobody named. Empty if there is no reason.

    A folder with code of others may hold links to anything of the user's own.
    """
    if not path.is_symlink() or shown(path) in linter.options.named:
        return ""
    is_inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(linter.project.root))
    return "" if is_inside else "it is a link to a file outside of the project; pass its path to change it"


def write_atomically(path: Path, data: bytes, expected: bytes) -> str:
    """Replace a file by ``data`` atomically, with its mode; returns the reason if that failed, else ``''``.

    A link is followed: its target is rewritten and the link stays. Other hard links keep the old content: they are
    often an installer's cache. A file that nobody may write is left alone, though root could; so is one that no
    longer holds ``expected``.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
        if not status.st_mode & WRITABLE or not os.access(target, os.W_OK):
            return "the file is read-only"
        if read_regular(target) != expected:
            return "another program has changed the file"
        replace(target, data)
    except OSError as error:
        return error.strerror or str(error)
    return ""
