"""The command ``forklint worker``: runs trials and lint for other machines."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from forklint.cli.connection import cache_folder, host_name, tls_of, tls_options
from forklint.cli.errors import Failure, one_line_errors
from forklint.cli.files import interpreter
from forklint.cli.output import say
from forklint.cli.parameters import complete_host, complete_label, complete_scheduler


@click.command(short_help="Run trials for other machines.")
@click.argument("address", metavar="SCHEDULER", shell_complete=complete_scheduler)
@click.option(
    "--label",
    multiple=True,
    shell_complete=complete_label,
    help="Label to carry. Can be repeated.  [default: all that can be proven]",
)
@click.option("--name", help="Name of this machine in reports.  [default: its host name]")
@click.option("--python", type=click.Path(path_type=Path), help="Python interpreter that runs the trials, with torch.")
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Directory for files of projects.")
@click.option(
    "--host",
    shell_complete=complete_host,
    help="Address to listen on.  [default: the one that leads to the scheduler]",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: chosen by the system]"
)
@tls_options
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
def worker(**options: Any) -> None:
    """Run trials of `forklint verify --on` and lint repositories of `forklint lint-many`.

    SCHEDULER is an address such as tcp://scheduler:8786, or tls://scheduler:8786. Labels say what can run here: linux,
    darwin, windows; cuda and mps, if torch sees such a device; the Python version, such as python3.12. A worker only
    accepts labels that it can prove of its machine.

    It runs code that clients send: as trials, with limits, as this user. Use TLS. It runs until it is interrupted, and
    connects again whenever the scheduler is lost.
    """
    with one_line_errors(verbose=options["verbose"]):
        _work(options)


def _work(options: dict[str, Any]) -> None:
    tls = tls_of(options)
    from forklint.remote import labels, security  # noqa: PLC0415 - forklint[dask]
    from forklint.remote.store import Store  # noqa: PLC0415
    from forklint.remote.task_runner import TaskRunner  # noqa: PLC0415
    from forklint.remote.worker import Offer, serve  # noqa: PLC0415
    from forklint.verify.doctor import ProbeError, probe  # noqa: PLC0415
    from forklint.verify.supervisor import CannotRunError  # noqa: PLC0415

    address = options["address"]
    python = interpreter(options["python"]) if options["python"] else Path(sys.executable)
    try:
        tls.connection(address, "worker")
        environment = probe(python)
        carried = labels.chosen(options["label"], environment)
        task_runner = TaskRunner(
            Store(options["store"] or cache_folder() / "worker"), python, Path(tempfile.gettempdir())
        )
    except (security.AddressError, labels.LabelError, ProbeError, CannotRunError) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"the store cannot be created: {error}") from None
    if not security.is_encrypted(address) and not security.is_local(address):
        say(security.OPEN.format(address=address))
    name = options["name"] or host_name()
    serve(address, Offer(name, carried, environment, tls, options["host"], options["port"]), task_runner, say)
