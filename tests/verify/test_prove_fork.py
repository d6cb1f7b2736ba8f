"""FKL203 proved: a child that computes after its parent has hangs, where a spawned one ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

from forklint.verify.experiments.poisoned_fork import with_limit_of
from forklint.verify.words import Ending, Observation, Subject, Trial

need_torch()

POOL = """
import multiprocessing

import torch
from torch import nn

torch.set_num_threads(2)
model = nn.Sequential(nn.Linear({size}, {size}), nn.ReLU())


def score(number):
    return model(torch.full(({rows}, {size}), float(number))).sum().item()


if __name__ == "__main__":
    print(model(torch.ones({rows}, {size})).sum())
    with multiprocessing.Pool(1) as pool:
        print(pool.map(score, [1, 2]))
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        options = ("--select", "FKL203", "--output-format", "json", *arguments)
        done = command("verify", "train.py", *options, cwd=tmp_path)
        assert done.stdout, done.stderr
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


@pytest.mark.soak
def test_a_model_after_a_model_hangs_in_the_child(verdict) -> None:
    text = POOL.format(size=512, rows=256)
    found = verdict(text.replace("multiprocessing.Pool", 'multiprocessing.get_context("fork").Pool'))
    assert found["verdict"] == "confirmed", found
    assert "`score` hangs at train.py:12, in score" in found["evidence"]
    assert found["details"]["cells"] == {"spawn": "control", "fork": "confirmed"}


@pytest.mark.parametrize(("control", "limit"), [(1.2, 10), (3.1, 13), (30, 60)])
def test_a_child_gets_a_multiple_of_the_time_that_the_control_took(control: float, limit: float) -> None:
    """So that a hang is told on a slow machine as on a quick one, and the limit is seldom waited for."""
    trial = Trial("t", Subject("entry", ("train.py",), Path()), "forked", seconds=60)
    seen = Observation(trial, Ending(0), wall_seconds=control)
    assert with_limit_of(trial, [seen]).seconds == limit


@pytest.mark.soak
def test_the_program_that_calls_another_file_is_run(command, tmp_path: Path) -> None:
    """The pool stands in `scoring.py`, which computes nothing by itself: `train.py` has, and is what is run."""
    text = POOL.format(size=512, rows=256).replace("multiprocessing.Pool", 'multiprocessing.get_context("fork").Pool')
    module, _, script = text.partition('if __name__ == "__main__":\n')
    first, _, pool = script.partition("\n")
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "scoring.py").write_text(f"{module}def score_all():\n{pool}")
    called = "from scoring import model, score_all"
    (tmp_path / "train.py").write_text(
        f"import torch\n{called}\n\nif __name__ == '__main__':\n{first}\n    score_all()\n"
    )
    done = command("verify", ".", "--select", "FKL203", "--output-format", "json", cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert found["verdict"] == "confirmed", found
    assert "`score` hangs at scoring.py:12, in score" in found["evidence"]


@pytest.mark.soak
def test_examples_of_one_row_start_no_threads_and_do_no_harm(verdict) -> None:
    """The rule cannot know the size of the data; the run does."""
    found = verdict(POOL.format(size=32, rows=1))
    assert found["verdict"] in {"refuted", "not reproduced"}, found


DIES = """
import os
from multiprocessing import Process

import torch
from torch import nn

model = nn.Linear(512, 512)
inherited = []


def score():
    if inherited:  # stands for a library that ends a child which it finds forked
        os.write(2, b"this is no process to fork\\n")
        os._exit(3)
    return model(torch.ones(1, 512))


if __name__ == "__main__":
    inherited.append(model(torch.ones(1, 512)))
    child = Process(target=score)
    child.start()
    child.join()
"""


def test_a_child_that_dies_is_told_from_one_that_hangs(verdict) -> None:
    found = verdict(DIES)
    assert found["verdict"] == "confirmed", found
    assert "the child crashes in `score`: this is no process to fork" in found["evidence"]


@pytest.mark.soak
def test_a_task_that_fails_by_itself_proves_nothing(verdict) -> None:
    text = POOL.format(size=512, rows=256).replace("float(number)", "float(undefined)")
    found = verdict(text)
    assert found["verdict"] == "inconclusive"
    assert "NameError" in found["evidence"]


def test_cuda_needs_a_card(verdict) -> None:
    text = POOL.format(size=8, rows=8).replace("model(torch.ones", "torch.cuda.init() or model.cuda()(torch.ones")
    text = text.replace("return model(", "return model.cuda()(")
    found = verdict(text)
    assert found["verdict"] == "unsupported here"
    assert "CUDA" in found["evidence"]


def test_only_spawn_cannot_show_it(verdict) -> None:
    found = verdict(POOL.format(size=512, rows=256), "--start-method", "spawn")
    assert found["verdict"] == "unsupported here"


MEASURED = """
import multiprocessing, sys
import torch

torch.set_num_threads(2)


def work(threads):
    if threads:
        torch.set_num_threads(threads)
    large = torch.ones(1000, 1000)
    return (large @ large).sum().item()


if __name__ == "__main__":
    if "poison" in sys.argv:
        work(0)
    child = multiprocessing.get_context("fork").Process(target=work, args=(int(sys.argv[1]),))
    child.start()
    child.join(10)
    print("hangs" if child.is_alive() else child.exitcode)
    child.kill()
"""


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [(("0", "poison"), "hangs"), (("0",), "0"), (("1", "poison"), "0")],
    ids=["after a product", "before any", "one thread in the child"],
)
@pytest.mark.soak
def test_what_the_table_says_of_torch(arguments: tuple[str, ...], outcome: str, tmp_path: Path) -> None:
    script = tmp_path / "measured.py"
    script.write_text(MEASURED)
    done = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == outcome
