"""What a trial prints: read to the end so that it never waits, kept only at both ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from . import priority

KEPT = 64 * 1024
"""Bytes kept of the beginning, and again of the end."""


class Printed:
    """Reads a pipe in a thread; keeps the first and last ``KEPT`` bytes and counts all."""

    def __init__(self, descriptor: int, most: int, on_too_much: Callable[[], None]) -> None:
        self.total = 0
        self._descriptor = descriptor
        self._most = most
        self._on_too_much = on_too_much
        self._head = bytearray()
        self._tail = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def is_too_much(self) -> bool:
        """Whether more was printed than allowed."""
        return self.total > self._most

    def text(self, patience: float) -> str:
        """What was printed; waits so many seconds for the pipe to end, since all who could print are dead."""
        self._thread.join(patience)
        missing = self.total - len(self._head) - len(self._tail)
        middle = f"\n[{missing} bytes left out]\n" if missing > 0 else ""
        return self._head.decode(errors="replace") + middle + self._tail.decode(errors="replace")

    def _read(self) -> None:
        priority.rise()
        while chunk := self._next():
            self.total += len(chunk)
            room = KEPT - len(self._head)
            self._head += chunk[:room]
            self._tail += chunk[room:]
            del self._tail[:-KEPT]
            if self.is_too_much:
                self._on_too_much()

    def _next(self) -> bytes:
        try:
            return os.read(self._descriptor, KEPT)
        except OSError:
            return b""
