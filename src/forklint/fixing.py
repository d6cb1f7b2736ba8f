"""Applies fixes until a file is stable, and writes it so that nothing is ever half-written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forklint.engine import Linter
from forklint.model import Applicability, FileReport, Finding, Note
from forklint.project.index import UNPARSABLE
from forklint.source import document
from forklint.source.document import Document, UnreadableError
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.writing import WRITABLE, replace

MAX_ROUNDS = 500
"""Fixes applied to one file at the most; more means that two fixes undo each other."""


@dataclass(frozen=True)
class Fixed:
    """One file after fixing: what is left, what was mended, and its text (a notebook's JSON) before and after."""

    report: FileReport
    applied: tuple[Finding, ...]
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the text differs."""
        return self.before != self.after

    def changes(self) -> Iterator[tuple[int | None, str, str]]:
        """Give what differs, before and after: the whole text, or each changed cell of a notebook with its number."""
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


def fix(linter: Linter, path: Path, *, unsafe: bool, write: bool, data: bytes | None = None) -> Fixed:
    """Lint a file, apply one fix after another until none is left, and write the result if ``write``.

    With ``data`` that is its content, whatever is on the disk. The linter's project has the result either way.
    """
    report = linter.lint(path) if data is None else linter.lint_bytes(path, data)
    absolute = from_root(path)
    try:
        original = document.decode(absolute, linter.project.data(absolute))
    except UnreadableError:
        return Fixed(report, (), "", "")
    current, applied = original, []
    first, start = report, original.whole
    for _ in range(MAX_ROUNDS):
        finding = next((finding for finding in report.findings if applicable(finding, unsafe=unsafe)), None)
        if finding is None or finding.fix is None:
            break
        candidate = current.edited(finding.fix.edits)
        after = linter.lint_bytes(path, original.encode_whole(candidate))
        if candidate == current.whole or not _parses(linter, absolute, current) or _gained(report, after, finding):
            linter.project.replace(absolute, current.data)
            words = f"the fix of {finding.code} in {line_named(finding)} did not hold and was left out"
            note = Note(shown(path), words)
            report = FileReport(report.path, report.findings, (*report.notes, note), report.suppressed)
            break
        current, report = document.decode(absolute, linter.project.data(absolute)), after
        applied.append(finding)
    if not applied:
        return Fixed(_with_notes(report, first), (), start, start)
    if write:
        failure = write_atomically(path, current.data, original.data)
        if failure:
            linter.project.replace(absolute, original.data)
            note = Note(shown(path), f"not fixed: {failure}", failure=True)
            return Fixed(
                FileReport(first.path, first.findings, (*first.notes, note), first.suppressed), (), start, start
            )
    return Fixed(_with_notes(report, first), tuple(applied), start, current.whole)


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
    notes = tuple(dict.fromkeys((*first.notes, *report.notes)))
    return FileReport(report.path, report.findings, notes, report.suppressed, report.parsed)


def _parses(linter: Linter, path: Path, before: Document) -> bool:
    """Whether a file is still Python or settings; of a notebook, whether no more of its cells are faulty."""
    if kind_of(path) is Kind.PRESET:
        return linter.presets.parses(path)
    try:
        notebook = linter.project.load(path).document.notebook
    except (UnreadableError, *UNPARSABLE):
        return False
    return notebook is None or before.notebook is None or len(notebook.faults) <= len(before.notebook.faults)


def _gained(before: FileReport, after: FileReport, finding: Finding) -> bool:
    """Whether a fix left as many findings of its rule as there were: then it mended nothing."""
    count = [sum(one.code == finding.code for one in report.findings) for report in (before, after)]
    return count[1] >= count[0]


def write_atomically(path: Path, data: bytes, expected: bytes) -> str:
    """Put ``data`` in place of a file in one step, its mode kept; gives the reason if that failed, else ``''``.

    A link is followed: its target is rewritten and the link stays. Other hard links keep the old content: they are
    often an installer's cache. A file that nobody may write is left alone, though root could; so is one that no
    longer holds ``expected``.
    """
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
        if not status.st_mode & WRITABLE or not os.access(target, os.W_OK):
            return "the file is read-only"
        if target.read_bytes() != expected:
            return "another program changed it meanwhile"
        replace(target, data)
    except OSError as error:
        return error.strerror or str(error)
    return ""
