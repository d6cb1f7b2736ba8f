"""What torch once had: the two tables do not repeat each other, and the torch that is installed has none of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needed import need_torch

from forklint.knowledge import table
from forklint.knowledge.removed import removed_by_hand, removed_from, removed_from_companions, removed_modules

LOOK = """
import importlib, json, sys, warnings

warnings.simplefilter("ignore")
names, modules, there = *json.load(sys.stdin), []
for owner, name in names:
    try:
        found = importlib.import_module(owner)
    except ImportError:
        found = getattr(importlib.import_module(owner.rpartition(".")[0]), owner.rpartition(".")[2])
    there += [f"{owner}.{name}"] if hasattr(found, name) else []
for path in modules:
    try:
        importlib.import_module(path)
        there.append(path)
    except ImportError:
        pass
print(json.dumps(there))
"""


def test_a_name_stands_in_one_table() -> None:
    names = table("removed_api.json")["names"]
    listed = [(owner, name) for owner, versions in names.items() for names in versions.values() for name in names]
    assert len(listed) == len(set(listed)) > 1000
    assert removed_by_hand().isdisjoint({*listed, *table("removed_api.json")["modules"]})
    assert removed_from("torch._utils")["_accumulate"].since == (2, 3)
    assert removed_from("torch.storage")["_UntypedStorage"].version == "1.13"
    assert removed_modules()["torch.tensor"].since == (1, 9)


@pytest.mark.soak
def test_the_installed_torch_has_none_of_it() -> None:
    need_torch()
    owners = {*table("removed_api.json")["names"], *(row["owner"] for row in table("removed.toml")["name"])}
    names = [(owner, name) for owner in sorted(owners) for name, gone in removed_from(owner).items() if not gone.raises]
    asked = json.dumps([names, list(removed_modules())])
    done = subprocess.run([sys.executable, "-c", LOOK], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_each_of_a_companion_says_which_torch_came_with_it() -> None:
    for path, gone in removed_from_companions().items():
        if not path.startswith("torch"):
            is_numpy = path.startswith("numpy.")
            assert {"torch", "python"} & set(gone.beside) == ({"torch", "python"} if is_numpy else set())
            continue
        first, second = gone.beside["torch"]
        if path.startswith("torchvision."):
            assert gone.since == (0, second + 1 if first == 1 else second + 15)
        elif (first, second) == (1, 2):
            assert gone.since == (0, 3)
        else:
            assert gone.since == (first - 1 if first == 1 else first, second)
        assert gone.instead
