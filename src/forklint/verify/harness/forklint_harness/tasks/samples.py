"""Reads the samples of one loader by index, in one cell; says who opened and who used a handle on the way.

The order's spec: ``classes`` (``file`` and ``qualname`` of classes that workers of the loader get), ``attributes``,
``keeper`` (the class that keeps them, or null for names of a module), ``file`` (of the finding), ``openers``
(qualified names), ``mode`` (``control``, ``part`` with ``part`` and ``parts``, or ``workers``), ``samples``,
``passes`` (at most), ``seconds`` (after which no further pass begins, if workers have made so many ``reads`` by then:
a busy machine is given up to ``longest``), ``patience`` (seconds after which a pass is cut short, and later ones with
it), ``others`` (``one`` or ``all`` batches of other loaders).
"""

from __future__ import annotations

import time
import traceback
from typing import Any, Callable, List, Mapping, Tuple

from forklint_harness import device, ending, journal, openers
from forklint_harness.frames import caller
from forklint_harness.holding import Held, Uses, held_by, offset_of, rivals_of
from forklint_harness.loaders import Watch, name_of
from forklint_harness.passes import Cell
from forklint_harness.workers import begin_alike, tell_of

CONTROL_PASSES = 3
FEWEST_PASSES = 2
ENOUGH_PASSES = 12
"""After so many passes over a few samples, which may not make the reads that are wanted, time alone counts."""
BROKEN = 70


def install(order: Mapping[str, Any]) -> None:
    """Wait for the loader that is meant."""
    spec = order["spec"]
    begin_alike()
    openers.wrap(spec.get("openers", []))
    Watch(spec["classes"], lambda loader: take(loader, order, read), others=spec.get("others", "one")).begin()


def take(loader: Any, order: Mapping[str, Any], reading: Callable[[Any, Mapping[str, Any]], None]) -> None:
    """Run the trial's reading on the loader, and end the process: nothing of the program runs any more."""
    code = 0
    try:
        journal.record("target", dataset=name_of(type(loader.dataset)), where=caller(), workers=loader.num_workers)
        reading(loader, order)
        journal.record("done")
    except BaseException as error:
        code = BROKEN
        trace = traceback.format_exc()
        journal.record("broken", type=type(error).__name__, text=str(error), trace=trace)
    ending.leave(code)


def read(loader: Any, order: Mapping[str, Any]) -> None:
    """Read the samples pass after pass; an error ends it."""
    spec, factors = order["spec"], order["factors"]
    held = [
        one
        for attribute in spec["attributes"]
        for one in held_by(loader.dataset, spec.get("keeper"), attribute, spec["file"])
    ]
    for one in held:
        one.record()
    tell_of_stand_ins(loader.dataset, held)
    rivals = rivals_of(loader.dataset, held)
    for one in rivals:
        one.record("rival-held")
    try:
        if factors.get("device"):
            device.begin(factors["device"])
        if factors.get("parent") == "warm":
            warm(loader.dataset)
        cell = Cell(loader, factors, spec)
    except Exception as error:
        tell_of(error, "length")
        return
    try:
        run_passes(cell, held, rivals, order)
    finally:
        cell.close()


def tell_of_stand_ins(dataset: Any, held: List[Held]) -> None:
    """Say which of what the claim is about is a stand-in: there is no verdict through one."""
    from forklint_harness.tolerance.stand_ins import is_stand_in, missing_bases
    from forklint_harness.tolerance.stand_ins import name_of as what

    for name in dict.fromkeys(missing_bases(type(dataset))):
        journal.record("claim-stood-in", what="{}, a base of {}".format(name, type(dataset).__name__))
    for one in held:
        if is_stand_in(one.value):
            journal.record("claim-stood-in", what="{} ({})".format(what(one.value), one.path))
        kind = one.holder if isinstance(one.holder, type) else type(one.holder)
        for name in dict.fromkeys(missing_bases(kind)):
            journal.record("claim-stood-in", what="{}, a base of {}".format(name, kind.__name__))


def warm(dataset: Any) -> None:
    """Let this process read a sample before its workers start, as a program does that looks at one."""
    from torch.utils.data import IterableDataset

    if isinstance(dataset, IterableDataset):
        next(iter(dataset), None)
    elif len(dataset):
        dataset[0]


def run_passes(cell: Cell, held: List[Held], rivals: List[Held], order: Mapping[str, Any]) -> None:
    """As many passes as the trial's mode has, up to the first that does not come to its end."""
    spec, factors = order["spec"], order["factors"]
    if spec["mode"] == "control":
        for number in range(CONTROL_PASSES):
            if not cell.run(number):
                return
        return
    if spec["mode"] == "part":
        for number in range(2):  # as two workers: one of them may give what the control gave
            cell.seem_worker((spec["part"] + number) % spec["parts"], spec["parts"])
            if not cell.run(0):
                return
        return
    is_forked = factors.get("start_method") == "fork"
    uses = Uses(held) if is_forked else None
    if factors.get("start_method") == "forkserver":
        preload()
    began = time.monotonic()
    for number in range(spec.get("passes", 200) if is_forked else FEWEST_PASSES):
        is_enough = cell.samples >= spec.get("reads", 0) or number >= ENOUGH_PASSES
        limit = spec.get("seconds", 3.0) if is_enough else spec.get("longest", 20.0)
        if number >= FEWEST_PASSES and time.monotonic() - began > limit:
            return
        watched = [("offset-moved", one) for one in held] + [("rival-moved", one) for one in rivals]
        before = [offset_of(one.value) for _, one in watched]
        ended = cell.run(number)
        if uses is not None:
            tell_of_offsets(watched, before, number)
        if not ended:
            return


def tell_of_offsets(watched: List[Tuple[str, Held]], before: List[Any], number: int) -> None:
    """Say which handles' file offset a worker moved under this process, which read nothing meanwhile."""
    for index, (kind, one) in enumerate(watched):
        after = offset_of(one.value)
        if after is not None and before[index] is not None and after != before[index]:
            journal.record(kind, attribute=one.path, before=before[index], after=after, number=number)


def preload() -> None:
    """Let the fork server import torch once, not each of its workers."""
    from multiprocessing import forkserver

    server: Any = forkserver._forkserver
    if "torch" not in server._preload_modules:
        server.set_forkserver_preload([*server._preload_modules, "torch"])
