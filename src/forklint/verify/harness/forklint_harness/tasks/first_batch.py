"""For FKL401: how long a loader takes to its first batch, what each worker holds then, and whether it crashes.

The order's spec: ``batches`` (as many are read), ``device`` (to which they are sent, or empty), ``others`` (``one`` or
``all`` batches of loaders that are iterated before; the first one that is iterated is meant).
"""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping, Optional

from forklint_harness import device, journal, memory, stacks
from forklint_harness.loaders import Watch
from forklint_harness.passes import tell_of_failure
from forklint_harness.tasks import samples


def install(order: Mapping[str, Any]) -> None:
    """Wait for the first loader that is iterated."""
    Watch(None, lambda loader: samples.take(loader, order, read), others=order["spec"].get("others", "one")).begin()


def read(program: Any, order: Mapping[str, Any], **further: Any) -> None:
    """Read some batches as the program would, but for the number of workers, how they start, and further options."""
    spec, factors = order["spec"], order["factors"]
    method, workers = factors.get("start_method"), int(factors.get("workers") or 0)
    if spec.get("device"):
        device.begin(spec["device"])
    iterator: Any = None
    began = time.monotonic()
    try:
        loader = loader_like(program, method, workers, **further)
        iterator = iter(loader)
        for number, batch in enumerate(iterator):
            if number == 0:
                _tell_of_first(time.monotonic() - began, iterator)
            device.send(batch, spec.get("device"))
            if number + 1 >= spec["batches"]:
                break
    except Exception as error:
        tell_of_failure(error, iterator, program, is_sent=workers > 0 and method != "fork")
    if hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def loader_like(program: Any, method: Any, workers: int, **further: Any) -> Any:
    """A loader that differs from the program's in its workers alone, and in further options where they are given."""
    from torch.utils.data import DataLoader, IterableDataset

    options = {"collate_fn": program.collate_fn, "num_workers": workers, "pin_memory": program.pin_memory}
    if isinstance(program.dataset, IterableDataset):
        options.update(batch_size=program.batch_size, drop_last=program.drop_last)
    elif program.batch_sampler is None:
        options.update(batch_size=None, sampler=program.sampler)
    else:
        options["batch_sampler"] = program.batch_sampler
    if workers:
        options.update(multiprocessing_context=method, worker_init_fn=WorkerStart(program.worker_init_fn))
    options.update(further)
    return DataLoader(program.dataset, **options)


class WorkerStart:
    """The loader's ``worker_init_fn``: sets no hook that would take time, then runs the program's."""

    def __init__(self, program: Optional[Callable[[int], Any]]) -> None:
        self.program = program

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        stacks.catch_crashes()
        journal.record("worker-began")  # with all that it was sent
        if self.program is not None:
            self.program(number)


def _tell_of_first(seconds: float, iterator: Any) -> None:
    held = [memory.held_by(worker.pid) for worker in getattr(iterator, "_workers", [])]
    journal.record("first-batch", seconds=seconds, worker_bytes=held)
