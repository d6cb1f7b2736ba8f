"""Settings of Dask in processes of forklint, and a check that Dask is installed."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec

INSTALL = "pip install 'forklint[dask]'"
SETTINGS = {
    "distributed.scheduler.http.routes": [],  # no pages, and no API that changes anything
    "distributed.worker.http.routes": [],
    "distributed.scheduler.jupyter": False,
    "distributed.scheduler.work-stealing": False,  # each task is for one machine
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.tick.limit": "1h",  # a busy machine is no news
    "distributed.comm.retry.count": 0,
}


class NoDaskError(Exception):
    """dask.distributed is not installed; the message is one line for the user."""


def prepare() -> None:
    """Import Dask with these settings. Raises NoDaskError.

    Dask reads its variables when it is imported; they are removed then, so that trials do not inherit them.
    """
    if find_spec("distributed") is None:
        raise NoDaskError(f"this needs dask.distributed: {INSTALL}")
    import dask.config  # noqa: PLC0415 - forklint[dask]
    import distributed  # noqa: F401, PLC0415

    dask.config.set(SETTINGS)
    for name in [name for name in os.environ if name.startswith("DASK_")]:
        del os.environ[name]
    for name in list(logging.root.manager.loggerDict):  # Dask gives several of them levels of their own
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)
