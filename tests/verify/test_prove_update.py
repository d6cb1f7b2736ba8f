"""FKL306 proved: a plain attribute is confirmed, one that is shared in a way that no rule sees is refuted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from needed import need_torch

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="all start methods exist on Linux alone")

SCRIPT = """
from torch.utils.data import DataLoader, Dataset
{import_}

class Numbers(Dataset):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + self.epoch


def main():
    {before}
    numbers = Numbers()
    loader = DataLoader(numbers, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        numbers.epoch = epoch
        for batch in loader:
            print(batch)


if __name__ == "__main__":
    main()
"""

SHARED = """
import multiprocessing

def share(cls):
    value = multiprocessing.Value("i", 0)
    read = lambda self: value.value
    def write(self, new):
        value.value = new
    setattr(cls, "epo" + "ch", property(read, write))
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        options = ("--select", "FKL306", "--output-format", "json", *arguments)
        done = command("verify", "train.py", *options, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


@pytest.mark.soak
def test_persistent_workers_keep_what_they_began_with(verdict) -> None:
    found = verdict(SCRIPT.format(import_="", before=""))
    cells = ("fork", "spawn", "forkserver")
    assert found["verdict"] == "confirmed"
    assert found["evidence"].endswith(": workers still have 0 after it was changed to 1")
    assert found["details"]["cells"] == {f"{method}, 2 workers": "confirmed" for method in cells}


def test_a_value_that_another_module_shares_is_seen(verdict, tmp_path: Path) -> None:
    (tmp_path / "sharing.py").write_text(SHARED)
    text = SCRIPT.format(import_="from sharing import share", before="share(Numbers)")
    found = verdict(text, "--start-method", "fork")
    assert (found["verdict"], found["evidence"]) == ("refuted", "fork, 2 workers: workers see the change from 0 to 1")


@pytest.mark.soak
def test_a_loader_that_is_not_reached_decides_nothing(verdict) -> None:
    found = verdict(SCRIPT.format(import_="", before="return"), "--start-method", "fork")
    assert found["verdict"] == "inconclusive"
    assert "never iterated the loader" in found["evidence"]
