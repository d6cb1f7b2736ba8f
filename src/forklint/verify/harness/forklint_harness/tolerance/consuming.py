"""What a missing trainer does with what it is given, as far as workers are concerned: it iterates the loaders.

A loader gives one batch. Of a model or a data module, the methods of the project that make loaders are called first,
after those that Lightning calls before them.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterable, Iterator, Sequence

from forklint_harness.tolerance.stand_ins import StandInMeta

STAGES = ("fit", "validate", "test", "predict")
"""Methods of a trainer that call ``setup`` with their own names."""


def consume(method: str, hooks: Sequence[str], given: Iterable[Any]) -> None:
    """Iterate the loaders among what a method is given, and those that the ``hooks`` of it make."""
    for loader in list(_loaders(given, hooks, method if method in STAGES else STAGES[0])):
        next(iter(loader), None)


def _loaders(given: Iterable[Any], hooks: Sequence[str], stage: str) -> Iterator[Any]:
    from torch.utils.data import DataLoader

    for one in given:
        if isinstance(one, DataLoader):
            yield one
        elif isinstance(one, (list, tuple)):
            yield from _loaders(one, hooks, stage)
        elif isinstance(one, dict):
            yield from _loaders(one.values(), hooks, stage)
        elif any(_is_own(one, hook) for hook in hooks):
            for name, arguments in (("prepare_data", ()), ("setup", (stage,))):
                if _is_own(one, name):
                    method = getattr(one, name)
                    method(*arguments[: len(inspect.signature(method).parameters)])
            yield from _loaders([getattr(one, hook)() for hook in hooks if _is_own(one, hook)], (), stage)


def _is_own(thing: Any, method: str) -> bool:
    """Whether a class that is there defines a method, and not what stands in for a missing one."""
    return any(
        method in vars(kind) for kind in type(thing).__mro__ if not isinstance(kind, StandInMeta) or not _is_made(kind)
    )


def _is_made(kind: type) -> bool:
    """Whether a class stands in for one that is missing, rather than being derived from one."""
    return "_forklint_name" in vars(kind)
