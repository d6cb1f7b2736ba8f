"""Reports of files that cannot be linted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from forklint.model import FileReport, Finding, Note
from forklint.source.document import UnreadableError
from forklint.source.paths import shown

UNCONFIRMED = "skipped: `ast` refuses it, and LibCST has not been asked"
"""The note on a file that may be of a newer syntax, where nothing is to be confirmed."""
TOO_DEEP = "the code is nested too deeply"


def unreadable(path: Path, error: UnreadableError) -> FileReport:
    """The report of a file that is not text."""
    return FileReport(shown(path), notes=(Note(shown(path), f"skipped: {error}", only_if_named=error.foreign),))


def too_deep(path: Path, rules: Sequence[str]) -> list[Note]:
    """The note on the rules, by their codes, that a file nests too deeply for; none if there are no such rules."""
    words = f"{', '.join(rules)} {'was' if len(rules) == 1 else 'were'} skipped: {TOO_DEEP}"
    return [Note(shown(path), words, unfinished=True)] if rules else []


def unconfirmed(path: Path, found: tuple[Finding, ...] = ()) -> FileReport:
    """The report of a text that ``ast`` refuses, with what is found if LibCST refuses it as well."""
    return FileReport(shown(path), found, notes=(Note(shown(path), UNCONFIRMED, only_if_named=True),))


def is_unconfirmed(report: FileReport) -> bool:
    """Whether LibCST is still to be asked about a text that ``ast`` refuses."""
    return any(note.message == UNCONFIRMED for note in report.notes)


def excuse(text: str, error: Exception) -> str:
    """Why a text that ``ast`` refuses need not be faulty; empty if LibCST refuses it as well."""
    from forklint.edits.tree import UnparsableError  # noqa: PLC0415 - most files are sound
    from forklint.edits.tree import parse as parse_tree  # noqa: PLC0415
    from forklint.source import nesting  # noqa: PLC0415

    if not isinstance(error, SyntaxError) or nesting.may_be_too_deep(text):
        return TOO_DEEP
    try:
        parse_tree(text)
    except UnparsableError:
        return ""
    return f"its syntax is newer than Python {sys.version_info[0]}.{sys.version_info[1]}, which runs forklint"
