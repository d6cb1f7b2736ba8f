"""Exit codes, and errors as one line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from forklint.config import ConfigError

CLEAN, FOUND, FAILED = 0, 1, 2
INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""Error numbers of a stream that cannot be written to, for example because the disk is full."""


class Failure(click.ClickException):
    """Ends the command with one line of text and exit code 2."""

    exit_code = FAILED


@contextmanager
def one_line_errors(*, verbose: bool) -> Iterator[None]:
    """Turn any error into one line and exit code 2, so that a crash cannot be mistaken for findings.

    With ``verbose``, internal errors are raised with their traceback.
    """
    try:
        yield
    except ConfigError as error:
        raise Failure(str(error)) from None
    except (click.ClickException, click.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            _silence_stdout()
            raise Failure(f"cannot print the report: {error.strerror}") from None
        if verbose:
            raise
        raise Failure(
            f"internal error ({type(error).__name__}: {error}); run with -v for a traceback, and please report it"
        ) from None


def _silence_stdout() -> None:
    """Discard what is still buffered: Python would flush it at exit, and fail again."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
