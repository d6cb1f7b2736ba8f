"""A log as lines, read in a stream: no line and no log is too large, and what cannot be decoded is replaced."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

LONGEST = 4096
"""Bytes of a line that are looked at; a longer one is cut into such pieces."""
ESCAPE = re.compile(rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,1024}(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Sequences that colour a terminal, move its cursor or set its title (ECMA-48)."""
ENDS = re.compile(rb"\r\n?")
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Windows PowerShell writes redirected output so."""


class Blocks:
    """Cuts a stream into blocks of whole lines, without escape sequences, in UTF-8; a progress bar's line ends, too."""

    def __init__(self) -> None:
        self._rest = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._began = False

    def feed(self, data: bytes) -> bytes:
        """The lines that are whole with these bytes, each with its end."""
        data = self._rest + self._decoded(data)
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
        if not end and len(data) > LONGEST:
            end = len(data)  # a line without an end: its beginning is taken for a line
        self._rest = data[end:]
        return _clean(data[:end])

    def close(self) -> bytes:
        """What is left when the stream has ended."""
        rest, self._rest = self._rest, b""
        return _clean(rest)

    def _decoded(self, data: bytes) -> bytes:
        if not self._began and data:
            self._began = True
            name = UTF_16.get(data[:2])
            self._decoder = codecs.getincrementaldecoder(name)("replace") if name else None
        return self._decoder.decode(data).encode("utf-8", "replace") if self._decoder else data


def _clean(block: bytes) -> bytes:
    if b"\x1b" in block:
        block = ESCAPE.sub(b"", block)
    return ENDS.sub(b"\n", block) if b"\r" in block else block


def lines_at(block: bytes, text: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a block that hold a text: where each begins, and its first ``LONGEST`` bytes around the text."""
    place = block.find(text)
    while place >= 0:
        start, end = block.rfind(b"\n", 0, place) + 1, block.find(b"\n", place)
        end = len(block) if end < 0 else end
        first = max(start, min(place - LONGEST // 2, end - LONGEST))
        yield start, block[first : first + LONGEST][: end - first].decode(errors="replace")
        place = block.find(text, end)
