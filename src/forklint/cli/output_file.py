"""Where the report goes: to standard output, or to the file of ``--output-file``."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from forklint.cli.ending import Failure
from forklint.source.paths import from_root
from forklint.source.writing import replace

STREAMS = ("/dev/", "/proc/")
"""Below these stands what is written into, never replaced, though it lead to a regular file."""


def check(path: Path | None) -> None:
    """Raise Failure if the file can be seen not to be writable; said before any work is done."""
    if path is None:
        return
    target = Path(os.path.realpath(path))
    reason = ""
    if path.is_dir():
        reason = "it is a folder; name a file"
    elif path.suffix in (".py", ".pyi", ".ipynb"):
        reason = "that is the name of a source file; name another"
    elif path.exists():
        reason = "" if os.access(path, os.W_OK) else "the file is not writable"
    elif target.is_symlink():
        reason = "a loop of links"
    elif not target.parent.is_dir():
        reason = f"there is no folder {target.parent}; make it first"
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        reason = f"the folder {target.parent} is not writable"
    if reason:
        raise _failure(path, reason)


@contextlib.contextmanager
def output_to(path: Path | None) -> Iterator[None]:
    """Gather what is printed within and write it to a file in one step; None: print it as ever.

    Nothing is written if an exception comes. Raises Failure if the file cannot be written.
    """
    if path is None:
        yield
        return
    gathered = io.BytesIO()
    stream = io.TextIOWrapper(gathered, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True)
    with contextlib.redirect_stdout(stream):
        yield
    try:
        _write(path, gathered.getvalue())
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failure(path, error.strerror or str(error)) from None


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    if _must_stay(path, target):
        with path.open("wb") as file:
            file.write(data)
    else:
        replace(target, data)


def _must_stay(path: Path, target: Path) -> bool:
    """Whether a file must be written into: a device, a pipe, or one in a folder where no other can be made."""
    if not path.exists():
        return False
    regular = stat.S_ISREG(path.stat().st_mode) and not from_root(path).as_posix().startswith(STREAMS)
    return not regular or not os.access(target.parent, os.W_OK | os.X_OK)


def _failure(path: Path, reason: str) -> Failure:
    from forklint.report import visible  # noqa: PLC0415

    return Failure(visible(f"--output-file {path}: {reason}"))
