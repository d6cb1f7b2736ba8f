"""What is stored beside reports, as rows: each is checked as it is read, since anybody may have written the file."""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

from forklint.project.answers import Fact

LARGEST = 256_000_000
"""Bytes of the largest text that is unpacked."""


class MalformedError(Exception):
    """A row that is none of ours."""


class FileRow(NamedTuple):
    """A file as it was when it was last read."""

    revision: int
    """The revision of the store in which it was first seen so."""
    stamp: tuple[int, int, int]
    digest: str


def pack(value: object) -> bytes:
    """Plain data as a row."""
    return json.dumps(value, separators=(",", ":")).encode(errors="surrogatepass")


def unpack(data: bytes) -> Any:
    """What ``pack`` was given, tuples as lists; raises MalformedError."""
    try:
        return json.loads(data.decode(errors="surrogatepass"))
    except (ValueError, RecursionError):
        raise MalformedError from None


def file_row(data: bytes) -> FileRow:
    """Read the row of a file; raises MalformedError."""
    row = unpack(data)
    if not (isinstance(row, list) and len(row) == 5 and isinstance(row[4], str)):
        raise MalformedError
    if any(one.__class__ is not int for one in row[:4]):
        raise MalformedError
    return FileRow(row[0], (row[1], row[2], row[3]), row[4])


def of_file(row: FileRow) -> bytes:
    """Write the row of a file."""
    return pack([row.revision, *row.stamp, row.digest])


def texts(data: bytes) -> list[str]:
    """Read a list of texts; raises MalformedError."""
    row = unpack(data)
    if not isinstance(row, list) or any(one.__class__ is not str for one in row):
        raise MalformedError
    return row


def numbers(data: bytes) -> list[int]:
    """Read a list of numbers; raises MalformedError."""
    row = unpack(data)
    if not isinstance(row, list) or any(one.__class__ is not int for one in row):
        raise MalformedError
    return row


def facts(data: bytes) -> list[Fact]:
    """Read facts; raises MalformedError."""
    row = unpack(data)
    if not isinstance(row, list):
        raise MalformedError
    if any(one.__class__ is not list or any(part.__class__ is not str for part in one) for one in row):
        raise MalformedError
    return [tuple(one) for one in row]


def squeeze(text: bytes) -> bytes:
    """A text as a row."""
    return zlib.compress(text, 1)


def unsqueeze(data: bytes) -> bytes:
    """The text in a row; raises MalformedError."""
    try:
        return zlib.decompressobj().decompress(data, LARGEST)
    except zlib.error:
        raise MalformedError from None
