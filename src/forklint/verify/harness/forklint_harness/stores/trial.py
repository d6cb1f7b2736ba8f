"""The part of a trial whose dataset is built with made-up arguments, and reads stores that were made for it.

The order's spec says so under ``dataset``, an object with ``node`` (the class and what is known of its arguments, see
``node``), ``hints`` (values that configuration files give for names), ``samples``, ``seconds``, and ``world`` where an
earlier trial has learnt it already; ``mend`` has each process get a handle of its own.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Mapping

from forklint_harness import journal
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
    from torch.utils.data import DataLoader

    given = _spec.get("world")
    world = World.of_json(given) if given else World(Node.of_json(_spec["node"]))
    hooks.begin(world)
    world.is_learning = not given
    file, _ = world.dataset.value
    building.module(file)  # here and not in each pass: to import a module takes longer than the rest
    if given:
        said = making.make_elsewhere(world)
        if said:
            raise CannotMakeError(said)
    else:
        outcome = learning.learn(world, int(_spec.get("samples", 64)), float(_spec.get("seconds", 20.0)))
        world = World.of_json(outcome.world)
        _tell(world, outcome)
    world.is_learning = False
    making.written(world)
    hooks.begin(world if any(not key.startswith("@") for key in world.paths) else None)
    dataset = building.build(world.dataset)
    if _spec.get("mend"):
        mending.mend(dataset, _spec["spec"])
    return [DataLoader(dataset, batch_size=4, collate_fn=list)]


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
    )
    if outcome.error:
        raise CannotMakeError("{} ({})".format(outcome.error, outcome.place))
    journal.record("world", world=world.as_json())
