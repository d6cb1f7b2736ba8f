"""Options of commands that use machines with `forklint worker`, and the connection to them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forklint.cli.errors import Failure

if TYPE_CHECKING:
    from forklint.remote.cluster import Cluster
    from forklint.remote.security import Tls

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path, dir_okay=False)


def tls_options(function: F) -> F:
    """Add the options for TLS, named like those of `dask scheduler`."""
    for option in (
        click.option("--tls-key", type=FILE, help="Private key of this machine, in PEM format."),
        click.option("--tls-cert", type=FILE, help="Certificate of this machine, in PEM format."),
        click.option("--tls-ca-file", type=FILE, help="Certificate of the authority, in PEM format, for tls://."),
    ):
        function = option(function)
    return function


def tls_of(options: dict[str, Any]) -> Tls:
    """The files for TLS; raises Failure if Dask is not installed."""
    from forklint.remote.dask_settings import NoDaskError, prepare  # noqa: PLC0415 - forklint[dask]
    from forklint.remote.security import Tls  # noqa: PLC0415

    try:
        prepare()
    except NoDaskError as error:
        raise Failure(str(error)) from None
    return Tls(options["tls_ca_file"], options["tls_cert"], options["tls_key"])


@contextmanager
def connected(options: dict[str, Any]) -> Iterator[Cluster]:
    """The connection to the scheduler of `--on`; raises Failure."""
    tls = tls_of(options)
    from forklint.remote.cluster import Cluster, ClusterError, LostError  # noqa: PLC0415 - forklint[dask]
    from forklint.remote.security import AddressError  # noqa: PLC0415

    try:
        with Cluster(options["on"], tls) as cluster:
            yield cluster
    except (AddressError, ClusterError, LostError) as error:
        raise Failure(str(error)) from None


def host_name() -> str:
    """The name of this machine, without its domain."""
    return platform.node().partition(".")[0] or "worker"


def cache_folder() -> Path:
    """The user's directory for what forklint can do without."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "forklint"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forklint"
