"""What is kept of one project under one set of settings: reports, and what they rest on."""

from __future__ import annotations

import json
import os
from dataclasses import field
from typing import Any

from forklint.project.evidence import Evidence
from forklint.records import dataclass
from forklint.source.digest import digest
from forklint.store.rows import MalformedError, Row
from forklint.store.stamps import NOWHERE, Stamp

CLEAN: Row = [0, 0, [], []]
"""The row of a report that says nothing."""


@dataclass
class Book:
    """Reports of one project, by the absolute paths of the files."""

    evidence: Evidence = field(default_factory=Evidence)
    """What all ``reports`` rest on, together."""
    reports: dict[str, Row] = field(default_factory=dict)
    alone: dict[str, tuple[Stamp, Row]] = field(default_factory=dict)
    """Reports that rest on nothing but the file itself, with its stamp."""
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """The stamps of the files in ``evidence.contents``; one that is missing here must be read."""

    def add(self, other: Book) -> bool:
        """Take in what another run kept, where it does not have it itself; False if the two disagree."""
        together = Evidence()
        together.add(self.evidence)
        together.add(other.evidence)
        if not together.is_consistent:
            return False
        self.evidence = together
        self.reports = {**other.reports, **self.reports}
        self.alone = {**other.alone, **self.alone}
        self.stamps = {**other.stamps, **self.stamps}
        return True


def pack(book: Book, root: str, program: str, request: str) -> bytes:
    """A book as the content of a file: a digest of the rest, who wrote it and for what, and the rest."""
    short = _Shortener(root).short
    evidence = book.evidence
    body = {
        "contents": {short(path): [what, *book.stamps.get(path, NOWHERE)] for path, what in evidence.contents.items()},
        "listings": {short(path): what for path, what in evidence.listings.items()},
        "answers": evidence.answers,
        "walks": evidence.walks,
        "clean": [short(path) for path, row in book.reports.items() if row == CLEAN],
        "reports": {short(path): row for path, row in book.reports.items() if row != CLEAN},
        "alone": {short(path): [*stamp, row] for path, (stamp, row) in book.alone.items()},
    }
    text = "\n".join((json.dumps([program, request]), json.dumps(body, separators=(",", ":")))).encode()
    return b"\n".join((digest(text).encode(), text))


def unpack(data: bytes, root: str, program: str, request: str) -> Book | None:
    """Read what ``pack`` wrote; None if another wrote it, for something else, or it is damaged."""
    check, _, text = data.partition(b"\n")
    head, _, body = text.partition(b"\n")
    if check != digest(text).encode():
        return None
    try:
        if json.loads(head) != [program, request]:
            return None
        return _book(json.loads(body), root)
    except (ValueError, RecursionError, MalformedError):
        return None


def _book(body: Any, root: str) -> Book:
    try:
        whole, answers, walks = _Shortener(root).whole, body["answers"], body["walks"]
        if not isinstance(answers, dict) or not isinstance(walks, dict):
            raise MalformedError
        contents = {whole(path): row for path, row in body["contents"].items()}
        clean = {whole(path): CLEAN for path in body["clean"]}
        return Book(
            Evidence(
                {path: row[0] for path, row in contents.items()},
                {whole(path): what for path, what in body["listings"].items()},
                answers,
                walks,
            ),
            {**clean, **{whole(path): row for path, row in body["reports"].items()}},
            {whole(path): ((row[0], row[1], row[2]), row[3]) for path, row in body["alone"].items()},
            {path: (row[1], row[2], row[3]) for path, row in contents.items()},
        )
    except (TypeError, KeyError, IndexError, AttributeError):
        raise MalformedError from None


class _Shortener:
    """Writes paths below a folder without the folder."""

    def __init__(self, root: str) -> None:
        self._above = root.rstrip(os.sep) + os.sep

    def short(self, path: str) -> str:
        """The path below the folder, or as it is."""
        return path.removeprefix(self._above)

    def whole(self, path: str) -> str:
        """What ``short`` was given."""
        return path if os.path.isabs(path) else self._above + path
