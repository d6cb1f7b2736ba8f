"""The command ``forklint scheduler``: the place where clients and workers meet."""

from __future__ import annotations

from typing import Any

import click

from forklint.cli.connection import cache_folder, tls_of, tls_options
from forklint.cli.errors import Failure, one_line_errors
from forklint.cli.output import say
from forklint.cli.parameters import complete_host


@click.command(short_help="Start the scheduler that clients and workers connect to.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    shell_complete=complete_host,
    help="Address to listen on. 0.0.0.0 listens on all.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="Port to listen on.")
@tls_options
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
def scheduler(**options: Any) -> None:
    """Start the scheduler that `forklint worker` and `forklint verify --on` connect to.

    It is Dask's scheduler without everything that lets clients run code on it. It runs no trials, and needs neither
    torch nor the project.
    """
    with one_line_errors(verbose=options["verbose"]):
        tls = tls_of(options)
        from forklint.remote import security  # noqa: PLC0415 - forklint[dask]
        from forklint.remote.scheduler import Listening, serve  # noqa: PLC0415

        try:
            protocol = "tls" if tls.security("scheduler").tls_ca_file else "tcp"
            address = f"{protocol}://{options['host']}:{options['port']}"
            tls.connection(address, "scheduler")
            if not security.is_encrypted(address) and not security.is_local(address):
                say(security.OPEN.format(address=address))
            serve(Listening(options["host"], options["port"], tls, cache_folder() / "scheduler"), say)
        except (security.AddressError, OSError) as error:
            raise Failure(str(error)) from None
