"""For FKL306: whether workers see what becomes of a dataset's attribute after their first epoch.

The order's spec: ``call`` (``file``, ``first`` and ``last`` row of the call that makes the loader), ``dataset``
(``file`` and ``qualname`` of the class), ``attribute``, ``batches`` (as many are read in an epoch), ``others``.
"""

from __future__ import annotations

from typing import Any, Mapping

from forklint_harness import journal
from forklint_harness.imports import after_import
from forklint_harness.loaders import find
from forklint_harness.passes import tell_of_failure
from forklint_harness.tasks import first_batch
from forklint_harness.tasks.payload import PlacedWatch

EPOCHS = 2
LONGEST = 200
MARK = "forklint"
"""A value that nobody else would give the attribute."""


def install(order: Mapping[str, Any]) -> None:
    """Wait for the loader that the call makes."""
    after_import("torch.utils.data.dataloader", PlacedWatch(order, read).install)


def read(program: Any, order: Mapping[str, Any]) -> None:
    """Read an epoch, change the attribute here, and read another; workers say what they have before each batch."""
    spec, factors = order["spec"], order["factors"]
    workers = int(factors.get("workers") or 0)
    found = find(program.dataset, spec["dataset"])
    if not found:
        journal.record("no-dataset")
        return
    dataset = found[0][1]
    watch_fetches(spec)
    iterator: Any = None
    try:
        lasting = {"persistent_workers": True} if workers else {}
        loader = first_batch.loader_like(program, factors.get("start_method"), workers, **lasting)
        if workers:
            loader.worker_init_fn = Begin(spec, program.worker_init_fn)
        for epoch in range(EPOCHS):
            if epoch:
                setattr(dataset, spec["attribute"], changed(getattr(dataset, spec["attribute"], None)))
            has = shown(dataset, spec["attribute"])
            journal.record("epoch", number=epoch, has=has)
            iterator = iter(loader)
            for number, _ in enumerate(iterator):
                if number + 1 >= spec["batches"] and epoch + 1 == EPOCHS:
                    break
    except Exception as error:
        tell_of_failure(error, iterator, program, is_sent=workers > 0 and factors.get("start_method") != "fork")
    if hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def changed(value: Any) -> Any:
    """Another value of the same kind, so that the dataset goes on working with it if it can."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, list):
        return [*value, MARK]
    if isinstance(value, dict):
        return dict(value, forklint=MARK)
    return MARK


def shown(dataset: Any, attribute: str) -> str:
    """The attribute as text, to be compared between processes."""
    return repr(getattr(dataset, attribute, None))[:LONGEST]


class Begin:
    """The loader's ``worker_init_fn``: sets the hook in a worker, then runs the program's."""

    def __init__(self, spec: Mapping[str, Any], program: Any) -> None:
        self.spec = spec
        self.program = program

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        watch_fetches(self.spec)
        if self.program is not None:
            self.program(number)


def watch_fetches(spec: Mapping[str, Any]) -> None:
    """Write down, before each batch, what the attribute is in this process."""
    from torch.utils.data._utils import fetch

    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _watch(getattr(fetch, name), spec)


def _watch(kind: Any, spec: Mapping[str, Any]) -> None:
    original = kind.fetch
    if getattr(original, "_forklint", False):
        return

    def fetch_and_note(fetcher: Any, index: Any) -> Any:
        found = find(fetcher.dataset, spec["dataset"])
        if found:
            journal.record("seen", has=shown(found[0][1], spec["attribute"]))
        return original(fetcher, index)

    fetch_and_note._forklint = True  # type: ignore[attr-defined]
    kind.fetch = fetch_and_note
