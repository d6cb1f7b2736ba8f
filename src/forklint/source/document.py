"""One file as bytes and as text, and the way back, byte for byte."""

from __future__ import annotations

import ast
import gc
import io
import stat
import symtable
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.records import dataclass
from forklint.source.comments import Comment, comments
from forklint.source.kinds import Kind, kind_of
from forklint.source.lines import apply_edits
from forklint.source.paths import NO_FILE

if TYPE_CHECKING:
    from forklint.model import Edit
    from forklint.source.notebook import Notebook

BOM = b"\xef\xbb\xbf"


class UnreadableError(Exception):
    """A file that cannot be read as Python source; the message says why in a few words.

    ``foreign``: it is whole, and in another language; worth a word only where the file was named.
    """

    def __init__(self, message: str, *, foreign: bool = False) -> None:
        super().__init__(message)
        self.foreign = foreign


class BrokenError(UnreadableError):
    """A notebook that is not JSON: the place, from 1, where that shows."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.row = row
        self.column = column


@dataclass(frozen=True)
class Document:
    """Python source: its bytes, its text without a byte order mark, and how one becomes the other.

    Of a notebook, ``data`` is the file and ``text`` the program that its cells make.
    """

    path: Path
    data: bytes
    text: str
    encoding: str
    notebook: Notebook | None = None

    @cached_property
    def code(self) -> bytes:
        """The source as bytes, for screens: of a notebook that of its program, without outputs."""
        return self.data if self.notebook is None else self.text.encode()

    @cached_property
    def lines(self) -> list[str]:
        r"""Lines of the text with their ends, split where Python splits them (``\\n``, ``\\r\\n``, ``\\r``)."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def comments(self) -> tuple[Comment, ...]:
        """The comments of the text."""
        return tuple(comments(self.text))

    def encode(self, text: str) -> bytes:
        """The file with another source: ``text`` in this document's encoding, or in the cells of a notebook.

        Raises UnicodeEncodeError if a character has no place in the encoding, and UnreadableError if a notebook's
        program cannot be cut into its cells.
        """
        if self.notebook is None:
            return self.encode_whole(text)
        edits = self.notebook.edits_to(text)
        if edits is None:
            raise UnreadableError("its code cannot be split into cells")
        return self.encode_whole(self.notebook.edited(edits))

    def encode_whole(self, text: str) -> bytes:
        """Give the text of a file (as in ``whole``) in this document's encoding, byte order mark included.

        Raises UnicodeEncodeError if a character has no place in it.
        """
        mark = BOM if self.data.startswith(BOM) else b""
        return mark + text.encode(self.encoding)

    @property
    def whole(self) -> str:
        """The text of the file, without a byte order mark: the source, or the JSON of a notebook."""
        return self.text if self.notebook is None else self.notebook.text

    def edited(self, edits: tuple[Edit, ...]) -> str:
        """The text of the file with edits applied."""
        return apply_edits(self.text, edits) if self.notebook is None else self.notebook.edited(edits)


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


def encoded(text: str) -> bytes:
    """Bytes that read as ``text``, in the encoding that its own cookie names."""
    data = text.encode(errors="surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return text.encode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        return data


def _encoding_fault(message: str) -> str:
    """Say in a few words what ``tokenize`` complains of."""
    if message.startswith("unknown encoding"):
        return message
    if message.startswith("encoding problem"):
        return "unknown encoding: the byte order mark says utf-8, but the encoding declaration does not"
    return "not valid UTF-8"


def decode(path: Path, data: bytes) -> Document:
    """Decode a notebook, or source as Python does (cookie, byte order mark).

    Raises UnreadableError for what is neither, BrokenError for a notebook that is not JSON.
    """
    if kind_of(path) is Kind.NOTEBOOK:
        return _decode_notebook(path, data)
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
        raise UnreadableError(f"cannot be decoded as {encoding}") from None
    if "\0" in text:
        raise UnreadableError("not a text file: it contains null bytes")
    return Document(path, data, text, encoding)


def _decode_notebook(path: Path, data: bytes) -> Document:
    from forklint.source import notebook  # noqa: PLC0415 - most projects have none
    from forklint.source.json_positions import DepthError, JsonError  # noqa: PLC0415
    from forklint.source.notebook_json import ForeignError, NotebookError  # noqa: PLC0415

    try:
        text = data.removeprefix(BOM).decode()
        found = notebook.read(text)
    except UnicodeError:
        raise UnreadableError("not valid UTF-8") from None
    except NotebookError as error:
        raise UnreadableError(str(error), foreign=isinstance(error, ForeignError)) from None
    except DepthError:
        raise UnreadableError("its JSON is nested too deeply") from None
    except JsonError as error:
        raise BrokenError(f"the notebook is not JSON: {error.reason}", error.row, error.column) from None
    return Document(path, data, found.program, "utf-8", found)


SHARED = frozenset(
    kind
    for above in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    for kind in above.__subclasses__()
)
"""Contexts and operators: all trees of a process share them, with whatever attributes others put on them. pyflakes
before 4.1 puts its parents there, so they lead out of the tree."""


def parse(document: Document) -> ast.Module:
    """Parse a document with ``ast``.

    Raises SyntaxError, and RecursionError or MemoryError for source that nests too deeply.
    """
    with warnings.catch_warnings(), collector_paused():
        warnings.simplefilter("ignore")  # a file's own invalid escapes are not this tool's business
        return ast.parse(document.text, filename=NO_FILE)


def surely_parses(path: Path, data: bytes) -> bool:
    """Whether ``decode`` and ``parse`` would surely take a file; False where that is not known without parsing.

    A table of symbols is made from the same parser's tree without that tree becoming Python's objects: two thirds of
    the time of ``parse`` (measured with CPython 3.11), and no memory that stays. It refuses a little more.
    """
    try:
        text = decode(path, data).text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(text, str(path), "exec")
    except (UnreadableError, SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    return True


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from looking at a tree while it grows; four times faster to build."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
