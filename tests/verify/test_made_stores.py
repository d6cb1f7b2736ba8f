"""Stores that are made for data that is not there: what is in them is learnt, and the real library reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import made_datasets
import pytest

from forklint.verify.doctor import HARNESS

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        sys.platform == "win32" or find_spec("torch") is None, reason="passes run in forked processes, and need torch"
    ),
]
PROGRAM = """
import gc, json, sys
from forklint_harness.__main__ import module_at
from forklint_harness.stores import building, learning
from forklint_harness.stores.node import Node
from forklint_harness.stores.world import World

file, *names = sys.argv[1:]
learning.install()
module_at(file)
for name in names:
    outcome = learning.learn(World(Node(name, "class", [file, name])), 40, 60.0)
    world = World.of_json(outcome.world)
    kinds = {key: node.kind for key, node in world.paths.items()}
    dataset = building.build(world.dataset) if not outcome.error else ()
    again = [repr(dataset[index]) for index in range(min(2, len(dataset)))]
    told = {"samples": outcome.samples, "error": outcome.error, "kinds": kinds, "again": again}
    print("told", json.dumps({name: told}))
    del dataset
    gc.collect()  # LMDB opens no environment twice, and the next pass may make one of the same name
"""
NEEDS = {"LMDB": ("lmdb", "PIL"), "HDF5": ("h5py",), "NUMPY": ("numpy",)}


def learnt(folder: Path, *parts: str) -> dict[str, Any]:
    """What was learnt of each dataset of some parts of the file, all in one process."""
    wanted = [part for part in parts if all(find_spec(one) for one in NEEDS.get(part, ()))]
    source = made_datasets.SOURCE + "".join(getattr(made_datasets, part) for part in wanted)
    file = folder / "data.py"
    file.write_text(source)
    names = [line.split("(")[0][6:] for line in source.splitlines() if line.startswith("class ")]
    environment = {"PYTHONPATH": str(HARNESS), "TMPDIR": str(folder), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", PROGRAM, str(file), *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        if line.startswith("told "):
            found |= json.loads(line[5:])
    assert set(found) == set(names), done.stderr[-2000:]
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return learnt(tmp_path_factory.mktemp("made"), "LMDB", "HDF5", "NUMPY")


CASES = {
    "Lines": ("plain",), "Records": ("plain",), "Indexed": ("plain", "plain"), "Mapped": ("plain",),
    "Zipped": ("zip",), "Tarred": ("tar",), "Rows": ("sqlite",), "Table": ("plain",), "Shelf": ("shelf",),
    "Keys": ("dbm",), "Packed": ("plain",), "Sound": ("plain",), "Configured": ("plain", "plain"),
    "Images": ("lmdb",), "Pickled": ("lmdb",), "Volumes": ("hdf5",), "Groups": ("hdf5",), "Arrays": ("plain",),
    "Tokens": ("plain", "plain"), "Vectors": ("sqlite",), "Lengths": ("plain", "plain"), "Captioned": ("lmdb", "plain"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_sample_comes_out_of_a_store_that_was_made(found: dict[str, Any], name: str) -> None:
    if name not in found:
        pytest.skip("its library is not installed")
    told = found[name]
    assert told["error"] == ""
    assert told["samples"] >= 4
    assert set(told["kinds"].values()) == set(CASES[name])


def test_samples_differ_by_index(found: dict[str, Any]) -> None:
    """Else a shared offset would not show."""
    for name in ("Records", "Indexed", "Mapped", "Sound", "Configured", "Tarred"):
        first, second = found[name]["again"]
        assert first != second, name


def test_a_folder_that_is_listed_has_files_of_the_ending(found: dict[str, Any]) -> None:
    told = found["Listed"]
    assert told["error"] == ""
    assert told["samples"] == len(told["kinds"]) > 1
    assert all(key.startswith("@/root/training/") and key.endswith(".bin") for key in told["kinds"])


def test_data_that_nobody_can_guess_is_said_to_be_so(found: dict[str, Any]) -> None:
    assert found["Wrong"]["error"] == "ValueError: not one of our files"
