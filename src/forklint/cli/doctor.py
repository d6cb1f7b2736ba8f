"""The command ``forklint doctor``: the environment, and what in it is risky."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from forklint.cli.ending import CLEAN, FOUND, Failure, one_line_errors
from forklint.cli.files import interpreter


@click.command()
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    default=Path(sys.executable),
    help="The project's interpreter; the one that runs forklint by default.",
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(python: Path, output_format: str) -> None:
    """Print the environment and what in it makes worker processes crash or hang.

    Exits with 1 if there is a risk, with 2 if the interpreter could not be asked.
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
                click.echo("\nNothing risky found.")
        sys.exit(FOUND if risks else CLEAN)
