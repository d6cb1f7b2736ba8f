"""A Dask scheduler for ``forklint worker``: it passes tasks on, and unpickles nothing that could run code on its host.

``dask scheduler`` of the same environment works as well, but every client can run functions on its host.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Scheduler

from forklint.remote.security import Tls
from forklint.remote.unpickling import ON_SCHEDULER, restrict

REQUESTS = frozenset(
    {"identity", "register-client", "register-worker", "heartbeat_worker", "unregister", "gather", "who_has"}
)
"""What workers and clients may ask of it. What they may not: run a function, install a plugin, write a file, end
workers, call a worker through it."""


class TrialScheduler(Scheduler):  # type: ignore[misc] # Dask has types in part
    """Answers no request that has to do with anything but tasks."""

    def __init__(self, **options: Any) -> None:
        super().__init__(dashboard=False, **options)
        self.handlers: dict[str, Any] = {name: self.handlers[name] for name in REQUESTS}


@dataclass(frozen=True)
class Listening:
    """Where a scheduler listens, and what it needs for that."""

    host: str
    port: int
    tls: Tls
    folder: Path
    """For Dask's temporary files."""


def serve(where: Listening, tell: Callable[[str], None]) -> None:
    """Run a scheduler until SIGINT or SIGTERM; with TLS if there are certificates. Raises AddressError, OSError."""
    restrict(ON_SCHEDULER)
    asyncio.run(_serve(where, tell))


async def _serve(where: Listening, tell: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    security = where.tls.security("scheduler")
    protocol = "tls" if security.tls_ca_file else "tcp"
    security.require_encryption = protocol == "tls"
    async with TrialScheduler(
        host=where.host,
        port=where.port,
        protocol=protocol,
        security=security,
        dashboard_address=":0",
        local_directory=str(where.folder),
    ) as scheduler:
        tell(f"the scheduler listens on {scheduler.address}")
        await stop.wait()
