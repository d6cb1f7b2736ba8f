"""FKL301's further cells: a parent that has read, and a GPU in use before workers start."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from handle_projects import HEAD, write
from needed import need_torch
from proven import environment, findings, forced, prove

from forklint.config import Settings
from forklint.verify import proving
from forklint.verify.doctor import Environment
from forklint.verify.experiments.base import Context
from forklint.verify.runner import Runner
from forklint.verify.words import Experiment, Factors

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cells are of fork")

SLOT = """
class Slotted(Base):
    '''As LMDB had it: a process that reads takes a slot, which forked processes must not use.'''

    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        self.reader = None

    def __getitem__(self, index):
        data = os.pread(self.file.fileno(), 400, index * 400)
        if self.reader is None:
            self.reader = os.getpid()
        if self.reader != os.getpid():
            raise RuntimeError("invalid reuse of a reader's slot")
        return data
"""


@pytest.mark.soak
def test_a_parent_that_has_read_is_tried_where_workers_did_no_harm(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + SLOT)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, start_methods=("fork",), workers=2, samples=60)
    cells = {factors: cell["verdict"] for factors, cell in proof.cells.items()}
    assert cells == {"fork, 2 workers": "not reproduced", "fork, 2 workers, warm parent": "confirmed"}
    assert "invalid reuse of a reader's slot" in proof.judgement.evidence
    assert proof.judgement.details["cells"]["cuda"] == "unsupported here"


def planned(folder: Path, gpus: list[str]) -> proving.Planned:
    """The plan for a handle where there are these GPUs."""
    write("file", folder)
    facts = environment().facts
    here = Environment({**facts, "torch": {**facts["torch"], "cuda_runtime": "12.8", "gpus": gpus}})
    context = Context(folder, Settings(), here, workers=2, samples=60, provoking=0.1)
    (plan,) = proving.plan([forced(folder, "Records", "file")], lambda _: context)
    return plan


@pytest.mark.soak
def test_where_there_is_a_gpu_it_is_in_use_before_workers_start(tmp_path: Path) -> None:
    cells = [str(trial.factors) for trial in planned(tmp_path, ["NVIDIA H100"]).outcome.trials if trial.factors.device]
    assert cells == [
        "fork, 2 workers, pin_memory=False, cuda",
        "fork, 2 workers, pin_memory=True, cuda",
        "spawn, 2 workers, pin_memory=True, cuda",
    ]
    assert not [trial for trial in planned(tmp_path, []).trials if trial.factors.device]


PREAD = """
class Records(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        return torch.frombuffer(bytearray(os.pread(self.file.fileno(), 400, index * 400)), dtype=torch.uint8)
"""


@pytest.mark.soak
def test_the_trials_of_a_gpu_run_with_the_processor_in_its_place(tmp_path: Path) -> None:
    """What the harness does with a device; nobody has run it with CUDA."""
    plan = planned(tmp_path, ["NVIDIA H100"])
    (tmp_path / "data.py").write_text(HEAD + PREAD)
    assert isinstance(plan.outcome, Experiment)
    pinned = Factors("fork", 2, pin_memory=True, device="cuda")
    trials = [trial for trial in plan.outcome.trials if trial.is_control or trial.factors == pinned]
    trials = [trials[0], replace(trials[1], factors=replace(pinned, device="cpu"))]
    with Runner(Path(sys.executable)) as runner:
        experiment = replace(plan.outcome, trials=tuple(trials), otherwise=None)
        result = proving.prove(replace(plan, outcome=experiment), runner, lambda *_: None)
    assert result.judgement.details["cells"] == {"fork, 2 workers, pin_memory=True, cpu": "not reproduced"}
    for seen in result.observations:
        assert seen.samples_per_second > 0
        assert 0 < seen.first_batch_seconds < seen.wall_seconds
        assert seen.peak_bytes > 0
