"""Reports of files of which nothing can be said."""

from __future__ import annotations

from pathlib import Path

from forklint.model import FileReport, Note
from forklint.source.document import UnreadableError
from forklint.source.paths import shown

UNCONFIRMED = "skipped: `ast` refuses it, and LibCST has not been asked"
"""The note on a file of which nothing can be said yet, where nothing is to be confirmed."""


def unreadable(path: Path, error: UnreadableError) -> FileReport:
    """The report of a file that is not text."""
    return FileReport(shown(path), notes=(Note(shown(path), f"skipped: {error}", only_if_named=error.foreign),))


def unconfirmed(path: Path) -> FileReport:
    """The report of a text of which nothing can be said before LibCST is asked."""
    return FileReport(shown(path), notes=(Note(shown(path), UNCONFIRMED, only_if_named=True),))


def is_unconfirmed(report: FileReport) -> bool:
    """Whether nothing can be said of a file until LibCST is asked as well."""
    return any(note.message == UNCONFIRMED for note in report.notes)
