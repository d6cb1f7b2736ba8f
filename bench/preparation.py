"""What is done before each run of a command and undone after it, untimed: a file is edited, a store is put in place."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """A change to a file that a command is about to lint."""

    word: str
    """The word that stands for the file, as in a command."""
    text: str
    """What is added, with ``{number}`` for what differs from run to run, so that no store knows the content."""
    at_end: bool = False
    """Whether it is added below the file's last line instead of above its first."""
    words: str = ""
    """The same for a reader."""


COMMENT = "# Looked over {number} times.\n"
FUNCTION = '\n\ndef added_{number}(values):\n    """Return the values as a list."""\n    return list(values)\n'


@contextlib.contextmanager
def edited(path: Path, edit: Edit, number: int) -> Iterator[None]:
    """Have a file changed for a while; it gets its bytes and its time of modification back, whatever happens."""
    status, before = path.stat(), path.read_bytes()
    added = edit.text.format(number=number).encode()
    try:
        path.write_bytes(before + added if edit.at_end else added + before)
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def copied(filled: Path, own: Path) -> None:
    """Have a command begin with a copy of a filled store, whatever an earlier run has left in its own."""
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(filled, own)
