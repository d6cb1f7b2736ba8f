"""Makes the stores of a world, as a program: ``python -m forklint_harness.stores.making WORLD.json``.

It is another process than the one that opens them, and it closes them: no handle is there before the project's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import List

from forklint_harness.stores.kinds import makers
from forklint_harness.stores.values import scratch
from forklint_harness.stores.world import World, location_of

SECONDS = 60.0
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
            if node.kind == "folder" or not os.path.exists(path):
                known[node.kind](path, node)
        except Exception as error:  # a library that makes such a store is not there, say
            failed.append("{}: {}: {}".format(key, type(error).__name__, error))
    return failed


def make_elsewhere(world: World) -> str:
    """Let another process make them, and wait for it; gives what it says of what it could not make."""
    os.makedirs(scratch(), exist_ok=True)
    path = written(world)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FORKLINT_TRIAL")}
    done = subprocess.run(
        [sys.executable, "-m", "forklint_harness.stores.making", path],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )
    return done.stderr.decode("utf-8", "replace")[-2000:] if done.returncode else ""


def written(world: World) -> str:
    """Write the world down where the other processes of the trial find it."""
    path = os.path.join(scratch(), FILE)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(world.as_json(), file)
    return path


def main() -> int:
    """Make what the file says."""
    with open(sys.argv[1], encoding="utf-8") as file:
        world = World.of_json(json.load(file))
    failed = make_all(world)
    sys.stderr.write("\n".join(failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
