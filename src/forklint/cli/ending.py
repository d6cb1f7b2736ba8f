"""How the command ends: exit codes, and what goes wrong as one line."""

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
"""What a shell says of a command that Ctrl-C has ended."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What a stream says that takes no more."""


class Failure(click.ClickException):
    """Ends the command with one line and the exit code that says that it could not do its work."""

    exit_code = FAILED


@contextmanager
def one_line_errors(*, verbose: bool) -> Iterator[None]:
    """Turn what goes wrong within into one line and exit code 2: a crash must not look like findings.

    With ``verbose`` an error of forklint's own comes as it is, with its traceback.
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
            f"forklint itself failed ({type(error).__name__}: {error}); -v shows where, please report it"
        ) from None


def _silence_stdout() -> None:
    """Let what is still buffered go nowhere: Python writes it at its end, and would fail again."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
