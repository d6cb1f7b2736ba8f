"""Makes the stores of a world, in another process than the one that opens them.

It closes them, so that no handle is there before the project's own.
"""

from __future__ import annotations

import json
import os
from typing import List

from forklint_harness.stores import hooks
from forklint_harness.stores.kinds import makers
from forklint_harness.stores.node import Node
from forklint_harness.stores.values import scratch
from forklint_harness.stores.world import World, location_of

FILE = "world.json"


def make_all(world: World) -> List[str]:
    """Make every store that is not there yet; says what could not be made."""
    known, failed = makers(), []
    os.makedirs(scratch(), exist_ok=True)
    for key in sorted(world.paths, key=lambda key: (world.paths[key].kind == "folder", -len(key))):
        node = world.paths[key]
        if node.kind == "looked-for":
            continue
        path = location_of(key)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if node.kind == "folder" or not _is_there(path, node):
                known[node.kind](path, node)
        except Exception as error:  # a library that makes such a store is not there, say
            failed.append("{}: {}: {}".format(key, type(error).__name__, error))
    return failed


def _is_there(path: str, node: Node) -> bool:
    """Whether a store was made; the folder of an LMDB environment may be there for another file in it alone."""
    is_in_folder = node.kind == "lmdb" and node.facts.get("subdir", True)
    return os.path.exists(os.path.join(path, "data.mdb") if is_in_folder else path)


def make_elsewhere(world: World) -> str:
    """Let another process make them, and wait for it; gives what it says of what it could not make."""
    os.makedirs(scratch(), exist_ok=True)
    written(world)
    if not hasattr(os, "fork"):
        return "; ".join(make_all(world))
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        said = "the process that makes them died"
        try:
            hooks.begin(None)
            said = "; ".join(make_all(world))
        finally:
            os.write(sink, said.encode("utf-8", "replace")[:4000])
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as file:
        said = file.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    return said


def written(world: World) -> str:
    """Write the world down where the other processes of the trial find it."""
    path = os.path.join(scratch(), FILE)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(world.as_json(), file)
    return path
