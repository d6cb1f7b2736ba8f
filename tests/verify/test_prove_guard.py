"""FKL201 proved: an unguarded script is confirmed under spawn, with the line at which a child starts processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from needed import need_torch

from forklint.verify.runner import Runner
from forklint.verify.words import Factors, Subject, Trial

LOADER = """
import sys

import torch
from torch.utils.data import DataLoader

{guard}loader = DataLoader(list(range(8)), num_workers=1)
{indent}for batch in loader:
{indent}    open("trained", "w").close()
"""
BEFORE = """
for number, batch in enumerate(DataLoader([1, 2, 3])):
    if number:
        open("trained", "w").close()
loader ="""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> list[dict]:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        done = command("verify", "train.py", "--output-format", "json", *arguments, cwd=tmp_path)
        return json.loads(done.stdout)["experiments"]

    return run


@pytest.mark.parametrize("methods", [("fork", "spawn"), pytest.param((), marks=pytest.mark.soak)])
def test_no_guard_is_confirmed_under_spawn_and_nothing_is_trained(
    verdict, tmp_path: Path, methods: tuple[str, ...]
) -> None:
    need_torch()
    words = [word for method in methods for word in ("--start-method", method)]
    (found,) = verdict(LOADER.format(guard="", indent="").replace("loader =", BEFORE), *words)
    assert found["verdict"] == "confirmed"
    assert "under spawn, at train.py:12" in found["evidence"]
    assert not (tmp_path / "trained").exists()
    assert "bootstrapping phase" in found["evidence"]
    cells = {"fork": "control", "spawn": "confirmed"} | ({} if methods else {"forkserver": "confirmed"})
    assert found["details"]["cells"] == cells


def test_a_process_without_a_guard_is_confirmed_under_spawn_and_forkserver(verdict) -> None:
    """The program does not import torch, which takes each process of the other most of its time."""
    need_torch()
    (found,) = verdict("import multiprocessing\n\nmultiprocessing.Process(target=print).start()\n")
    assert found["verdict"] == "confirmed"
    assert found["details"]["cells"] == {"fork": "control", "spawn": "confirmed", "forkserver": "confirmed"}


@pytest.mark.soak
def test_a_payload_that_cannot_be_pickled_does_not_hide_it(verdict) -> None:
    text = LOADER.format(guard="", indent="").replace("list(range(8))", "list(range(8)), collate_fn=lambda b: b")
    (found,) = verdict(text, "--select", "FKL201", "--start-method", "spawn", "--start-method", "fork")
    assert found["details"]["cells"] == {"fork": "control", "spawn": "confirmed"}


@pytest.mark.soak
def test_a_guard_by_other_words_is_refuted(verdict) -> None:
    """The rule cannot know this condition: what runs in the child decides."""
    need_torch()
    guard = "if not any('fork' in word for word in sys.argv[1:]) and 'spawn_main' not in str(sys.orig_argv):\n    "
    text = LOADER.format(guard=guard, indent="    ")
    experiments = verdict(text, "--start-method", "spawn")
    assert [found["verdict"] for found in experiments] == ["refuted"], experiments


@pytest.mark.soak
def test_arguments_that_do_not_lead_to_the_loader_are_not_asked_for(verdict, command, tmp_path: Path) -> None:
    text = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--config', required=True)\n"
    text += "options = parser.parse_args()\n" + LOADER.format(guard="", indent="")
    (found,) = verdict(text, "--start-method", "spawn")
    assert found["verdict"] == "confirmed"
    assert found["details"]["stood_in"] == {}
    assert "with the fix it does not occur" in found["evidence"]
    done = command(
        "verify", "train.py", "--output-format", "json", "--start-method", "spawn", "--", "--config", "x", cwd=tmp_path
    )
    (found,) = json.loads(done.stdout)["experiments"]
    assert found["verdict"] == "confirmed"
    assert "stood_in" not in found["details"]


@pytest.mark.soak
def test_what_the_entry_does_not_import_is_not_refuted_by_it(verdict, command, tmp_path: Path) -> None:
    verdict(LOADER.format(guard="", indent=""), "--start-method", "fork")
    (tmp_path / "train.py").rename(tmp_path / "other.py")
    (tmp_path / "forklint.toml").write_text('[verify]\nenv = { WORKERS = "2" }\n')
    text = LOADER.format(guard="if __name__ == '__main__':\n    ", indent="    ").replace(
        "num_workers=1", "num_workers=int(os.environ['WORKERS'])"
    )
    (tmp_path / "train.py").write_text(f"import os\n{text}")
    options = ("--output-format", "json", "--start-method", "spawn", "--")
    done = command("verify", "train.py", "other.py", *options, cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert found["verdict"] == "inconclusive"
    assert "train.py do not import other.py" in found["evidence"]


def test_only_fork_cannot_show_it(verdict) -> None:
    need_torch()
    (found,) = verdict(LOADER.format(guard="", indent=""), "--start-method", "fork")
    assert found["verdict"] == "unsupported here"


BESIDE = """
import multiprocessing, subprocess, sys

beside = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
child = multiprocessing.get_context("fork").Process(target=print)
child.start()
child.join()
beside.wait()
"""


@pytest.mark.parametrize("task", ["guard", ""])
def test_what_a_trial_leaves_that_the_harness_ended_is_not_held_against_it(task: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BESIDE if task else BESIDE.replace("beside.wait()", ""))
    trial = Trial("trial", Subject("entry", ("train.py",), tmp_path), task, factors=Factors("fork"), seconds=30)
    with Runner(Path(sys.executable)) as runner:
        seen = runner.run(trial)
    assert seen.ending.exit_code == 0
    assert bool(seen.leaked) == (not task)
