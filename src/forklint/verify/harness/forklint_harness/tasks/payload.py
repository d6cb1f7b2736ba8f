"""For FKL204: whether what one call sends to processes can be sent, in one cell.

The order's spec: ``to`` (``loader``, ``process`` or ``pipe``), ``call`` (``file``, ``first`` and ``last`` row of the
call that sends it, or null), ``classes`` (of datasets, if there is no call), ``late`` (whether it pickles, and the
new process may not be able to read it), ``again`` (whether the first process of the call is started, and the second one
is looked at), ``part`` and ``path`` (the option of the loader, and the attributes below it), ``sought`` (``name``,
``file`` and ``row`` of the function that is claimed to be there, or null), ``batches``, ``others``.
"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.process
from types import ModuleType
from typing import Any, Callable, Dict, Mapping

from forklint_harness import ending, journal, pickling
from forklint_harness.frames import caller
from forklint_harness.imports import after_import
from forklint_harness.loaders import Watch
from forklint_harness.tasks import first_batch, samples
from forklint_harness.tolerance.loading import is_within

PATIENCE = 20.0
"""Seconds for a child to come to its work, or to fail on the way."""
PIPES = ("_map_async", "apply_async", "imap", "imap_unordered")


class PlacedWatch(Watch):
    """Waits for the loader that one call makes."""

    def __init__(self, order: Mapping[str, Any], reading: Callable[[Any, Mapping[str, Any]], None]) -> None:
        spec = order["spec"]
        super().__init__(
            spec.get("classes"),
            lambda loader: samples.take(loader, order, reading),
            others=spec.get("others", "one"),
        )
        self._call = spec["call"]
        self._is_tolerant = "tolerance" in spec
        self._places: Dict[int, str] = {}

    def _note(self, loader: Any) -> None:
        self._places[id(loader)] = caller()
        super()._note(loader)
        if self._is_tolerant and self.is_meant(loader):
            self._found(loader)  # what would be done with it does not matter

    def is_meant(self, loader: Any) -> bool:
        """Whether the loader was made by the call, or loads an object of one of the classes."""
        if self._call is None:
            return super().is_meant(loader)
        return is_within(self._places.get(id(loader), ""), self._call)


def install(order: Dict[str, Any]) -> None:
    """Wait for what is sent, by the way it is sent."""
    spec, method = order["spec"], order["factors"].get("start_method")
    if spec["to"] == "loader":
        PlacedWatch(order, read_tolerantly if "tolerance" in spec else read).begin()
        ending.watch(order["journal"])
        return
    if method:
        default: Any = multiprocessing.context._default_context
        default._default_context = multiprocessing.context._concrete_contexts[method]  # type: ignore[attr-defined]
    if not journal.is_main():
        return
    ending.watch(order["journal"])
    if spec["to"] == "pipe":
        after_import("multiprocessing.pool", lambda module: _watch_pool(module, order))
        after_import("concurrent.futures.process", lambda module: _watch_executor(module, order))
    else:
        _watch_processes(order)


def read(loader: Any, order: Mapping[str, Any]) -> None:
    """Say what the loader has in the place of what is claimed, where it is something else, and read."""
    from forklint_harness.tolerance import claims

    spec = order["spec"]
    found = claims.another(loader, spec["part"], spec["path"], spec["sought"]) if spec["sought"] else ""
    if found:
        journal.record("another", what=found)
    first_batch.read(loader, order)


def read_tolerantly(loader: Any, order: Mapping[str, Any]) -> None:
    """Say what of the claim is made up, make the least change if this is the control for it, and read."""
    from forklint_harness.tolerance import by_value, claims

    spec = order["spec"]
    journal.record("claimed", made_up=claims.made_up_part(loader, spec["part"], spec["path"]))
    change = spec["tolerance"].get("by_value")
    if change:
        by_value.begin(change, tuple(claims.held_at(loader.dataset, spec["path"])))
    found = claims.another(loader, spec["part"], spec["path"], spec["sought"]) if spec["sought"] else ""
    if found:
        journal.record("another", what=found)
    _have_indices(loader)
    first_batch.read(loader, order, worker_init_fn=SentStart(loader.worker_init_fn))


class SentStart(first_batch.WorkerStart):
    """A ``worker_init_fn`` that ends the trial: a worker that begins was sent everything.

    What its samples then come to, with data that are made up, shows nothing and may take long.
    """

    def __call__(self, number: int) -> None:
        """Say so in a worker."""
        journal.record("worker-began")
        journal.record("done")
        ending.end(journal.folder())


def _have_indices(loader: Any) -> None:
    """Let the loader ask for the first samples where its sampler gives none: it stays with the parent.

    There may be fewer samples than a batch has, or a sampler may refuse a number of ranks that is made up.
    """
    name, instead = ("sampler", [0, 1]) if loader.batch_sampler is None else ("batch_sampler", [[0, 1]])
    if loader._dataset_kind == 1:  # iterable: its sampler has no end, and no indices
        return
    try:
        next(iter(getattr(loader, name)))
    except Exception:  # StopIteration, and whatever a sampler raises
        loader.__dict__[name] = instead


def _watch_pool(module: ModuleType, order: Mapping[str, Any]) -> None:
    for name in PIPES:
        _watch_method(module.Pool, name, order)


def _watch_executor(module: ModuleType, order: Mapping[str, Any]) -> None:
    _watch_method(module.ProcessPoolExecutor, "submit", order)


def _watch_method(kind: Any, name: str, order: Mapping[str, Any]) -> None:
    call = getattr(kind, name)

    def watched(self: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        if is_within(caller(), order["spec"]["call"]):
            tell({"function": function, "args": args if name in {"submit", "apply_async"} else ()})
            ending.end(order["journal"])
        return call(self, function, *args, **kwargs)

    setattr(kind, name, watched)


def _watch_processes(order: Mapping[str, Any]) -> None:
    kind: Any = multiprocessing.process.BaseProcess
    make, start, late = kind.__init__, kind.start, order["spec"]["late"]
    is_tolerant = "tolerance" in order["spec"]
    further = [True] if order["spec"].get("again") else []

    def __init__(process: Any, *args: Any, **kwargs: Any) -> None:
        make(process, *args, **kwargs)
        process._forklint_place = caller()
        if is_tolerant and is_within(process._forklint_place, order["spec"]["call"]):
            _begin_tolerantly(process, order)
            if not further:
                start_watched(process)  # whether and when the program would start it does not matter

    def start_watched(process: Any) -> None:
        place = process.__dict__.pop("_forklint_place", "")
        if not is_within(place, order["spec"]["call"]) and not is_within(caller(), order["spec"]["call"]):
            start(process)
            return
        if getattr(process, "_start_method", None) == "fork" or order["factors"].get("start_method") == "fork":
            journal.record("inherited")
        elif further:
            further.clear()
            start(process)
            return
        elif tell({"target": process._target, "args": process._args, "kwargs": process._kwargs}) and late:
            start(process)
            process.join(PATIENCE)
            journal.record("child-ended", exit_code=process.exitcode)
        ending.end(order["journal"])

    kind.__init__, kind.start = __init__, start_watched


def _begin_tolerantly(process: Any, order: Mapping[str, Any]) -> None:
    """Say what of the claim is made up, and make the least change if this is the control for it."""
    from forklint_harness.tolerance import by_value, is_stand_in, name_of

    part = {"target": process._target, "args": process._args, "kwargs": process._kwargs}.get(order["spec"]["part"])
    journal.record("claimed", made_up=[name_of(part)] if is_stand_in(part) else [])
    change = order["spec"]["tolerance"].get("by_value")
    if change:
        by_value.begin(change)


def tell(parts: Dict[str, Any]) -> bool:
    """Write down what of a payload cannot be pickled; whether all of it can."""
    found = pickling.culprits(parts)
    for culprit in found:
        journal.record("unpicklable", **culprit)
    journal.record("sent", refused=len(found))
    return not found
