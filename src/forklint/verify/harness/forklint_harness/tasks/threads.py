"""For FKL101: which thread pools took the value of a variable that the program sets."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Dict, List

from forklint_harness import ending, journal
from forklint_harness.frames import caller
from forklint_harness.loaders import Watch
from forklint_harness.tolerance.loading import is_within


def install(order: Dict[str, Any]) -> None:
    """Wait for the program to set the variable where the finding stands; give it a telling value, and look.

    In the control the variable has that value from the start. So the answer does not hang on what the source sets:
    that may be the very number the pools would have chosen by themselves.
    """
    spec = order["spec"]
    call = {"file": spec["file"], "first": spec["rows"][0], "last": spec["rows"][1]}
    environ: Any = type(os.environ)
    plain, default = environ.__setitem__, environ.setdefault
    if order["factors"]["environment"] == "late":
        os.environ.pop(spec["variable"], None)

    def look(environment: Any, key: Any) -> None:
        if environment is os.environ and key == spec["variable"] and journal.is_main():
            place = caller()
            if is_within(place, call):
                plain(environment, key, spec["value"])
                _look(order, place)

    def __setitem__(self: Any, key: Any, given: Any) -> None:
        look(self, key)
        plain(self, key, given)

    def setdefault(self: Any, key: Any, given: Any) -> Any:
        look(self, key)  # in the control it is there already, and nothing would be set
        return default(self, key, given)

    environ.__setitem__, environ.setdefault = __setitem__, setdefault
    if spec["others"] == "one":
        Watch(None, lambda _: _give_up(order)).begin()


def _give_up(order: Dict[str, Any]) -> None:
    """The program begins to read its data, and so to train: it is not run any further."""
    journal.record("loader-first", place=caller())
    ending.end(order["journal"])


def _look(order: Dict[str, Any], place: str) -> None:
    loaded = [name for name in ("torch", "numpy") if name in sys.modules]
    import torch

    _ = torch.ones(64, 64) @ torch.ones(64, 64)  # some pools are sized when they are first used
    pools = _pools(order["spec"]["threadpoolctl"])
    journal.record("pools", pools=pools, torch_threads=torch.get_num_threads(), loaded=loaded, place=place)
    ending.end(order["journal"])


def _pools(threadpoolctl: str) -> List[Dict[str, Any]]:
    """What threadpoolctl knows of each pool in this process."""
    names = ("user_api", "internal_api", "prefix", "num_threads", "version")
    return [{name: pool.get(name) for name in names} for pool in _threadpoolctl(threadpoolctl).threadpool_info()]


def _threadpoolctl(path: str) -> Any:
    """The module, from the file that forklint names: the project need not have it."""
    spec = importlib.util.spec_from_file_location("forklint_threadpoolctl", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses and type hints look themselves up
    spec.loader.exec_module(module)
    return module
