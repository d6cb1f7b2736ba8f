"""Passes over a dataset, each with what the ones before have learnt, until one gives samples and learns nothing new."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import time
import traceback
from itertools import islice
from typing import Any, Callable, Dict, List, Optional

from forklint_harness.stores import hooks, kinds, making, refining
from forklint_harness.stores.building import build
from forklint_harness.stores.unknown import recent
from forklint_harness.stores.values import scratch
from forklint_harness.stores.world import World
from forklint_harness.tolerance import lacks
from forklint_harness.workers import seed

PASSES = 40
"""Passes at most."""
FIRST = 6
"""Samples that are read in a pass as long as passes fail."""
PASS_SECONDS = 10.0
LONGER = 2
LOOK_SECONDS = 0.5
_installed: List[bool] = []
Asked = Callable[[Any], bool]
_asked: List[Asked] = []
"""What is asked of the dataset when its samples have been read."""


class Spending:
    """A limit in seconds of processor time: a busy machine is given more of the clock's, up to ``LONGER`` times."""

    def __init__(self, seconds: float, child: Optional[int] = None) -> None:
        """Take the limit, and the process that spends it: this one and its children by default."""
        self._seconds, self._child = seconds, child
        self._began, self._spent = time.monotonic(), self._processor()

    def _processor(self) -> float:
        if self._child is None:
            return sum(os.times()[:4])
        try:
            with open("/proc/{}/stat".format(self._child), "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):  # another system: the clock decides
            return time.monotonic()

    def is_over(self) -> bool:
        """Whether the limit is reached."""
        waited = time.monotonic() - self._began
        return self._processor() - self._spent > self._seconds or waited > LONGER * self._seconds


class Outcome:
    """How a pass ended."""

    def __init__(self, told: Dict[str, Any]) -> None:
        self.world: Any = told.get("world")
        self.error: str = told.get("error", "the pass ended without a word")
        self.place: str = told.get("place", "")
        self.trace: str = told.get("trace", "")
        self.samples: int = told.get("samples", 0)
        self.is_refined: bool = told.get("is_refined", False)
        self.is_open: bool = told.get("is_open", False)
        """Whether the dataset was built and holds what the claim is about."""


def install() -> None:
    """Set the hooks of all kinds; they answer as soon as there is a world."""
    if not _installed:
        _installed.append(True)
        for name, answer in kinds.hooks().items():
            hooks.hook(name, answer)


def resume() -> None:
    """In a process that a trial has started later: find the stores that are there already."""
    path = os.path.join(scratch(), making.FILE)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            world = World.of_json(json.load(file))
        if any(not key.startswith("@") for key in world.paths):
            install()
            hooks.begin(world)
        adopt(world)


def adopt(world: World) -> None:
    """Let what fails from here on be judged by what is known of the data."""
    lacks.have_data(there=not world.is_learning)
    lacks.forgive(all_failures=world.is_forgiving)


def learn(world: World, samples: int, seconds: float, is_open: Optional[Asked] = None) -> Outcome:
    """Learn what the stores and the arguments have to be; gives the last pass, over the real stores."""
    spending = Spending(seconds)
    _asked[:] = [is_open] if is_open else []
    outcome = Outcome({"world": world.as_json()})
    most = FIRST
    before = ""
    for _ in range(PASSES):
        world.is_learning = True
        outcome = _apart(world, most, seconds)
        world = World.of_json(outcome.world)
        now = json.dumps(outcome.world)
        if not outcome.error and now == before and most == samples:
            break
        if (outcome.error and not outcome.is_refined and now == before) or spending.is_over():
            break
        most = most if outcome.error else samples
        before = now
    return settle(world, samples, seconds) if not outcome.error else outcome


def build_only(world: World, seconds: float) -> Outcome:
    """Have the stores made as far as they are known, and build the dataset that gives no sample."""
    world.is_learning = False
    shutil.rmtree(scratch(), ignore_errors=True)
    said = making.make_elsewhere(world)
    return Outcome({"error": "a store cannot be made: " + said}) if said else _apart(world, 0, seconds)


def settle(world: World, samples: int, seconds: float) -> Outcome:
    """Have the stores made, and read the samples out of them."""
    outcome = Outcome({"world": world.as_json()})
    for _ in range(6):
        world.is_learning = False
        shutil.rmtree(scratch(), ignore_errors=True)
        said = making.make_elsewhere(world)
        if said:
            return Outcome({"world": world.as_json(), "error": "a store cannot be made: " + said})
        outcome = _apart(world, samples, seconds)
        if not outcome.error or not outcome.is_refined:
            return outcome
        world = World.of_json(outcome.world)
    return outcome


def _read(world: World, most: int, told: Dict[str, Any]) -> int:
    """Build the dataset and read samples; how many."""
    from torch.utils.data import IterableDataset

    dataset = build(world.dataset)
    told["is_open"] = any(ask(dataset) for ask in _asked)
    if not most:
        return 0
    if isinstance(dataset, IterableDataset):
        return sum(1 for _ in islice(iter(dataset), most))
    length = len(dataset)
    count = min(most, length)
    for number in range(count):
        index = number * length // count
        seed(index)
        dataset[index]
    return count


def _apart(world: World, most: int, seconds: float) -> Outcome:
    """Read in a child, so that what the project's code leaves behind stays there; here where there is no fork."""
    if not hasattr(os, "fork"):
        return Outcome(_pass(world, most))
    source, sink = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(source)
        _silence()
        data = json.dumps(_pass(world, most)).encode("utf-8")
        with os.fdopen(sink, "wb") as file:
            file.write(data)
        os._exit(0)
    os.close(sink)
    data = _received(source, child, min(PASS_SECONDS, seconds))
    os.waitpid(child, 0)
    try:
        return Outcome(json.loads(data))
    except ValueError:
        return Outcome({"world": world.as_json()})


def _received(source: int, child: int, seconds: float) -> bytes:
    data, spending = b"", Spending(seconds, child)
    while True:
        ready, _, _ = select.select([source], [], [], LOOK_SECONDS)
        if not ready and spending.is_over():
            os.kill(child, signal.SIGKILL)
            break
        if not ready:
            continue
        part = os.read(source, 1 << 16)
        if not part:
            break
        data += part
    os.close(source)
    return data


def _silence() -> None:
    """What a pass prints is nobody's business: the trial itself prints it again."""
    empty = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(empty, number)


def _pass(world: World, most: int) -> Dict[str, Any]:
    world.checked.clear()
    recent.clear()
    hooks.begin(world)
    adopt(world)
    error: Optional[BaseException] = None
    samples = 0
    told: Dict[str, Any] = {"error": ""}
    try:
        samples = _read(world, most, told)
        if not samples and most:
            error = ValueError(refining.NO_SAMPLE)
    except BaseException as raised:  # SystemExit of a project included
        error = raised
    told["samples"] = samples
    if error is not None:
        told["is_refined"] = refining.refine(world, error)
        told["error"] = "{}: {}".format(type(error).__name__, error)[:1000]
        told["place"] = refining.place_of(error)
        told["trace"] = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-4000:]
    hooks.begin(None)
    told["world"] = world.as_json()
    return told
