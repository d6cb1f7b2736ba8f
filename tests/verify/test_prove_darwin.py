"""FKL401: what spawn shows where there is no Mac, and what would be run on one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from needed import need_torch
from proven import environment

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.report import verdicts
from forklint.verify import proving
from forklint.verify.doctor import Environment
from forklint.verify.experiments.base import Context
from forklint.verify.runner import Runner

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="this is what is shown where there is no Mac")

DATA = """
import os
import torch
from torch.utils.data import Dataset


class Numbers(Dataset):
    def __init__(self):
        self.home = os.getpid()
        {kept}

    def __len__(self):
        return 100

    def __getitem__(self, index):
        {read}
        return index
"""
TRAIN = """
import sys
from torch.utils.data import DataLoader
from data import Numbers

WORKERS = 2 if sys.platform == "darwin" else 0

if __name__ == "__main__":
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=WORKERS):
        open("trained", "w").close()
"""


def planned(
    folder: Path, system: str, kept: str = "", read: str = "", workers: int = 2, **options: object
) -> proving.Planned:
    """The plan for the one finding in `train.py`, as on this system; without MPS, which nobody has here."""
    (folder / "data.py").write_text(DATA.format(kept=kept, read=read))
    (folder / "train.py").write_text(TRAIN.replace("2 if", f"{workers} if"))
    linter = Linter(Project(folder, Settings()), Options(with_fixes=False))
    (finding,) = (one for one in linter.lint(folder / "train.py").findings if one.code == "FKL401")
    assert finding.proof == {"workers": workers}
    here = Environment({**environment().facts, "system": system})
    context = Context(folder, Settings(), here, **{"scripts": (folder / "train.py",), **options})
    (plan,) = proving.plan([finding], lambda _: context)
    return plan


def prove(plan: proving.Planned) -> proving.Result:
    with Runner(Path(sys.executable)) as runner:
        return proving.prove(plan, runner, lambda *_: None)


@pytest.mark.soak
def test_elsewhere_spawn_alone_is_shown(tmp_path: Path) -> None:
    result = prove(planned(tmp_path, "linux"))
    judgement = result.judgement
    assert judgement.verdict.value == "unsupported here"
    assert judgement.evidence.startswith("needs darwin; with spawn, 2 workers here: first batch after ")
    assert "evidence: needs darwin; with spawn, 2 workers" in verdicts.text([result])
    shown = judgement.details["figures"]
    assert shown["first_batch_seconds"] > shown["first_batch_seconds_without_workers"] >= 0
    assert len(shown["worker_bytes"]) == 2
    assert min(shown["worker_bytes"]) > 10 * 2**20
    assert not (tmp_path / "trained").exists()


@pytest.mark.soak
def test_elsewhere_what_cannot_be_pickled_is_named(tmp_path: Path) -> None:
    judgement = prove(planned(tmp_path, "linux", kept="self.name = lambda: 1")).judgement
    assert judgement.verdict.value == "unsupported here"
    assert "the dataset cannot be pickled for a worker" in judgement.evidence
    assert "(dataset.name)" in judgement.evidence


def test_elsewhere_with_nothing_to_run_it_needs_a_mac(tmp_path: Path) -> None:
    plan = planned(tmp_path, "linux", entry=("../train.py", "x"), entry_folder=tmp_path / "runs")
    assert {trial.subject.folder for trial in plan.trials} == {tmp_path / "runs"}, "where the user is"
    result = prove(planned(tmp_path, "linux", scripts=()))
    assert (result.judgement.verdict.value, result.judgement.evidence) == ("unsupported here", "needs darwin")
    assert result.observations == ()


def test_on_a_mac_the_preset_is_run_against_no_workers(tmp_path: Path) -> None:
    """The plan and the judgement, by trials that are run here in the Mac's place."""
    plan = planned(tmp_path, "darwin", read="os.getpid() == self.home or os._exit(7)", workers=1)
    control, treatment = plan.trials
    assert (control.is_control, control.factors.workers) == (True, 0)
    assert (treatment.factors.start_method, treatment.factors.workers) == ("spawn", 1)
    result = prove(plan)
    assert result.judgement.verdict.value == "confirmed"
    assert "ended with exit code 7" in result.judgement.evidence
    assert len(result.observations) == 2, "after a crash it is not tried again"
    assert planned(tmp_path, "darwin", scripts=()).outcome.verdict.value == "inconclusive"


@pytest.mark.soak
def test_on_a_mac_batches_that_are_read_are_not_called_safe(tmp_path: Path) -> None:
    judgement = prove(
        planned(tmp_path, "darwin", read="os.getpid() == self.home or index < 120 or os._exit(7)")
    ).judgement
    assert judgement.verdict.value == "not reproduced"  # the first eight batches are sound
    assert "no crash in 3 runs of 8 batches" in judgement.evidence
