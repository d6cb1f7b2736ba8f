"""The part of a trial whose dataset is built with made-up arguments, and reads stores that were made for it.

The order's spec says so under ``dataset``, an object with ``node`` (the class and what is known of its arguments, see
``node``), ``hints`` (values that configuration files give for names), ``samples``, ``seconds``, and ``world`` where an
earlier trial has learnt it already; ``mend`` has each process get a handle of its own, ``apart`` of these other
handles, ``unread`` says that no sample comes out: then the dataset is built all the same, for whether a worker can be
sent it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Dict, List, Mapping

from forklint_harness import journal
from forklint_harness.holding import held_by
from forklint_harness.stores import building, hooks, learning, making, mending
from forklint_harness.stores.node import Node
from forklint_harness.stores.unknown import hints
from forklint_harness.stores.world import World

NAMED = 12
"""Stores that are named in the report."""
_spec: Dict[str, Any] = {}


class CannotMakeError(Exception):
    """No sample comes out, whatever is put into the stores; the message is what was last seen."""


def begin(order: Mapping[str, Any]) -> None:
    """Set the hooks, in the trial's first process to learn, in later ones to find what was made."""
    _spec.update(order["spec"]["dataset"])
    _spec["spec"] = order["spec"]
    hints.update(_spec.get("hints", {}))
    os.environ.setdefault("FORKLINT_DATA", tempfile.gettempdir())
    if journal.is_main():
        learning.install()
    else:
        learning.resume()


def loaders() -> List[Any]:
    """The loader of the dataset, once a sample of it was read."""
    from torch.utils.data import DataLoader, IterableDataset

    del sys.argv[1:]  # a module that parses the command line as it is imported finds an empty one
    world = _given(_spec["world"]) if _spec.get("world") else _learnt()
    world.is_learning = False
    making.written(world)
    learning.adopt(world)
    hooks.begin(world if any(not key.startswith("@") for key in world.paths) else None)
    dataset = building.build(world.dataset)
    if _spec.get("mend") or _spec.get("apart"):
        mending.mend(dataset, _spec["spec"])
    if _spec.get("unread") and not isinstance(dataset, IterableDataset):
        return [DataLoader(dataset, batch_sampler=[[0]], collate_fn=list)]
    return [DataLoader(dataset, batch_size=4, collate_fn=list)]


def _given(told: Any) -> World:
    """What an earlier trial has learnt, with its stores made anew."""
    world = World.of_json(told)
    _import(world)
    said = making.make_elsewhere(world)
    if said:
        raise CannotMakeError(said)
    return world


def _import(world: World) -> None:
    """Import the module here and not in each pass: that takes longer than the rest."""
    hooks.begin(world)
    building.module(world.dataset.value[0])


def _learnt() -> World:
    """Learn for one class after another, until one gives samples while its handle is open."""
    best: Any = None
    for node in _spec["nodes"]:
        world = World(Node.of_json(node))
        world.is_learning = True
        _import(world)
        outcome = _tried(world)
        if best is None or (outcome.is_open, not outcome.error) > (best.is_open, not best.error):
            best = outcome
        if outcome.is_open and not outcome.error:
            break
    world = World.of_json(best.world)
    if best.error:
        world.is_forgiving = True
        outcome = _tried(world)
        if not outcome.error or (outcome.is_open and not best.is_open):
            best, world = outcome, World.of_json(outcome.world)
        else:
            world.is_forgiving = False
    _spec["unread"] = bool(best.error) and best.is_open and _is_built(world)
    _tell(world, best)
    return world


def _is_built(world: World) -> bool:
    built = learning.build_only(world, float(_spec.get("seconds", 20.0)))
    return built.is_open and not built.error


def _tried(world: World) -> learning.Outcome:
    return learning.learn(world, int(_spec.get("samples", 64)), float(_spec.get("seconds", 20.0)), is_open)


def is_open(dataset: Any) -> bool:
    """Whether the dataset holds what the claim is about."""
    spec = _spec["spec"]
    names = [*spec.get("attributes", ()), *([spec["attribute"]] if spec.get("attribute") else [])]
    held = [one for name in names for one in held_by(dataset, spec.get("keeper"), name, spec["file"])]
    return any(one.state not in ("absent", "none") for one in held)


def _tell(world: World, outcome: learning.Outcome) -> None:
    stores = [[node.kind or "plain", key] for key, node in sorted(world.paths.items()) if node.kind != "looked-for"]
    journal.record(
        "made",
        arguments=building.made_up(world.dataset),
        stores=stores[:NAMED],
        more=max(0, len(stores) - NAMED),
        samples=outcome.samples,
        error=outcome.error,
        place=outcome.place,
        trace=outcome.trace,
        is_forgiving=world.is_forgiving,
        unread=_spec["unread"],
    )
    if outcome.error and not _spec["unread"]:
        raise CannotMakeError("{} ({})".format(outcome.error, outcome.place))
    journal.record("world", world=world.as_json())
