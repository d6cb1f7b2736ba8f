"""What was read from files: it is kept, because what is on the disk may change while one looks at it."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterator
from pathlib import Path

FAST = 1
"""Level of compression: source code shrinks to a quarter at 100 MB a second, and comes back three times as fast."""


class Contents:
    """The bytes of files by their paths; of those that are not needed now, compressed."""

    def __init__(self) -> None:
        self._data: dict[Path, bytes] = {}
        self._packed: set[Path] = set()
        self.loose = 0
        """Bytes that were added since those of all files were compressed."""

    def __contains__(self, path: object) -> bool:
        return path in self._data

    def __iter__(self) -> Iterator[Path]:
        """Give the paths in the order in which they were added."""
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    @property
    def size(self) -> int:
        """How many bytes of memory they take."""
        return sum(map(len, self._data.values()))

    def get(self, path: Path) -> bytes | None:
        """The bytes of a file; None if it was not read."""
        data = self._data.get(path)
        return zlib.decompress(data) if data is not None and path in self._packed else data

    def add(self, path: Path, data: bytes) -> bool:
        """Keep the bytes of a file; False if it was read before."""
        is_new = path not in self._data
        if is_new:
            self._data[path] = data
            self.loose += len(data)
        return is_new

    def pack(self, needed: Container[Path]) -> None:
        """Compress the bytes of all files but those that are needed now."""
        for path in self._data.keys() - self._packed:
            if path not in needed:
                self._data[path] = zlib.compress(self._data[path], FAST)
                self._packed.add(path)
        self.loose = 0
