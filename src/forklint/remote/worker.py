"""A Dask worker that runs trials and lint, and no functions of others; connects again when its scheduler is lost.

Dask's own worker runs whatever a client sends. This one differs in three ways: it unpickles nothing but a call of
``task.perform`` (see ``unpickling``), it answers only the few requests of ``REQUESTS``, and it takes no plugins.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distributed import Worker
from distributed.core import Status

from forklint import __version__
from forklint.remote import task
from forklint.remote.security import Tls
from forklint.remote.task_runner import TaskRunner
from forklint.remote.unpickling import ON_WORKER, restrict
from forklint.verify.doctor import Environment

REQUESTS = frozenset({"identity", "ping", "get_data", "free_keys"})
"""What other processes may ask of it; results are fetched by ``get_data``. What they may not: run a function, import a
file, take a plugin, open a stream of tasks, dump its state."""
IDENTITY = "forklint"
"""The key of a worker's ``identity`` that says what machine it is, as JSON."""
RUNNING = "forklint"
"""The key of its metrics with the task that runs."""
PATIENCE = 10.0
"""Seconds to wait for a scheduler before it is reported and tried again."""
PAUSE = 1.0


@dataclass(frozen=True)
class Offer:
    """What a worker has to offer."""

    name: str
    labels: tuple[str, ...]
    environment: Environment
    tls: Tls
    host: str | None = None
    port: int = 0
    """0 lets the system choose one."""

    def card(self, token: str) -> str:
        """What clients learn of it, as JSON; the token stays the same as long as the process lives."""
        told = {"name": self.name, "labels": self.labels, "environment": self.environment.facts}
        return json.dumps({**told, "version": __version__, "token": token})


class TrialWorker(Worker):  # type: ignore[misc] # Dask has types in part
    """Runs ``task.perform`` one at a time."""

    def __init__(self, address: str, task_runner: TaskRunner, **options: Any) -> None:
        super().__init__(address, nthreads=1, memory_limit=0, dashboard=False, **options)
        self.handlers: dict[str, Any] = {name: self.handlers[name] for name in REQUESTS}
        self.plugins["forklint"] = Watch(task_runner)

    async def plugin_add(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Take no plugins; a scheduler of Dask sends some that are not needed here."""
        return {"status": "OK"}


class Watch:
    """Ends a task that Dask has given up: its client is gone, or has cancelled it."""

    def __init__(self, task_runner: TaskRunner) -> None:
        self._task_runner = task_runner

    def transition(self, key: str, start: str, finish: str, **_: Any) -> None:
        """Called by Dask for each change of a task's state."""
        if start == "executing" and finish in {"cancelled", "released", "forgotten"}:
            self._task_runner.cancel(str(key))


def serve(address: str, offer: Offer, task_runner: TaskRunner, tell: Callable[[str], None]) -> None:
    """Work for a scheduler until SIGINT or SIGTERM. Nothing but calls of ``perform`` is unpickled from now on."""
    task.install(task_runner.perform)
    restrict(ON_WORKER)
    try:
        asyncio.run(_serve(address, offer, task_runner, tell))
    finally:
        task_runner.close()


async def _serve(address: str, offer: Offer, task_runner: TaskRunner, tell: Callable[[str], None]) -> None:
    stop = asyncio.Event()

    def end() -> None:
        stop.set()
        task_runner.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, end)
    security, _ = offer.tls.connection(address, "worker")
    token = secrets.token_hex(8)
    while not stop.is_set():
        worker = TrialWorker(
            address,
            task_runner,
            name=f"{offer.name}-{secrets.token_hex(4)}",  # one that is not yet known to be lost keeps its name
            resources=dict.fromkeys(offer.labels, 1),
            security=security,
            host=offer.host,
            port=offer.port,
            local_directory=str(task_runner.scratch),
            death_timeout=PATIENCE,
            startup_information={IDENTITY: lambda _: offer.card(token)},
            metrics={RUNNING: lambda _: task_runner.running},
        )
        await _work(worker, address, offer, stop, tell)
        task_runner.cancel()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), PAUSE)


async def _work(
    worker: TrialWorker, address: str, offer: Offer, stop: asyncio.Event, tell: Callable[[str], None]
) -> None:
    """One connection, from its beginning to its end."""
    starting: asyncio.Future[Any] = asyncio.ensure_future(worker)
    stopping: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            return
        try:
            starting.result()
        except Exception as error:  # noqa: BLE001 - Dask raises many: refused, unreachable, a wrong certificate
            cause = error.__cause__ or error
            tell(f"cannot connect to {address} ({type(cause).__name__}); trying again")
            return
        tell(f"{offer.name} is connected to {address}: {', '.join(offer.labels)}")
        finished = asyncio.ensure_future(worker.finished())
        await asyncio.wait({finished, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            tell(f"the connection to {address} was lost; connecting again")
    finally:
        stopping.cancel()
        starting.cancel()
        if worker.status not in {Status.closed, Status.failed}:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(worker.close(timeout=1, executor_wait=False), 5)
