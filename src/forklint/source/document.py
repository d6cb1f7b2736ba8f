"""One file as bytes and as text, and the way back, byte for byte."""

from __future__ import annotations

import ast
import io
import stat
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

BOM = b"\xef\xbb\xbf"


class UnreadableError(Exception):
    """A file that cannot be read as Python source; the message says why in a few words."""


@dataclass(frozen=True)
class Document:
    """Python source: its bytes, its text without a byte order mark, and how one becomes the other."""

    path: Path
    data: bytes
    text: str
    encoding: str

    @cached_property
    def lines(self) -> list[str]:
        r"""Lines of the text with their ends, split where Python splits them (``\\n``, ``\\r\\n``, ``\\r``)."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def encode(self, text: str) -> bytes:
        """Give ``text`` in this document's encoding, byte order mark included.

        Raises UnicodeEncodeError if a character has no place in it.
        """
        mark = BOM if self.data.startswith(BOM) else b""
        return mark + text.encode(self.encoding)


def read(path: Path) -> bytes:
    """Read a regular file; raises UnreadableError with a short reason for anything else."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError("not a regular file")
        return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableError("no such file") from None
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None


def _encoding_fault(message: str) -> str:
    """Say in a few words what ``tokenize`` complains of."""
    if message.startswith("unknown encoding"):
        return message
    if message.startswith("encoding problem"):
        return "unknown encoding: its byte order mark says utf-8 and its cookie does not"
    return "not text in utf-8"


def decode(path: Path, data: bytes) -> Document:
    """Decode source as Python does (cookie, byte order mark); raises UnreadableError if it is not text."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise UnreadableError(_encoding_fault(str(error.msg))) from None
    encoding = encoding.removesuffix("-sig")
    body = data.removeprefix(BOM)
    try:
        text = body.decode(encoding)
    except LookupError:  # a codec that is none for text
        raise UnreadableError(f"unknown encoding: {encoding}") from None
    except UnicodeError:
        raise UnreadableError(f"not text in {encoding}") from None
    if "\0" in text:
        raise UnreadableError("not text: it holds null bytes")
    return Document(path, data, text, encoding)


def parse(document: Document) -> ast.Module:
    """Parse a document with ``ast``.

    Raises SyntaxError, and RecursionError or MemoryError for source that nests too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file's own invalid escapes are not this tool's business
        return ast.parse(document.text, filename=str(document.path))
