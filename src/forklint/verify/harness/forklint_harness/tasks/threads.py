"""FKL101: which thread pools took the value of a variable that the program sets?"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Dict, List

from forklint_harness import ending, frames, journal


def install(order: Any) -> None:
    """Wait for the program to set the variable where the finding stands; give it a telling value, and look.

    In the control the variable has that value from the start. So the answer does not hang on what the source sets:
    that may be the very number the pools would have chosen by themselves.
    """
    variable, value, rows = order.spec["variable"], order.spec["value"], order.spec["rows"]
    environ = type(os.environ)
    plain = environ.__setitem__

    def __setitem__(self: Any, key: Any, given: Any) -> None:
        if self is os.environ and key == variable:
            place = frames.of_project(order.root)
            if place.get("file") == order.spec["file"] and rows[0] <= place["line"] <= rows[1]:
                plain(self, key, value)
                _look(order, place)
        plain(self, key, given)

    environ.__setitem__ = __setitem__  # type: ignore[method-assign,assignment]


def _look(order: Any, place: Dict[str, Any]) -> None:
    loaded = [name for name in ("torch", "numpy") if name in sys.modules]
    import torch

    journal.record("pools", pools=_pools(order), torch_threads=torch.get_num_threads(), loaded=loaded, **place)
    ending.end(order.journal)


def _pools(order: Any) -> List[Dict[str, Any]]:
    """What threadpoolctl knows of each pool in this process."""
    threadpoolctl = _threadpoolctl(order.spec["threadpoolctl"])
    names = ("user_api", "internal_api", "prefix", "num_threads", "version")
    return [{name: pool.get(name) for name in names} for pool in threadpoolctl.threadpool_info()]


def _threadpoolctl(path: str) -> Any:
    """The module, from the file that forklint names: the project need not have it."""
    spec = importlib.util.spec_from_file_location("forklint_threadpoolctl", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses and type hints look themselves up
    spec.loader.exec_module(module)
    return module
