"""The command ``forklint explain``: from a crash log to the hazards that make it, and to the findings that fit."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from forklint.cli.dashes import CommandWithRest
from forklint.cli.errors import CLEAN, FAILED, FOUND, Failure, one_line_errors

if TYPE_CHECKING:
    from forklint.crashes.reading import Reading

UNEXPLAINED = 3
"""Exit code: the log fits nothing that is known."""
CHUNK = 1024 * 1024
NEGATIVE = re.compile(r"-\d+")


class ExplainCommand(CommandWithRest):
    """A word such as ``-139`` is an exit status, not an option."""

    def own_words(self, args: list[str]) -> list[str]:
        """Put it behind a ``--`` of its own, where click reads no options."""
        negative = [word for word in args if NEGATIVE.fullmatch(word)]
        return [*(word for word in args if word not in negative), "--", *negative] if negative else args


@click.command(cls=ExplainCommand, options_metavar="[OPTIONS]")
@click.argument("crash", metavar="[CRASH_LOG] [-- PATHS]", required=False, type=click.Path())
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--no-cache", is_flag=True, help="Do not use the cache.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
@click.pass_context
def explain(ctx: click.Context, /, crash: str | None, **options: Any) -> None:
    """Explain a crash: which hazards cause it, and which findings of this project could be the cause.

    CRASH_LOG is a file, - for standard input, an exit status or signal (139, -11, SIGSEGV), or the message itself in
    quotes. It may be a traceback, the output of a training run, a line of the kernel's log, the stacks of a hang
    (faulthandler, py-spy) or a macOS crash report. PATHS are linted; the current directory by default.

    Exits with 0 if the crash is known and no finding fits, 1 if a finding fits, 2 on an error, 3 if nothing known
    fits the log.
    """
    with one_line_errors(verbose=options["verbose"]):
        sys.exit(run(crash, [Path(path) for path in ctx.obj or ()], options))


class Source(NamedTuple):
    """What is explained."""

    name: str
    """The name of a log, as it is shown beside line numbers; empty for what has no lines."""
    reading: Reading


def run(crash: str | None, paths: Sequence[Path], options: dict[str, Any]) -> int:
    """Explain, print, and return the exit code; raises ConfigError and Failure."""
    from forklint.cli.fitting import project_findings  # noqa: PLC0415 - `--help` needs none of it
    from forklint.crashes.hypotheses import explain as explained_by  # noqa: PLC0415
    from forklint.report import explanations  # noqa: PLC0415

    source = _source(crash)
    findings, is_whole = project_findings(paths, options) if source.reading.signs else ([], True)
    done = explained_by(source.reading, findings)
    if options["output_format"] == "json":
        click.echo(json.dumps({"source": crash or "-", **explanations.to_dict(done)}, indent=2))
    elif done.signs:
        click.echo(explanations.text(done, source.name), nl=False)
    else:
        click.echo(_nothing(crash, source))
    if not is_whole:
        return FAILED
    if not done.signs:
        return UNEXPLAINED
    return FOUND if done.fits else CLEAN


def _source(crash: str | None) -> Source:
    """Read what is to be explained; raises Failure."""
    from forklint.crashes.exit_status import is_status, signal_in  # noqa: PLC0415 - `--help` needs none of it
    from forklint.crashes.reading import NO_CRASH, LogReader, Reading, of_signal  # noqa: PLC0415

    if crash is None or crash == "-":
        if sys.stdin is None or (crash is None and sys.stdin.isatty()):
            raise Failure("name a crash log, for example `forklint explain crash.log`, or an exit status: -11, SIGSEGV")
        return Source("<stdin>", _read(sys.stdin.buffer))
    path = Path(crash)
    if _is_there(path):
        try:
            with path.open("rb") as file:
                return Source(crash, _read(file))
        except OSError as error:
            raise Failure(f"{crash}: {error.strerror}") from None
    signal = NO_CRASH if crash == "0" else signal_in(crash)
    if signal or is_status(crash):
        return Source("", of_signal(signal) if signal else Reading())
    if not any(char.isspace() for char in crash):
        raise Failure(f"{crash}: no such file, exit status or signal; put a message in quotes")
    reader = LogReader()
    reader.feed(crash.encode(errors="surrogateescape"))
    return Source("", reader.end())


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a pasted message may be too long for a name, or hold a null byte
        return False


def _read(file: BinaryIO) -> Reading:
    from forklint.crashes.reading import LogReader  # noqa: PLC0415

    reader = LogReader()
    while chunk := file.read(CHUNK):
        reader.feed(chunk)
    return reader.end()


def _nothing(crash: str | None, source: Source) -> str:
    """What to say of a log that fits nothing."""
    from forklint.crashes.exit_status import is_status  # noqa: PLC0415
    from forklint.report import count  # noqa: PLC0415

    if crash and is_status(crash) and not source.name:
        what = (
            f"{crash} is an exit code of the program itself, not of a signal: it printed why. Give that output to "
            "`forklint explain`. (The number of a signal is written with a minus: -11.)"
        )
    else:
        lines = f" ({count(source.reading.lines, 'line')})" if source.name else ""
        what = f"Nothing in it{lines} is a message of worker processes that forklint knows."
    return (
        f"{what}\n\nTo learn more: forklint doctor -- COMMAND\n"
        "It runs the command with stacks of all processes on a crash or a hang, and explains what it saw.\n"
        "Without running it: keep all of the output, look for the first error rather than the last, and see what the "
        "kernel says (dmesg -T)."
    )
