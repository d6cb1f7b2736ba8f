"""Programs that do what a trial does not expect: it must neither be led astray nor disturb them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from handle_projects import HEAD, write
from needed import need_torch
from proven import forced, prove

from forklint.config import Settings
from forklint.verify import proving
from forklint.verify.doctor import Environment
from forklint.verify.experiments.base import Context
from forklint.verify.runner import HARNESS, Runner
from forklint.verify.subjects import Factory
from forklint.verify.words import Observation, Subject, Trial

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descriptors and processes are looked at by /proc")


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], Observation]:
    """Run a program with the harness in it."""

    def run(code: str) -> Observation:
        (tmp_path / "program.py").write_text(code)
        trial = Trial("one", Subject("entry", ("program.py",), tmp_path), "samples", {"classes": []}, seconds=20)
        with Runner(Path(sys.executable)) as runner:
            return runner.run(trial)

    return run


DESCRIPTORS = """
import os
import forklint_harness.journal as journal

os.closerange(3, 4096)
log = os.open("mine.log", os.O_RDWR | os.O_CREAT)
mine = [log] + [os.dup(log) for _ in range(600)]
journal.record("after")
child = os.fork()
if child == 0:
    journal.record("child", whole=all(os.fstat(one).st_ino == os.fstat(log).st_ino for one in mine))
    os._exit(0)
os.waitpid(child, 0)
"""


def test_descriptors_that_a_program_closes_and_takes_are_its_own(run, tmp_path: Path) -> None:
    seen = run(DESCRIPTORS)
    assert seen.ending.exit_code == 0, seen.output
    assert len(seen.of("after")) == 1
    assert [one["whole"] for one in seen.of("child")] == [True]
    assert (tmp_path / "mine.log").read_bytes() == b""


UNWRITABLE = """
import os, shutil
import forklint_harness.journal as journal

shutil.rmtree(os.path.dirname(journal.path_of(1, "jsonl")))
if os.fork() == 0:
    journal.record("lost")
    os._exit(4)
os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_record_that_cannot_be_written_is_no_error_of_the_program(run) -> None:
    seen = run(UNWRITABLE)
    assert seen.ending.exit_code == 4, seen.output


ENDING = """
import multiprocessing, sys, time
from forklint_harness.ending import leave

if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
    manager = multiprocessing.Manager()
    sys.stdout.close()
    leave(0)
"""


def test_a_process_of_the_programs_own_is_not_waited_for(run) -> None:
    seen = run(ENDING)
    assert (seen.ending.exit_code, seen.ending.stopped_for) == (0, ""), seen.output
    assert seen.leaked == ()


PIECES = """
import abc, gc, os, sys
sys.path.insert(0, {harness!r})
import torch
from forklint_harness import openers
from forklint_harness.__main__ import makers
from forklint_harness.holding import handles_in
from forklint_harness.tasks.names import _bare
from forklint_harness.workers import digests_of

samples = (number for number in (1, 2))
assert digests_of(samples, [5, 6]) == [None, None]
assert list(samples) == [1, 2], "what collate_fn gets is not used up"
assert digests_of({{"a": 1}}, [5, 6]) == [None, None]
assert None not in digests_of(torch.eye(2), [5, 6])

first = open(__file__)
openers.note("open", first, sys._getframe())
assert openers.opened_by(first)
number = id(first)
openers._opened[number] = openers._opened[number]._replace(handle=lambda: None)  # as once it has been freed
assert openers.opened_by(first) is None
openers.note("open", 7, sys._getframe())
assert openers.opened_by(7) and not openers.opened_by(8)

assert handles_in({{"a": [first]}})[1:] == [[first], first]

class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

assert type(_bare(Shape)) is not type(Shape)
assert isinstance(_bare(Shape), Shape)

sys.modules["mine"] = sys
sys.subset = lambda: torch.utils.data.Subset(list(range(8)), [1, 3])
((_, make),) = makers(["factories", '[{{"call": "mine:subset"}}]'])
(loader,) = make()
assert list(loader) == [[1, 3]]
"""


@pytest.mark.soak
def test_pieces_of_the_harness_on_odd_objects(tmp_path: Path) -> None:
    path = tmp_path / "pieces.py"
    path.write_text(PIECES.format(harness=str(HARNESS)))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


UNGUARDED = """
from torch.utils.data import DataLoader
from data import Lazy

for batch in DataLoader(Lazy(), batch_size=4):
    open("trained", "a").close()
"""
LAUNCHING = """
import multiprocessing
from torch.utils.data import DataLoader
from data import Lazy

def train():
    for batch in DataLoader(Lazy(), batch_size=4):
        open("trained", "a").close()

if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=train)
    process.start()
    process.join()
"""


@pytest.mark.parametrize(
    ("script", "method", "evidence", "advice"),
    [
        pytest.param(
            *(UNGUARDED, "spawn", "every worker that imports the script runs it again", "__main__"),
            id="in a worker that imports it",
            marks=pytest.mark.soak,
        ),
        pytest.param(LAUNCHING, "fork", "in a process that it starts", "factory", id="in a separate process"),
    ],
)
def test_nothing_is_trained(tmp_path: Path, script: str, method: str, evidence: str, advice: str) -> None:
    qualname, attribute = write("lazy", tmp_path)
    (tmp_path / "train.py").write_text(script)
    proof = prove(
        forced(tmp_path, qualname, attribute), tmp_path, entry=("train.py",), start_methods=(method,), workers=1
    )
    assert proof.verdict() == "inconclusive"
    assert evidence in proof.judgement.evidence
    assert advice in proof.judgement.advice
    assert not (tmp_path / "trained").exists()


EMPTY = """
class Records(torch.utils.data.Dataset):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __len__(self):
        return {length}

    def __getitem__(self, index):
        raise SystemExit(3)
"""


@pytest.mark.parametrize(
    ("length", "evidence"),
    [
        (0, "the loader returns no sample"),
        pytest.param(8, "reading fails without workers, too: SystemExit", marks=pytest.mark.soak),
    ],
)
def test_what_shows_nothing_refutes_nothing(tmp_path: Path, length: int, evidence: str) -> None:
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + EMPTY.format(length=length))
    factories = (Factory("data:Records"),)
    proof = prove(forced(tmp_path, "Records", "file"), tmp_path, factories=factories, start_methods=("fork",))
    assert proof.verdict() == "inconclusive"
    assert proof.judgement.evidence.startswith(evidence)


def test_cells_of_a_notebook_are_not_run(tmp_path: Path) -> None:
    finding = replace(forced(tmp_path, "Records", "file"), notebook_cell=2)
    nowhere: Any = Context(tmp_path, Settings(), Environment({}))
    (planned,) = proving.plan([finding], lambda _: nowhere)
    assert planned.outcome is proving.NOTEBOOK
    misspelt = replace(finding, code="FKL501", proof={"torch": "torch", "name": "set_num_thread"})
    (planned,) = proving.plan([misspelt], lambda _: nowhere)
    assert planned.trials, "torch is asked, and not the notebook"
