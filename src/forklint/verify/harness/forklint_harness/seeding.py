"""A program with one loader, whose workers begin with a function of the project, and whose samples are random numbers.

Run as a program. The order's spec says under ``alone`` where the function is (``module``, ``qualname``, ``search``),
and under ``streams`` from which streams of the process the samples are drawn. What the function wants beside the number
of the worker is made up, the same for each.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
from typing import Any, Dict, List, Sequence

from forklint_harness.tasks.names import owner_of
from forklint_harness.tolerance.arguments import for_call

SAMPLES = 32
DRAWING = {"python": ("random", "random"), "numpy": ("numpy.random", "rand"), "torch": ("torch", "randn")}
"""By stream, the function that draws a number from it, and its module."""


class Numbers:
    """Samples of one number from each stream."""

    def __init__(self, streams: Sequence[str]) -> None:
        self._streams = list(streams)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> List[float]:
        found = []
        for module, name in (DRAWING[one] for one in self._streams):
            draw = getattr(importlib.import_module(module), name)
            found.append(float(draw(1) if module == "torch" else draw()))
        return found


def main(spec: Dict[str, Any]) -> None:
    """Make the loader and iterate it."""
    function = owner_of(spec["alone"])
    first = next(iter(inspect.signature(function).parameters))
    from torch.utils.data import DataLoader

    begin: Any = functools.partial(function, **for_call(functools.partial(function, **{first: 0})))
    loader: Any = DataLoader(Numbers(spec["streams"]), num_workers=1, worker_init_fn=begin)  # type: ignore[arg-type]
    for _ in loader:
        pass


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        main(json.load(file)["spec"])
