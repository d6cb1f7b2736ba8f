"""What the options of the command mean: exit codes, checked values, settings given on the command line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from forklint import config
from forklint.config import ConfigError
from forklint.model import PLATFORMS, Severity
from forklint.source.paths import from_root

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

    def __init__(
        self, name: str, reader: Any, *, split: bool = False, words: Callable[[], Iterable[tuple[str, str]]] = tuple
    ) -> None:
        self.name = name
        self._reader = reader
        self._split = split
        self._words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a wrong one ends the command with a line that says why."""
        if not isinstance(value, str):
            return value
        try:
            return self._reader([part for part in value.replace(" ", "").split(",") if part] if self._split else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer the words that may be meant, after those of a list that stand already."""
        head, comma, last = incomplete.rpartition(",") if self._split else ("", "", incomplete)
        taken = head.split(",")
        return [
            CompletionItem(head + comma + word, help=meaning)
            for word, meaning in self._words()
            if word.lower().startswith(last.lower()) and word not in taken
        ]


def codes() -> list[tuple[str, str]]:
    """The codes and the names of all rules, each with the other."""
    from forklint.rules import registry  # noqa: PLC0415

    rows = [(code, name) for code, (name, _) in registry.codes().items()]
    return [*rows, *((name, code) for code, name in rows)]


CODES = Checked("codes", config.selectors, split=True, words=lambda: [("ALL", "every rule"), *codes()])
PLATFORM = Checked("platforms", config.platforms, split=True, words=lambda: [(name, "") for name in PLATFORMS])
SEVERITY = Checked("severity", config.severity, words=lambda: [(one.value, "") for one in Severity])


def complete_rule(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the codes and names of rules."""
    return [
        CompletionItem(word, help=meaning) for word, meaning in codes() if word.lower().startswith(incomplete.lower())
    ]


def complete_paths(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer files, and the commands where one may stand."""
    group = ctx.find_root().command
    first = not ctx.params.get("paths") and isinstance(group, click.Group)
    names = group.list_commands(ctx) if first and isinstance(group, click.Group) else []
    commands = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file"), *commands]  # a file clears what bash had before


APART = (
    ("--watch", ("fix", "diff", "add_noqa", "update_baseline", "show_files", "stdin"), "a watch changes nothing"),
    ("--add-noqa", ("fix", "diff", "statistics", "stdin"), "it writes comments for what is left after fixing"),
    ("--update-baseline", ("diff", "add_noqa", "stdin"), "it keeps what is found in files as they are"),
)
"""Options that others make no sense beside: name, the others, and why."""


def check_together(options: dict[str, Any], *, from_stdin: bool) -> None:
    """Raise Failure for options that do not go together."""
    given = {name for name, value in options.items() if value not in (None, False, ())}
    given |= {"stdin"} if from_stdin else set()
    for name, others, why in APART:
        if name.lstrip("-").replace("-", "_") not in given:
            continue
        for other in others:
            if other in given:
                word = "`-`" if other == "stdin" else f"--{other.replace('_', '-')}"
                raise Failure(f"{name} and {word} do not go together: {why}")


def overrides(options: dict[str, Any]) -> dict[str, Any]:
    """Settings that the command line gives, by the names of Settings' fields; a command may lack some options."""
    values: dict[str, Any] = {}
    for name, key in (
        ("select", "select"),
        ("ignore", "ignore"),
        ("extend_select", "extend_select"),
        ("extend_ignore", "extend_ignore"),
        ("platform", "platforms"),
    ):
        if options.get(name):
            values[key] = tuple(word for words in options[name] for word in words)
    for name in ("target_python", "exit_on", "preview", "force_exclude"):
        if options.get(name) is not None:
            values[name] = options[name]
    if options.get("baseline"):
        values["baseline"] = str(from_root(options["baseline"]))
    if options.get("per_file_ignores"):
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
