"""What the options of the command mean: exit codes, checked values, settings given on the command line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from forklint import config
from forklint.config import ConfigError

CLEAN, FOUND, FAILED = 0, 1, 2
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


class Checked(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on alone
    """A parameter read by one of the readers of the configuration, so that both accept the same."""

    def __init__(self, name: str, reader: Any, *, split: bool = False) -> None:
        self.name = name
        self._reader = reader
        self._split = split

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a wrong one ends the command with a line that says why."""
        if not isinstance(value, str):
            return value
        try:
            return self._reader([part for part in value.replace(" ", "").split(",") if part] if self._split else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


CODES = Checked("codes", config.selectors, split=True)


def overrides(options: dict[str, Any]) -> dict[str, Any]:
    """Settings that the command line gives, by the names of Settings' fields."""
    values: dict[str, Any] = {}
    for name, key in (
        ("select", "select"),
        ("ignore", "ignore"),
        ("extend_select", "extend_select"),
        ("extend_ignore", "extend_ignore"),
        ("platform", "platforms"),
    ):
        if options[name]:
            values[key] = tuple(word for words in options[name] for word in words)
    for name in ("target_python", "exit_on", "preview"):
        if options[name] is not None:
            values[name] = options[name]
    if options["per_file_ignores"]:
        values["per_file_ignores"] = _per_file_ignores(options["per_file_ignores"])
    return values


def _per_file_ignores(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    ignores: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        pattern, colon, words = pair.rpartition(":")
        try:
            if not colon or not pattern:
                raise ValueError("write PATTERN:CODES, for example tests/*:FKL201")
            codes = config.selectors([word.strip() for word in words.split(",") if word.strip()])
        except ValueError as error:
            raise Failure(f"--per-file-ignores '{pair}': {error}") from None
        ignores[pattern] = (*ignores.get(pattern, ()), *codes)
    return ignores
