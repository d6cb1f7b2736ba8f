"""Where the report goes: to standard output, or to the file of ``--output-file``."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from forklint.cli.errors import Failure
from forklint.source.paths import from_root
from forklint.source.writing import replace

STREAMS = ("/dev/", "/proc/")
"""Files below these are written in place and never replaced, even if they are links to regular files."""


def check(path: Path | None) -> None:
    """Raise Failure if the file is not writable, before any work is done."""
    if path is None:
        return
    target = Path(os.path.realpath(path))
    reason = ""
    if path.is_dir():
        reason = "this is a directory; name a file"
    elif path.suffix in (".py", ".pyi", ".ipynb"):
        reason = "refusing to overwrite a source file; choose another name"
    elif path.exists():
        reason = "" if os.access(path, os.W_OK) else "the file is not writable"
    elif target.is_symlink():
        reason = "too many levels of symbolic links"
    elif not target.parent.is_dir():
        reason = f"the directory {target.parent} does not exist; create it first"
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        reason = f"the directory {target.parent} is not writable"
    if reason:
        raise _failure(path, reason)


@contextlib.contextmanager
def output_to(path: Path | None) -> Iterator[None]:
    """Collect everything that is printed and write it to a file at once; with None, print as usual.

    Nothing is written if an exception is raised. Raises Failure if the file cannot be written.
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
    """Whether a file must be written in place: a device, a pipe, or a file in a read-only directory."""
    if not path.exists():
        return False
    regular = stat.S_ISREG(path.stat().st_mode) and not from_root(path).as_posix().startswith(STREAMS)
    return not regular or not os.access(target.parent, os.W_OK | os.X_OK)


def _failure(path: Path, reason: str) -> Failure:
    from forklint.report import visible  # noqa: PLC0415

    return Failure(visible(f"--output-file {path}: {reason}"))
