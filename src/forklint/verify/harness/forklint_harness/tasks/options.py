"""For FKL402: whether a loader with such options can be made, and gives a batch; run as a program.

The order's spec: ``loader`` (its dotted name), ``options`` (by name: ``{"value": ...}``, or ``{"object": true}`` for
something that is no constant), ``iterable`` (whether the dataset is one).
"""

from __future__ import annotations

import importlib
import json
import os
import warnings
from typing import Any, Dict, List

from forklint_harness import journal

SAMPLES = 8


def install(order: Dict[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Dict[str, Any]) -> None:
    """Make the loader and take one batch; write down how far it came, and what was warned of."""
    try:
        module, _, name = spec["loader"].rpartition(".")
        kind: Any = getattr(importlib.import_module(module), name)
    except Exception as error:  # what is not installed, or cannot be imported here
        journal.record("not-imported", error=_text(error))
        return
    dataset = _dataset(iterable=spec["iterable"])
    options = {name: _value(name, told) for name, told in spec["options"].items()}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            loader = kind(dataset, **options)
        except Exception as error:
            journal.record("refused", when="made", type=type(error).__name__, error=_text(error))
            return
        try:
            next(iter(loader))
        except Exception as error:
            journal.record("refused", when="iterated", type=type(error).__name__, error=_text(error))
            return
    journal.record("batch", warnings=[str(one.message) for one in warned])


def _dataset(*, iterable: bool) -> Any:
    from torch.utils.data import Dataset, IterableDataset

    class Numbers(Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return SAMPLES

        def __getitem__(self, index: int) -> int:
            return index

    class Stream(IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            return iter(range(SAMPLES))

    return Stream() if iterable else Numbers()


def _value(name: str, told: Dict[str, Any]) -> Any:
    """A constant as it is; for an object one of the kind that the option wants."""
    if "value" in told:
        return told["value"]
    if name == "multiprocessing_context":
        import multiprocessing

        return multiprocessing.get_context("spawn")
    order: List[int] = list(range(SAMPLES))
    return [order[:4], order[4:]] if name == "batch_sampler" else order


def _text(error: BaseException) -> str:
    return "{}: {}".format(type(error).__name__, str(error)).rstrip(": ")


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
