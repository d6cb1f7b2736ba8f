"""A line that lint passes over and somebody suspects: its experiment runs there, and healthy code is not blamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

need_torch()

RECORDS = """
import struct
from torch.utils.data import DataLoader, Dataset

class Records(Dataset):
    def __init__(self, path="records.bin"):
        self.file = {opened}

    def __len__(self):
        return 240

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.file.read(400)

def reader(path):
    return open(path, "rb")

def main():
    with open("records.bin", "wb") as file:
        for index in range(240):
            file.write(struct.pack("<I", index) * 100)
    for batch in DataLoader(Records(), batch_size=4, num_workers={workers}, collate_fn=list):
        print(len(batch))

if __name__ == "__main__":
    main()
"""
ROW = 7
HIDDEN = 'getattr(__import__("builtins"), "op" + "en")(path, "rb")'
"""An opener that lint does not know."""


@pytest.fixture
def suspect(command, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Suspect a line of train.py; gives the experiment."""

    def run(text: str, row: int, code: str, *options: str) -> dict[str, Any]:
        (tmp_path / "train.py").write_text(text)
        words = ("--suspect", f"train.py:{row}:{code}", "--isolated", "--output-format", "json", "-q", *options)
        done = command("verify", *words, cwd=tmp_path)
        assert done.stdout, done.stderr
        (experiment,) = json.loads(done.stdout)["experiments"]
        assert experiment["finding"]["code"] == code
        assert abs(experiment["finding"]["location"]["row"] - row) <= 3
        return experiment

    return run


FORK = ("--start-method", "fork", "--workers", "2")


@pytest.mark.soak
def test_a_handle_that_lint_cannot_follow_is_confirmed(suspect, command, tmp_path: Path) -> None:
    text = RECORDS.format(opened=HIDDEN, workers=2)
    (tmp_path / "train.py").write_text(text)
    assert "FKL301" not in command("train.py", "--isolated", "--no-cache", cwd=tmp_path).stdout
    found = suspect(text, ROW, "FKL301", *FORK)
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "samples differ from the control" in found["evidence"]


def test_a_finding_of_lint_s_own_is_taken_where_there_is_one(suspect, command, tmp_path: Path) -> None:
    text = "import multiprocessing\n\nmultiprocessing.Process(target=print).start()\n"
    found = suspect(text, 3, "FKL201", "--start-method", "fork", "--start-method", "spawn")
    assert found["verdict"] == "confirmed"
    assert "suspected" not in found["finding"]["message"]
    (tmp_path / "train.py").write_text(RECORDS.format(opened='open(path, "rb")', workers=2))
    done = command("verify", "--suspect", f"train.py:{ROW + 2}:FKL301", "--isolated", "--plan", cwd=tmp_path)
    assert f"FKL301 train.py:{ROW}" in done.stdout


@pytest.mark.soak
def test_a_loader_without_workers_is_not_blamed(suspect) -> None:
    found = suspect(RECORDS.format(opened=HIDDEN, workers=0), ROW, "FKL301", *FORK)
    assert found["verdict"] == "inconclusive", found["evidence"]
    assert "has no workers by default" in found["evidence"]


HEALTHY = [
    ('import os\nos.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"\nimport h5py\n', 2, "FKL101", "refuted"),
    (
        'import os, subprocess, h5py\nos.environ["HDF5_USE_FILE_LOCKING"] = "1"\nsubprocess.run(["./train"])\n',
        2,
        "FKL101",
        "inconclusive",
    ),
    (
        (
            "import multiprocessing\n\ndef work():\n    pass\n\nif __name__ == '__main__':\n"
            "    multiprocessing.Process(target=work).start()\n"
        ),
        7,
        "FKL201",
        "refuted",
    ),
    (
        "class Base:\n    def run(self):\n        self.step()\n\nclass Own(Base):\n    def step(self):\n        pass\n",
        3,
        "FKL501",
        "inconclusive",
    ),
    (
        "class Own:\n    def __init__(self):\n        self.step = print\n\n    def run(self):\n        self.step()\n",
        6,
        "FKL501",
        "inconclusive",
    ),
    (
        "class Own:\n    def run(self):\n        if hasattr(self, 'step'):\n            self.step()\n",
        4,
        "FKL501",
        "inconclusive",
    ),
    (  # what objects get from their arguments cannot be read
        (
            "def take(owner, given):\n    for name, value in given.items():\n        setattr(owner, name, value)\n\n"
            "class Own:\n    def __init__(self, step):\n        take(self, locals())\n\n"
            "    def run(self):\n        self.step()\n"
        ),
        10,
        "FKL501",
        "inconclusive",
    ),
    (  # an object of another class
        (
            "class Other:\n    def step(self):\n        pass\n\n"
            "class Own:\n    def __new__(cls, kind):\n        return Other()\n\nown = Own(1)\nown.step()\n"
        ),
        10,
        "FKL501",
        "inconclusive",
    ),
    (  # what a class for others calls, which no class here has
        "class StepMixin:\n    def run(self):\n        self.step()\n\nclass Trainer(StepMixin):\n    step = None\n",
        3,
        "FKL501",
        "inconclusive",
    ),
    (
        "from torch.utils.data import DataLoader\n\n\nfor _ in DataLoader([1, 2], collate_fn=lambda x: x):\n    pass\n",
        4,
        "FKL204",
        "inconclusive",
    ),
]


@pytest.mark.parametrize(
    ("text", "row", "code", "verdict"), [*HEALTHY[:-1], pytest.param(*HEALTHY[-1], marks=pytest.mark.soak)]
)
def test_healthy_code_is_not_confirmed(text: str, row: int, code: str, verdict: str, suspect) -> None:
    found = suspect(text, row, code)
    assert found["verdict"] == verdict, found["evidence"]


def test_a_method_that_is_nowhere_is_confirmed(suspect) -> None:
    text = "class Own:\n    def run(self):\n        self.stepp()\n\n    def step(self):\n        pass\n"
    found = suspect(text, 3, "FKL501")
    assert found["verdict"] == "confirmed"
    assert "AttributeError" in found["evidence"]


def test_a_line_beside_a_finding_is_judged_by_itself(suspect) -> None:
    first = 'import torch, os\nos.environ["OMP_NUM_THREADS"] = "1"\n'
    found = suspect(first + 'os.environ["NOBODY_READS_THIS"] = "1"\n', 3, "FKL101")
    assert found["finding"]["location"]["row"] == 3
    assert found["verdict"] != "confirmed", found["evidence"]


def test_an_experiment_that_cannot_be_aimed_says_so(suspect) -> None:
    found = suspect("import torch\n\nx = 1\n", 3, "FKL301")
    assert found["verdict"] == "inconclusive"
    assert found["evidence"].startswith("the experiment of FKL301 does not apply to line 3: ")
    found = suspect("import torch\n\nx = 1\n", 3, "FKL402")
    assert "does not apply to line 3: its experiment needs a finding of lint" in found["evidence"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train.py:7", "expected PATH:LINE:CODE"),
        ("train.py:0:FKL301", "expected PATH:LINE:CODE"),
        ("train.py:7:FKL999", "unknown rule FKL999"),
        ("other.py:7:FKL301", "no such file: other.py"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(words: str, message: str, command, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    done = command("verify", "--suspect", words, "--isolated", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
