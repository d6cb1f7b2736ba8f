"""FKL102 proved: torch refuses the second number, and what is measured of work that closes the door."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

TWICE = """
import sys

import torch

torch.set_num_interop_threads(1)


def prepare():
    torch.set_num_interop_threads(1)


if __name__ == "__main__":
    {call}
"""

WORKER = """
import torch
from torch.utils.data import DataLoader


def one_thread(worker):
    torch.set_num_interop_threads(1)


if __name__ == "__main__":
    torch.set_num_interop_threads(1)
    print(list(DataLoader(list(range(4)), num_workers=1, worker_init_fn=one_thread)))
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        options = ("--select", "FKL102", "--output-format", "json", *arguments)
        done = command("verify", "train.py", *options, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


def test_a_second_call_is_confirmed(verdict) -> None:
    found = verdict(TWICE.format(call="prepare()"))
    assert found["verdict"] == "confirmed", found
    assert "at train.py:10 torch raises: Error: cannot set number of interop threads" in found["evidence"]


@pytest.mark.soak
def test_a_forked_worker_inherits_the_number(verdict) -> None:
    found = verdict(WORKER)
    assert found["verdict"] == "confirmed", found
    assert "at train.py:7" in found["evidence"]


@pytest.mark.soak
def test_a_function_that_was_replaced_is_refuted(verdict) -> None:
    """The rule cannot know that the first call does nothing; what runs decides."""
    text = TWICE.format(call="prepare()").replace("import torch\n", "import torch\n\nplain = torch.__dict__\n", 1)
    first = "torch.set_num_interop_threads(1)\n\n\ndef"
    undone = "real = plain['set_num_interop_threads']\nplain['set_num_interop_threads'] = print\n"
    again = "torch.set_num_interop_threads(1)\nplain['set_num_interop_threads'] = real\n\n\ndef"
    found = verdict(text.replace(first, undone + again))
    assert found["verdict"] == "refuted", found


def test_a_call_that_is_never_reached_decides_nothing(verdict) -> None:
    found = verdict(TWICE.format(call="sys.argv[5:] and prepare()"))
    assert found["verdict"] == "inconclusive", found


SCRIPTED = """
@torch.jit.script
def scripted(x):
    negative = torch.jit.fork(torch.neg, x)
    return torch.jit.wait(negative)


scripted(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("before", "raises"),
    [
        ("torch.set_num_interop_threads(1)", True),
        (SCRIPTED, True),
        ("torch.ones(1000, 1000) @ torch.ones(1000, 1000)", False),
        ("torch.nn.Linear(100, 100)(torch.ones(500, 100)).sum().backward()", False),
        ("torch.jit.trace(torch.neg, torch.ones(3))(torch.ones(3))", False),
        ("torch.jit.wait(torch.jit.fork(torch.neg, torch.ones(3)))", False),
    ],
    ids=["set", "jit.fork scripted", "product", "backward", "trace", "jit.fork eager"],
)
@pytest.mark.soak
def test_what_the_page_says_of_work(before: str, raises: bool, tmp_path: Path) -> None:
    script = tmp_path / "measured.py"
    script.write_text(f"import torch\n{before}\ntorch.set_num_interop_threads(1)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode != 0) == raises, done.stderr
    assert not raises or "cannot set number of interop threads" in done.stderr
