"""For FKL603: what torch says of a byte tensor made of a storage, or by ``torch.frombuffer``; run as a program.

The order's spec: ``storage`` (whether by way of a storage).
"""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict

from forklint_harness import journal

DATA = bytes(range(48))


def install(order: Dict[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Dict[str, Any]) -> None:
    """Make the tensor; write down what is warned of or raised, and whether it holds the bytes."""
    import torch

    storage: Any = torch.ByteStorage
    tensor: Any
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            if spec["storage"]:
                tensor = torch.ByteTensor(storage.from_buffer(DATA))
            else:
                tensor = torch.frombuffer(bytearray(DATA), dtype=torch.uint8)
        except Exception as error:
            journal.record("raised", error="{}: {}".format(type(error).__name__, error))
            return
    told = ["{}: {}".format(one.category.__name__, one.message) for one in warned]
    journal.record("made", warnings=told, same=tensor.tolist() == list(DATA))


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
