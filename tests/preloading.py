"""What the fork server of multiprocessing has imported, from which processes of tests are forked."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver

_has: list[tuple[str, ...]] = []


def preload(*modules: str) -> None:
    """Have the fork server import some modules first; one that has imported others is replaced."""
    if _has != [modules]:
        forkserver._forkserver._stop()
        multiprocessing.get_context("forkserver").set_forkserver_preload(list(modules))
        _has[:] = [modules]
