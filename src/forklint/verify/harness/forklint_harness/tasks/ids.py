"""For FKL303: which samples each process gives of an iterable dataset, in order, as digests.

The order's spec: ``classes`` (as in ``samples``), ``samples`` (at most so many of each process), ``patience``,
``others``. One pass is read. Nothing is seeded: a stream that draws its samples gives others in each worker.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from forklint_harness import journal, stacks
from forklint_harness.imports import after_import
from forklint_harness.loaders import Watch
from forklint_harness.passes import tell_of_failure, unwarned
from forklint_harness.tasks import draws, samples
from forklint_harness.workers import watch_fetches


def install(order: Mapping[str, Any]) -> None:
    """Wait for the loader that is meant."""
    spec = order["spec"]

    def taking(loader: Any) -> None:
        samples.take(loader, order, read)

    watch = Watch(spec["classes"], taking, others=spec.get("others", "one"))
    after_import("torch.utils.data.dataloader", watch.install)


def read(program: Any, order: Mapping[str, Any]) -> None:
    """Read one pass in the trial's cell."""
    from torch.utils.data import IterableDataset

    spec, factors = order["spec"], order["factors"]
    workers, method = int(factors.get("workers") or 0), factors.get("start_method")
    journal.record("dataset", is_iterable=isinstance(program.dataset, IterableDataset))
    if method == "forkserver":
        samples.preload()
    iterator: Any = None
    ended = False
    try:
        iterator = iter(_loader(program, workers, method, int(spec.get("samples", 240))))
        if workers == 0:
            watch_fetches()
        ended = draws.read_through(iterator, float(spec.get("patience", 10.0)))
    except Exception as error:
        tell_of_failure(error, iterator, program, is_sent=workers > 0 and method != "fork")
    journal.record("stream", ended=ended)
    if hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def _loader(program: Any, workers: int, method: Any, most: int) -> Any:
    """A loader that gives samples one by one, so that each process stops after as many as are asked for."""
    from torch.utils.data import DataLoader

    options = {"collate_fn": draws.Some(program.collate_fn, most), "num_workers": workers}
    options["batch_size"] = None if program.batch_size is None else 1
    if workers:
        options.update(multiprocessing_context=method, worker_init_fn=WorkerStart(program.worker_init_fn))
    return unwarned(DataLoader)(program.dataset, **options)


class WorkerStart:
    """The loader's ``worker_init_fn``: notes each sample from here on, then runs the program's."""

    def __init__(self, program: Optional[Callable[[int], Any]]) -> None:
        self.program = program

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        stacks.catch_crashes()
        watch_fetches()
        if self.program is not None:
            self.program(number)
