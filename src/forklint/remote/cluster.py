"""The connection of a client: which machines there are, and one task at a time for one of them.

What can fail is reported as ``LostError``: the machine is gone, silent or stuck, or the scheduler is. Nothing is run
again here: who asked decides that.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from distributed import Client

from forklint import __version__
from forklint.remote.security import Tls
from forklint.remote.task import perform
from forklint.remote.unpickling import ON_CLIENT, restrict
from forklint.remote.worker import IDENTITY, RUNNING
from forklint.verify.doctor import Environment

SILENCE = 20.0
"""Seconds without a sign of life after which a machine is taken for lost; it sends one about each second."""
CONNECTING = 30.0
"""Seconds to find a scheduler again."""
LOOK = 1.0
"""Seconds between two looks at a machine."""
GONE = 3
"""Looks in a row at which a worker is not there."""
OVERTIME = 120.0
"""Seconds beyond a task's own limit after which its worker is taken for stuck; also if it does nothing for so long."""


class LostError(Exception):
    """A task was lost with its machine, or with the connection; says how in a few words."""


class ClusterError(Exception):
    """There is no scheduler, or a worker refuses a task; the message is one line for the user."""


@dataclass(frozen=True)
class Machine:
    """A machine with a worker of forklint."""

    name: str
    address: str
    token: str
    """The same as long as its process lives, whatever address it has."""
    labels: frozenset[str]
    environment: Environment

    @classmethod
    def of(cls, address: str, told: Mapping[str, Any]) -> Machine | None:
        """The machine of a worker, by what the scheduler knows of it; None if it is not one of this forklint."""
        try:
            card = json.loads(told[IDENTITY])
            if not (name := str(card["name"])).isprintable():
                return None
            labels = frozenset(map(str, card["labels"]))
            found = cls(name, address, str(card["token"]), labels, Environment(dict(card["environment"])))
            tuple(found.environment.rows())
        except (KeyError, TypeError, ValueError):
            return None
        return found if card.get("version") == __version__ else None


class SignsOfLife:
    """What a worker shows of a task that it was sent, look by look."""

    def __init__(self, key: str, seconds: float) -> None:
        self._key, self._limit = key, seconds + OVERTIME
        self._beat: object = None
        self._heard = self._busy = time.monotonic()
        self._begun: float | None = None

    def look(self, told: Mapping[str, Any], now: float) -> None:
        """Take in what the scheduler knows of the worker; raises LostError if it is silent or stuck."""
        if told.get("last_seen") != self._beat:  # by the scheduler's clock, which need not be this one
            self._heard, self._beat = now, told.get("last_seen")
        if now - self._heard > SILENCE:
            raise LostError(f"its worker has been silent for {SILENCE:g} s")
        running = told.get("metrics", {}).get(RUNNING)
        if running:  # maybe a task of another client
            self._busy = now
        if running == self._key and self._begun is None:
            self._begun = now
        if self._begun is None and now - self._busy > OVERTIME:
            raise LostError(f"its worker has been idle for {OVERTIME:g} s")
        if self._begun is not None and now - self._begun > self._limit:
            raise LostError(f"its worker has not answered for {now - self._begun:.0f} s")


class TrialClient(Client):  # type: ignore[misc] # Dask has types in part
    """Ends its connection when it refuses a message; Dask's own client would wait for replies forever."""

    async def _handle_report(self) -> None:
        try:
            await super()._handle_report()
        except Exception:  # noqa: BLE001 - a pickle that is refused, or anything else that cannot be read
            self.status = "failed"


class Cluster:
    """A connection that is restored when it is lost; threads may share it. Raises ClusterError without a scheduler."""

    def __init__(self, address: str, tls: Tls) -> None:
        self._address = address
        self._security, _ = tls.connection(address, "client")
        self._lock = threading.Lock()
        restrict(ON_CLIENT)
        self._client: Any = self._connect(CONNECTING / 3)

    def __enter__(self) -> Cluster:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        _close(self._client)

    def machines(self) -> list[Machine]:
        """All machines that run a worker of the same version, by name; raises LostError."""
        found = [Machine.of(address, told) for address, told in self._workers(self._client).items()]
        return sorted((one for one in found if one is not None), key=lambda one: (one.name, one.address))

    def strangers(self) -> list[str]:
        """Names of workers that are not `forklint worker`, or of another version; raises LostError."""
        workers = self._workers(self._client)
        return [
            str(told.get("name", address)) for address, told in workers.items() if Machine.of(address, told) is None
        ]

    def ask(self, machine: Machine, name: str, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a task to a machine and wait for the reply; ``seconds`` is the time limit of the task itself.

        Raises LostError, and ClusterError if the worker refuses.
        """
        client, key = self._client, f"forklint-{secrets.token_hex(8)}"
        done = threading.Event()
        body = json.dumps({**request, "key": key})
        try:
            future = client.submit(
                perform,
                name,
                body,
                key=key,
                workers=[machine.address],
                allow_other_workers=False,
                resources=dict.fromkeys(machine.labels, 1),
                retries=0,
                pure=False,
            )
            future.add_done_callback(lambda _: done.set())
        except Exception as error:  # noqa: BLE001 - Dask raises what asyncio, tornado and it raise
            raise self._lost(client, error) from None
        try:
            self._await(client, machine, key, done, seconds)
            reply = json.loads(future.result(timeout=CONNECTING))
        except LostError:
            raise
        except Exception as error:  # noqa: BLE001 - as above; a refused pickle, too
            raise self._lost(client, error) from None
        finally:
            with contextlib.suppress(Exception):
                future.cancel() if not future.done() else future.release()
        if not isinstance(reply, dict):
            raise ClusterError(f"{machine.name}: not a reply")
        if "error" in reply:
            raise ClusterError(f"{machine.name}: {reply['error']}")
        return reply

    def _await(self, client: Any, machine: Machine, key: str, done: threading.Event, seconds: float) -> None:
        """Wait for a task, as long as its machine is alive; raises LostError."""
        signs, missed = SignsOfLife(key, seconds), 0
        while not done.wait(LOOK):
            told = self._workers(client).get(machine.address)
            missed = missed + 1 if told is None else 0
            if told is not None:
                signs.look(told, time.monotonic())
            elif missed >= GONE:  # a scheduler that has just been found again may not know all workers yet
                raise LostError("its worker is gone")

    def wait_for(self, found: Callable[[Machine], bool], patience: float) -> Machine | None:
        """Wait at most ``patience`` seconds for a machine, and connect again if necessary; None if there is none."""
        deadline = time.monotonic() + patience
        while True:
            with contextlib.suppress(LostError):
                self._renew()
                for machine in self.machines():
                    if found(machine) and self._is_alive(machine):
                        return machine
            if time.monotonic() > deadline:
                return None
            time.sleep(LOOK)

    def _is_alive(self, machine: Machine) -> bool:
        """Whether a machine has given a sign of life since it was last looked at: one that is cut off gives none."""
        before = self._workers(self._client).get(machine.address, {}).get("last_seen")
        for _ in range(int(SILENCE / LOOK / 4)):
            time.sleep(LOOK)
            if self._workers(self._client).get(machine.address, {}).get("last_seen") != before:
                return True
        return False

    def _renew(self) -> None:
        """Connect again if the connection was lost; raises LostError."""
        with self._lock:
            if self._client.status == "running":
                return
            _close(self._client)
            try:
                self._client = self._connect(LOOK * 5)
            except ClusterError as error:
                raise LostError(str(error)) from None

    def _connect(self, timeout: float) -> Any:
        try:
            return TrialClient(
                self._address,
                security=self._security,
                timeout=timeout,
                set_as_default=False,
                direct_to_workers=False,
            )
        except Exception as error:  # noqa: BLE001 - refused, unreachable, a wrong certificate
            cause = error.__cause__ or error
            raise ClusterError(f"cannot connect to {self._address} ({type(cause).__name__}: {cause})") from None

    def _workers(self, client: Any) -> dict[str, Any]:
        """What the scheduler knows of each worker, by address; raises LostError."""
        if client.status != "running":
            raise LostError("the scheduler was lost")
        try:
            workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:  # noqa: BLE001 - Dask raises what asyncio, tornado and it raise
            raise self._lost(client, error) from None
        return workers

    def _lost(self, client: Any, error: Exception) -> LostError:
        if client.status != "running":
            return LostError("the scheduler was lost")
        return LostError(f"the connection failed: {type(error).__name__}")


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        client.close(timeout=2)
