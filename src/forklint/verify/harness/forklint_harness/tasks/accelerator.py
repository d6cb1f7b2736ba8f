"""For FKL304: what becomes of workers that use an accelerator which is in use in their parent.

The order's spec: ``call`` (``file``, ``first`` and ``last`` row of the call that makes the loader), ``line`` (the same
of what uses the accelerator), ``kept`` (whether the parent runs that line, and workers use what it made), ``device``
(the accelerator), ``batches`` (as many are read), ``others`` (batches of other loaders).
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any, Callable, Mapping, Optional

from forklint_harness import device, journal, stacks
from forklint_harness.passes import tell_of_failure
from forklint_harness.tasks import first_batch
from forklint_harness.tasks.payload import PlacedWatch
from forklint_harness.workers import tell_of


def install(order: Mapping[str, Any]) -> None:
    """Wait for the loader that the call makes."""
    PlacedWatch(order, read).begin()


def read(program: Any, order: Mapping[str, Any]) -> None:
    """Use the accelerator here, as training does, and then read some batches in the cell of the trial."""
    spec, factors = order["spec"], order["factors"]
    method, workers = factors.get("start_method"), int(factors.get("workers") or 0)
    device.begin(spec["device"])
    watch = LineWatch(spec["line"], program.worker_init_fn)
    if not workers:
        watch.begin()
    before = free_memory(spec["device"])
    iterator: Any = None
    try:
        loader = first_batch.loader_like(program, method, workers)
        if workers:
            loader.worker_init_fn = watch
            loader.pin_memory = bool(factors.get("pin_memory"))
        iterator = iter(loader)
        for number, _ in enumerate(iterator):
            if number + 1 >= spec["batches"]:
                break
        after = free_memory(spec["device"])
        taken = before - after if before is not None and after is not None else None
        journal.record("read", taken=taken, workers=len(getattr(iterator, "_workers", [])))
    except Exception as error:
        tell_of_failure(error, iterator, program, is_sent=workers > 0 and method != "fork")
    finally:
        sys.settrace(None)
    if hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def free_memory(name: str) -> Optional[int]:
    """Bytes that are free on the accelerator, for all processes; None where it cannot be asked."""
    import torch

    try:
        return int(torch.cuda.mem_get_info()[0]) if name.startswith("cuda") else None
    except Exception:
        return None


class LineWatch:
    """A loader's ``worker_init_fn``: tells once when the process comes to a line, and runs the program's own."""

    def __init__(self, line: Mapping[str, Any], program: Optional[Callable[[int], Any]]) -> None:
        self.line = line
        self.program = program

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        stacks.catch_crashes()
        self.begin()
        if self.program is not None:
            try:
                self.program(number)
            except Exception as error:
                tell_of(error, "worker")
                raise

    def begin(self) -> None:
        """Look at each line that this thread runs in the file, up to the one that is meant."""
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        same = os.path.realpath(code.co_filename) == os.path.realpath(self.line["file"])
        return self._step if same and code.co_firstlineno <= int(self.line["last"]) else None

    def _step(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and int(self.line["first"]) <= frame.f_lineno <= int(self.line["last"]):
            journal.record("line-reached")
            sys.settrace(None)
            return None
        return self._step
