"""The command ``forklint doctor``: the environment and its risks for worker processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from forklint.cli.errors import CLEAN, FOUND, Failure, one_line_errors
from forklint.cli.files import interpreter


@click.command(short_help="Show the environment and its risks for worker processes.")
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    default=Path(sys.executable),
    help="Python interpreter of the project.  [default: the one that runs forklint]",
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
def doctor(python: Path, output_format: str) -> None:
    """Show the environment and what in it can make worker processes crash or hang.

    Exit codes: 0 if there is no risk, 1 if there is one, 2 if the interpreter could not be run.
    """
    from forklint.knowledge.environment import Environment as Variables  # noqa: PLC0415
    from forklint.verify.doctor import ProbeError, probe  # noqa: PLC0415

    with one_line_errors(verbose=False):
        try:
            found = probe(
                interpreter(python), tuple(sorted({name for row in Variables().judged for name in row.names}))
            )
        except ProbeError as error:
            raise Failure(str(error)) from None
        risks = list(found.risks())
        if output_format == "json":
            click.echo(json.dumps({**found.facts, "risks": risks}, indent=2))
        else:
            width = max(len(name) for name, _ in found.rows())
            for name, value in found.rows():
                click.echo(f"{click.style(name.ljust(width), bold=True)}  {value}")
            for risk in risks:
                click.echo(f"\n{click.style('risk', fg='yellow', bold=True)}: {risk}")
            if not risks:
                click.echo("\nNo risks found.")
        sys.exit(FOUND if risks else CLEAN)
