"""FKL603 proved: by what torch itself says of the call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from needed import need_torch
from proven import environment, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding
from forklint.project.index import Project
from forklint.verify import proving
from forklint.verify.experiments.base import Context
from forklint.verify.experiments.legacy_byte_tensor import LegacyByteTensor
from forklint.verify.words import Ending, Experiment, Observation

need_torch()

TEXT = "import torch\n\n\ndef read(data):\n    return torch.ByteTensor(torch.ByteStorage.from_buffer(data))\n"


def finding(folder: Path) -> Finding:
    (folder / "data.py").write_text(TEXT)
    report = Linter(Project(folder, Settings()), Options()).lint(folder / "data.py")
    (found,) = (one for one in report.findings if one.code == "FKL603")
    return found


def test_the_warning_confirms_it(tmp_path: Path) -> None:
    proof = prove(finding(tmp_path), tmp_path)
    assert proof.verdict() == "confirmed"
    assert proof.judgement.evidence.startswith("UserWarning: TypedStorage is deprecated.")


@pytest.mark.parametrize(
    ("control", "treatment", "verdict"),
    [
        ({"kind": "made", "warnings": [], "same": True}, {"kind": "made", "warnings": [], "same": True}, "refuted"),
        ({"kind": "made", "warnings": [], "same": True}, {"kind": "raised", "error": "AttributeError: x"}, "confirmed"),
        ({"kind": "raised", "error": "AttributeError: x"}, {"kind": "made", "warnings": ["x"]}, "inconclusive"),
        ({"kind": "made", "warnings": ["UserWarning: x"], "same": True}, {"kind": "made"}, "inconclusive"),
    ],
)
def test_another_torch_may_say_something_else(tmp_path: Path, control: dict, treatment: dict, verdict: str) -> None:
    """The judgement of what other versions show: one that is silent, one that has it no more, one too old."""
    context = Context(tmp_path, Settings(), environment())
    (planned,) = proving.plan([finding(tmp_path)], lambda _: context)
    assert isinstance(planned.outcome, Experiment)
    seen = [
        Observation(trial, Ending(0), (control if trial.is_control else treatment,)) for trial in planned.outcome.trials
    ]
    assert LegacyByteTensor(context).judge(planned.outcome, seen).verdict.value == verdict


def test_a_trial_that_was_stopped_decides_nothing(tmp_path: Path) -> None:
    context = Context(tmp_path, Settings(), environment())
    (planned,) = proving.plan([finding(tmp_path)], lambda _: context)
    assert isinstance(planned.outcome, Experiment)
    seen = [Observation(trial, Ending(stopped_for="time")) for trial in planned.outcome.trials]
    judgement = LegacyByteTensor(context).judge(planned.outcome, seen)
    assert judgement.verdict.value == "inconclusive"
    assert replace(judgement, evidence="").advice
