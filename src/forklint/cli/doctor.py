"""The command ``forklint doctor``: the environment and what in it is risky, or the diagnosis of a command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint.cli.dashes import CommandWithRest
from forklint.cli.errors import CLEAN, FOUND, Failure, one_line_errors
from forklint.cli.files import interpreter
from forklint.cli.output import say

if TYPE_CHECKING:
    from forklint.verify.diagnosis import Diagnosis
    from forklint.verify.doctor import Environment

NOT_STARTED = 127
"""Exit status for a command that cannot be started, as shells have it."""


class NotStarted(Failure):
    """The command cannot be started."""

    exit_code = NOT_STARTED


@click.command(
    cls=CommandWithRest,
    short_help="Show the environment's risks, or explain how a command died.",
    options_metavar="[OPTIONS]",
    epilog="Example: forklint doctor --timeout 600 -- python train.py --epochs 1",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]... [-- COMMAND]")
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    help="Python interpreter of the project.  [default: that of COMMAND, or the one that runs forklint]",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), help="Stop COMMAND after this many seconds, and show its stacks."
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
@click.option("--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--no-cache", is_flag=True, help="Do not use the cache.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
@click.pass_context
def doctor(ctx: click.Context, /, **options: Any) -> None:
    """Print the environment and its risks; or run COMMAND and explain why it crashes or hangs.

    With -- COMMAND the command runs with debug flags on and its output is passed on. When it ends, or at --timeout or
    Ctrl-C, forklint prints which process was killed by what, the stacks, which hazards cause that, and findings in
    PATHS (the current directory by default) that could be the cause. The report goes to standard error.

    The exit status is that of COMMAND: 128 plus the number of the signal if one ended it, 124 after --timeout, 130
    after Ctrl-C, 127 if it cannot be started. Without a command: 1 if there is a risk, 2 on an error.
    """
    with one_line_errors(verbose=options["verbose"]):
        if ctx.obj:
            sys.exit(_watch(ctx.obj, options))
        if ctx.obj is not None:
            raise Failure("name a command behind --, for example `forklint doctor -- python train.py`")
        if options["paths"] or options["timeout"]:
            raise Failure("PATHS and --timeout are for a command: forklint doctor -- python train.py")
        sys.exit(_print_environment(options))


def _print_environment(options: dict[str, Any]) -> int:
    from forklint.cli.output_file import check, output_to  # noqa: PLC0415 - `--help` needs none of it

    check(options["output_file"])
    found = _environment(interpreter(options["python"] or Path(sys.executable)))
    risks = list(found.risks())
    with output_to(options["output_file"]):
        if options["output_format"] == "json":
            click.echo(json.dumps({**found.facts, "risks": risks}, indent=2))
        else:
            width = max(len(name) for name, _ in found.rows())
            for name, value in found.rows():
                click.echo(f"{click.style(name.ljust(width), bold=True)}  {value}")
            for risk in risks:
                click.echo(f"\n{click.style('risk', fg='yellow', bold=True)}: {risk}")
            if not risks:
                click.echo("\nNothing risky found.")
    return FOUND if risks else CLEAN


def _environment(python: Path) -> Environment:
    """Ask an interpreter; raises Failure."""
    from forklint.knowledge.environment import Environment as Variables  # noqa: PLC0415 - `--help` needs none of it
    from forklint.verify.doctor import ProbeError, probe  # noqa: PLC0415

    try:
        return probe(python, tuple(sorted({name for row in Variables().judged for name in row.names})))
    except ProbeError as error:
        raise Failure(str(error)) from None


def _watch(command: Sequence[str], options: dict[str, Any]) -> int:
    """Run the command, explain what was seen, and return its exit status; raises ConfigError and Failure."""
    from forklint.cli.fitting import project_findings  # noqa: PLC0415 - `--help` needs none of it
    from forklint.cli.output_file import check  # noqa: PLC0415
    from forklint.verify import diagnosis, watched_command  # noqa: PLC0415
    from forklint.verify.debug_flags import with_flags  # noqa: PLC0415
    from forklint.verify.supervisor import CannotRunError  # noqa: PLC0415

    if os.name == "nt":
        raise Failure("doctor runs a command on Linux and macOS only: use `forklint explain` with the log of the run")
    check(options["output_file"])
    say("running it with these debug flags:")
    for flag in with_flags(os.environ)[1]:
        click.echo(f"  {flag.name}={flag.value}  ({flag.why})", err=True)
    report_alone = options["output_format"] == "json" and not options["output_file"]
    try:
        seen = watched_command.run(command, Path.cwd(), options["timeout"], errors_only=report_alone)
    except CannotRunError as error:
        raise NotStarted(f"cannot start the command: {error}") from None
    findings, _ = project_findings(options["paths"], options)
    done = diagnosis.diagnose(seen, Path.cwd(), findings)
    _report(done, _risks(command, options, done), options)
    return done.status


def _risks(command: Sequence[str], options: dict[str, Any], done: Diagnosis) -> list[str]:
    """What is risky in the environment of a command that failed; none if its interpreter is not known."""
    named = options["python"] or (Path(command[0]) if Path(command[0]).name.startswith("python") else None)
    if named is None or not done.status:
        return []
    try:
        return list(_environment(interpreter(named)).risks())
    except Failure as failure:
        return [failure.message]


def _report(done: Diagnosis, risks: Sequence[str], options: dict[str, Any]) -> None:
    from forklint.cli.output_file import output_to  # noqa: PLC0415
    from forklint.report import diagnoses  # noqa: PLC0415

    is_json = options["output_format"] == "json"
    text = json.dumps(diagnoses.to_dict(done, risks), indent=2) + "\n" if is_json else diagnoses.text(done, risks)
    if options["output_file"]:
        with output_to(options["output_file"]):
            click.echo(text, nl=False)
    else:
        click.echo(text if is_json else f"\n{text}", nl=False, err=not is_json)
