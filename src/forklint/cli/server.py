"""The command ``forklint server``: findings and fixes in editors."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from forklint.cli.errors import Failure


@click.command()
@click.option("--stdio", is_flag=True, help="Speak over standard input and output. This is the default.")
def server(stdio: bool) -> None:  # noqa: ARG001, FBT001 - some clients always pass it; click passes flags so
    """Start a language server for editors.

    It speaks the Language Server Protocol over standard input and output. Your editor starts it; see
    https://forklint.readthedocs.io/editors/ for how.
    """
    if "pygls" not in sys.modules and find_spec("pygls") is None:
        raise Failure("the server needs pygls: pip install 'forklint[server]'")
    if sys.stdin is None or sys.stdout is None:
        raise Failure("standard input or output is closed: the server is started by an editor")
    if sys.stdin.isatty():
        click.echo("forklint server speaks to an editor over standard input; Ctrl-C ends it", err=True)
    from forklint.server.serving import serve  # noqa: PLC0415 - pygls may be missing

    serve()
