"""For FKL302: at which points of a random stream the samples of a loader were drawn, in which worker and epoch.

The order's spec: ``classes`` (as in ``samples``; null where ``function`` names the loader), ``attribute``, ``keeper``
and ``file`` (where a generator is kept), ``function`` (``file``, ``name`` and ``row`` of a ``worker_init_fn``) with
``streams`` (``python``, ``numpy``, ``torch``: those of the process), ``samples``, ``patience``, ``others``.

A point is the digest of a generator's state once a sample was taken: two workers that come to the same point have drawn
the same numbers. It is noted only where taking the sample changed the state.
"""

from __future__ import annotations

import os
import random
import sys
import time
from typing import Any, Callable, List, Mapping, Optional

from forklint_harness import journal, stacks
from forklint_harness.digest import digest
from forklint_harness.holding import attribute_of, held_by
from forklint_harness.loaders import Watch
from forklint_harness.passes import Batches, indices_of, tell_of_failure, unwarned
from forklint_harness.tasks import samples
from forklint_harness.workers import begin_alike

EPOCHS = 2
MOST_BATCHES = 2000
"""Batches read of an epoch."""
Points = Callable[[], List[Optional[str]]]


def install(order: Mapping[str, Any]) -> None:
    """Wait for the loader that is meant."""
    spec = order["spec"]
    begin_alike()
    others = spec.get("others", "one")

    def taking(loader: Any) -> None:
        samples.take(loader, order, read)

    watch = Watch(spec["classes"], taking, others=others)
    if spec.get("function"):
        watch = Beginning(spec["function"], taking, others=others)
    watch.begin()


class Beginning(Watch):
    """Waits for a loader whose workers begin with one function."""

    def __init__(self, function: Mapping[str, Any], take: Callable[[Any], None], *, others: str) -> None:
        super().__init__(None, take, others=others)
        self._function = function

    def is_meant(self, loader: Any) -> bool:
        """Whether the function, or one that a partial or a method stands for, is the one in question."""
        found = loader.worker_init_fn
        while hasattr(found, "func") or hasattr(found, "__func__"):
            found = getattr(found, "func", None) or found.__func__
        code = getattr(found, "__code__", None)
        wanted = self._function
        return (
            code is not None
            and code.co_name == wanted["name"]
            and abs(code.co_firstlineno - wanted["row"]) <= (30 if wanted["name"] != "<lambda>" else 0)
            and os.path.realpath(code.co_filename) == os.path.realpath(wanted["file"])
        )


def read(program: Any, order: Mapping[str, Any]) -> None:
    """Read the samples of a few epochs, one by one, as the loader would, but for its workers."""
    spec, factors = order["spec"], order["factors"]
    workers, method = int(factors.get("workers") or 0), factors.get("start_method")
    keeps = workers > 0 and program.persistent_workers
    if spec.get("keeper"):
        held = held_by(program.dataset, spec["keeper"], spec["attribute"], spec["file"])
        samples.tell_of_stand_ins(program.dataset, held)
    loader: Any = None
    chosen = _chosen(program, int(spec.get("samples", 240)))  # once: that seeds the streams of the process
    if workers == 0:
        watch_draws(spec)
    elif method == "forkserver":
        samples.preload()
    for number in range(EPOCHS):
        os.environ["FORKLINT_EPOCH"] = str(number)
        iterator: Any = None
        ended = False
        try:
            if loader is None or not keeps:
                loader = _loader(program, order, chosen, number)
            iterator = iter(loader)
            read_through(iterator, float(spec.get("patience", 10.0)))
            ended = True
        except Exception as error:
            tell_of_failure(error, iterator, program, is_sent=workers > 0 and method != "fork")
        journal.record("epoch", number=number, ended=ended, keeps=keeps)
        if hasattr(iterator, "_shutdown_workers") and not (keeps and ended and number + 1 < EPOCHS):
            iterator._shutdown_workers()
        if not ended:
            return


def read_through(iterator: Any, patience: float) -> bool:
    """Read until time or number are spent, counted from the first batch; whether it came to its end before."""
    end = None
    for count, _ in enumerate(iterator):
        end = end or time.monotonic() + patience
        if count >= MOST_BATCHES or time.monotonic() > end:
            return False
    return True


def _chosen(program: Any, most: int) -> Optional[List[Any]]:
    """The indices to read; None for an iterable dataset, which has none."""
    from torch.utils.data import IterableDataset

    return None if isinstance(program.dataset, IterableDataset) else indices_of(program, most)


def _loader(program: Any, order: Mapping[str, Any], chosen: Optional[List[Any]], number: int) -> Any:
    from torch.utils.data import DataLoader

    spec, factors = order["spec"], order["factors"]
    workers = int(factors.get("workers") or 0)
    is_batched = program.batch_size is not None or program.batch_sampler is not None
    options: Any = {"collate_fn": program.collate_fn, "num_workers": workers, "batch_size": 1 if is_batched else None}
    dataset = program.dataset
    if chosen is None:
        options["collate_fn"] = Some(program.collate_fn, int(spec.get("samples", 240)))
    else:
        if is_batched:
            options.pop("batch_size")
        options["batch_sampler" if is_batched else "sampler"] = Batches(chosen, 1 if is_batched else None)
    if workers:
        options["multiprocessing_context"] = factors.get("start_method")
        options["worker_init_fn"] = WorkerStart(program.worker_init_fn, spec, number)
        options["persistent_workers"] = program.persistent_workers
    return unwarned(DataLoader)(dataset, **options)


class Some:
    """A ``collate_fn`` that ends an endless stream after so many samples in a process."""

    def __init__(self, program: Callable[[Any], Any], most: int) -> None:
        self._program = program
        self._most = most
        self._seen = 0

    def __call__(self, data: Any) -> Any:
        """Collate, or say that no more come."""
        self._seen += 1
        if self._seen > self._most:
            raise StopIteration
        return self._program(data)


class WorkerStart:
    """The loader's ``worker_init_fn``: runs the program's, notes where the streams begin, and watches the samples."""

    def __init__(self, program: Optional[Callable[[int], Any]], spec: Mapping[str, Any], number: int) -> None:
        self.program = program
        self.spec = spec
        self.number = number

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        stacks.catch_crashes()
        os.environ["FORKLINT_EPOCH"] = str(self.number)
        if self.program is not None:
            self.program(number)
        if self.spec.get("dataset", {}).get("mend"):
            seed_again(self.spec)
        if self.spec.get("function"):
            journal.record("begins", epoch=self.number, points=streams_of(self.spec)())
        watch_draws(self.spec)


def seed_again(spec: Mapping[str, Any]) -> None:
    """The least change for a rule without a fix: in a worker the generator begins with the worker's own seed."""
    from torch.utils.data import get_worker_info

    told: Any = get_worker_info()
    for one in held_by(told.dataset, spec.get("keeper"), spec["attribute"], spec["file"]):
        seed = told.seed % 2**32
        for name in ("seed", "manual_seed"):
            if hasattr(one.value, name):
                getattr(one.value, name)(seed)
                break
        else:
            setattr(one.holder, one.attribute, sys.modules["numpy"].random.default_rng(seed))


def watch_draws(spec: Mapping[str, Any]) -> None:
    """Hook the fetchers of this process."""
    from torch.utils.data._utils import fetch

    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _watch(getattr(fetch, name), spec)


def _watch(kind: Any, spec: Mapping[str, Any]) -> None:
    take = kind.fetch

    def fetch_and_note(fetcher: Any, index: Any) -> Any:
        points = getattr(fetcher, "_forklint_points", None)
        if points is None:
            points = fetcher._forklint_points = (
                streams_of(spec) if spec.get("function") else kept_by(fetcher.dataset, spec)
            )
        before = points()
        try:
            return take(fetcher, index)
        finally:
            after = points()
            journal.record(
                "drawn",
                epoch=int(os.environ.get("FORKLINT_EPOCH", "0")),
                points=[new for new, old in _pairs(after, before) if new is not None and new != old],
                watched=sum(point is not None for point in after),
            )

    kind.fetch = fetch_and_note


def _pairs(after: List[Optional[str]], before: List[Optional[str]]) -> List[Any]:
    return [(after[number], before[number]) for number in range(min(len(after), len(before)))]


def kept_by(dataset: Any, spec: Mapping[str, Any]) -> Points:
    """The points of the generators that hang on a dataset, its class or a module under one name."""
    name = spec["attribute"]
    own = "_{}_generator".format(name.lstrip("_"))  # where forklint's fix keeps it, behind a property
    held = [one for each in (name, own) for one in held_by(dataset, spec.get("keeper"), each, spec["file"])]

    def points() -> List[Optional[str]]:
        values = [attribute_of(one.holder, one.attribute) for one in held]
        known = [id(value) for value in values]  # a script may be two modules with one generator
        return [point_of(value) for number, value in enumerate(values) if id(value) not in known[:number]]

    return points


def streams_of(spec: Mapping[str, Any]) -> Points:
    """The points of the streams that a process has for all."""

    def points() -> List[Optional[str]]:
        found: List[Optional[str]] = []
        numpy, torch = sys.modules.get("numpy.random"), sys.modules.get("torch")
        if "python" in spec["streams"]:
            found.append(digest(random.getstate()))
        if "numpy" in spec["streams"] and numpy is not None:
            found.append(digest(numpy.get_state()))
        if "torch" in spec["streams"] and torch is not None:
            found.append(digest(torch.default_generator.get_state()))
        return found

    return points


def point_of(generator: Any) -> Optional[str]:
    """Digest of a generator's state; None if it has none that can be read."""
    bits = getattr(generator, "bit_generator", None)
    if bits is not None:
        return digest(bits.state)
    ask = getattr(generator, "getstate", None) or getattr(generator, "get_state", None)
    return None if ask is None else digest(ask())
