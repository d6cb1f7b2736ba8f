"""Reads a loader's samples in the cell of a trial, pass after pass, in place of the program's own loop."""

from __future__ import annotations

import random
import signal
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional

from forklint_harness import device, journal, pickling, stacks
from forklint_harness.workers import WorkerStart, seed, tell_of, watch_fetches

SIZES = (4, 16)
"""Samples in a batch, for two passes each."""

LONGEST_STREAM = 5000
"""Batches of an iterable dataset in one pass."""
MOMENT = 0.3
"""Seconds for a worker to die in."""


class Batches:
    """A batch sampler whose order is set anew for each pass."""

    def __init__(self, indices: List[Any], size: Optional[int]) -> None:
        """Take the indices, and how many make a batch: None for samples that are not batched."""
        self._indices = indices
        self._size = size
        self.order: List[Any] = indices

    def arrange(self, number: int) -> str:
        """Set the order of a pass: the first and every other one in order, the rest shuffled.

        Passes after the second read in larger batches, too: workers then read more at the same time.
        """
        self.order = list(self._indices)
        if number % 2:
            random.Random(number).shuffle(self.order)
        if self._size is not None and number >= 2:
            self._size = SIZES[number // 2 % len(SIZES)]
        return "shuffled" if number % 2 else "in order"

    def take_part(self, part: int, parts: int) -> None:
        """Keep only what one of several workers would get, in reverse.

        The first part in its own order would begin as the whole does, and so share what depends on the beginning.
        """
        size = self._size or 1
        starts = range(part * size, len(self._indices), parts * size)
        self._indices = [index for start in starts for index in self._indices[start : start + size]][::-1]

    def samples_in(self, batches: int) -> int:
        """How many samples so many batches of this pass have."""
        return min(len(self.order), batches * (self._size or 1))

    def keep(self, batches: int) -> None:
        """Let later passes read no more than the first batches of this one."""
        self._indices = self.order[: batches * (self._size or 1)]

    def __len__(self) -> int:
        return -(-len(self.order) // self._size) if self._size else len(self.order)

    def __iter__(self) -> Iterator[Any]:
        if self._size is None:
            return iter(self.order)
        return iter([self.order[start : start + self._size] for start in range(0, len(self.order), self._size)])


def indices_of(loader: Any, most: int) -> List[Any]:
    """The indices that a trial reads: spread over the dataset, or what the program's own sampler gives first."""
    from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler

    seed("sampler")
    batches = loader.batch_sampler
    if batches is not None and type(batches) is not BatchSampler:
        found: List[Any] = []
        for batch in batches:
            found += batch
            if len(found) >= most:
                break
        return found[:most]
    if type(loader.sampler) in (SequentialSampler, RandomSampler):
        length = len(loader.dataset)
        return [number * length // min(most, length) for number in range(min(most, length))]
    found = []
    for index in loader.sampler:
        found.append(index)
        if len(found) >= most:
            break
    return found


def unwarned(kind: Any) -> Any:
    """A DataLoader without its warning of more workers than cores: that is wanted here, and may be an error there."""
    return type(kind.__name__, (kind,), {"check_worker_number_rationality": lambda _: None})


class Cell:
    """The program's dataset behind a loader of the trial's own, with the cell's workers and start method."""

    def __init__(self, loader: Any, factors: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        from torch.utils.data import IterableDataset

        self._program = loader
        self._workers = int(factors.get("workers") or 0)
        self._method = factors.get("start_method")
        self._device = factors.get("device")
        self._pins = bool(factors.get("pin_memory"))
        self._patience = float(spec.get("patience", 10.0))
        self._batches: Optional[Batches] = None
        self.samples = 0
        """Read so far, in all passes."""
        size = None if loader.batch_size is None and loader.batch_sampler is None else SIZES[0]
        if not isinstance(loader.dataset, IterableDataset):
            self._batches = Batches(indices_of(loader, int(spec.get("samples", 240))), size)
            if "part" in spec:
                self._batches.take_part(int(spec["part"]), int(spec["parts"]))
        self._loader = self._make(size)

    def _make(self, size: Optional[int]) -> Any:
        from torch.utils.data import DataLoader

        program = self._program
        options: Dict[str, Any] = {"collate_fn": program.collate_fn, "num_workers": self._workers}
        options["pin_memory"] = self._pins
        self._size = size or 1
        if self._batches is None:
            options["batch_size"] = size
        elif size is None:
            options.update(batch_size=None, sampler=self._batches)
        else:
            options["batch_sampler"] = self._batches
        if self._workers:
            options["multiprocessing_context"] = self._method
            options["worker_init_fn"] = WorkerStart(program.worker_init_fn)
            options["persistent_workers"] = program.persistent_workers or self._method != "fork"  # they start slowly
        return unwarned(DataLoader)(program.dataset, **options)

    def run(self, number: int) -> bool:
        """One pass over the samples; whether it came to its end."""
        order = self._batches.arrange(number) if self._batches else "in order"
        began = time.monotonic()
        if not self._workers:
            _have_one_thread()
            watch_fetches()
            seed("worker")
        iterator: Any = None
        first: Optional[float] = None
        ended = False
        is_cut = False
        seen = 0
        try:
            iterator = iter(self._loader)
            for batch in iterator:
                first = time.monotonic() - began if first is None else first
                device.send(batch, self._device)
                seen += 1
                is_cut = seen >= LONGEST_STREAM or time.monotonic() - began > self._patience
                if is_cut:
                    break
            ended = True
            if is_cut and self._batches is not None:
                self._batches.keep(seen)
        except (Exception, SystemExit) as error:  # a dataset may end the program, as it thinks
            is_sent = self._workers > 0 and self._method != "fork"
            tell_of_failure(error, iterator, self._program, is_sent=is_sent)
        finally:
            self.samples += self._count(seen)
            pids = [worker.pid for worker in getattr(iterator, "_workers", [])]
            journal.record(
                "pass",
                number=number,
                order=order,
                workers=pids,
                ended=ended,
                is_cut=is_cut,
                batches=seen,
                samples=self._count(seen),
                first_seconds=first,
                seconds=time.monotonic() - began,
            )
            if iterator is not None and hasattr(iterator, "_shutdown_workers") and not self._loader.persistent_workers:
                iterator._shutdown_workers()
        return ended

    def _count(self, batches: int) -> int:
        """Samples in so many batches; of an iterable dataset the last ones may be smaller."""
        if self._batches is None:
            return batches * self._size
        return self._batches.samples_in(batches)

    def seem_worker(self, number: int, count: int) -> None:
        """Let this process, which has no workers, look to the dataset like one of so many; not to an iterable one.

        A sample that depends on which worker reads it is then told from one that a shared handle spoils.
        """
        from torch.utils.data._utils import worker

        if self._batches is None:
            return
        program = self._program
        worker._worker_info = worker.WorkerInfo(id=number, num_workers=count, seed=number, dataset=program.dataset)
        seed("worker")
        if program.worker_init_fn is not None:
            program.worker_init_fn(number)

    def close(self) -> None:
        """End workers that were kept from pass to pass."""
        iterator = getattr(self._loader, "_iterator", None)
        if iterator is not None:
            iterator._shutdown_workers()


def _have_one_thread() -> None:
    """As torch sets it in a worker: sums over several threads differ in their last bits from those over one."""
    import torch

    torch.set_num_threads(1)


def tell_of_failure(error: BaseException, iterator: Any, loader: Any, *, is_sent: bool) -> None:
    """Write down why reading failed: the error, what of the loader cannot be sent to its workers, how they died."""
    tell_of(error, "reading" if iterator is not None else "starting")
    if iterator is None and is_sent:
        parts = {"dataset": loader.dataset, "collate_fn": loader.collate_fn, "worker_init_fn": loader.worker_init_fn}
        for culprit in pickling.culprits(parts):
            journal.record("unpicklable", **culprit)
    workers = getattr(iterator, "_workers", [])
    end = time.monotonic() + MOMENT
    while workers and all(worker.is_alive() for worker in workers) and time.monotonic() < end:
        time.sleep(0.01)  # a worker that has closed its pipe may still be dying
    for worker in workers:
        tell_of_death(worker)


def tell_of_death(worker: Any) -> None:
    """Write down how a worker ended, if it neither came to its end nor was ended by its parent."""
    code = worker.exitcode
    if code in (0, None, -signal.SIGTERM):
        return
    name = ""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "signal {}".format(-code)
    journal.record("worker-died", worker=worker.pid, exit_code=code, signal=name, stack=stacks.written(worker.pid))
