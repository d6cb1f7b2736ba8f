"""FKL501 proved for what objects of Lightning lost: what is no longer there, and what can no longer be assigned."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import need_torch
from proven import prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding
from forklint.project.index import Project

need_torch()

MODEL = """
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams


if __name__ == "__main__":
    pl.Trainer().tune(Model({}))
"""
NEW = """
import torch


class LightningModule(torch.nn.Module):
    @property
    def hparams(self):
        return {}


class Trainer:
    def fit(self, model): ...
"""
OLD = """
import torch


class LightningModule(torch.nn.Module):
    hparams = None


class Trainer:
    def fit(self, model): ...
    def tune(self, model): ...
"""
"""What the task asks of Lightning, which is not installed here."""


def found(folder: Path) -> list[Finding]:
    (folder / "train.py").write_text(MODEL)
    report = Linter(Project(folder, Settings()), Options()).lint(folder / "train.py")
    return [one for one in report.findings if one.code == "FKL501"]


@pytest.mark.parametrize(
    ("library", "verdict", "assigned", "read"),
    [
        (NEW, "confirmed", "; if it is defined, it is assigned", "'tune'; if it is defined, it is found"),
        (OLD, "refuted", "`hparams` can be assigned", "`tune` exists, on the class"),
    ],
    ids=["new", "old"],
)
def test_what_lightning_lost(tmp_path: Path, library: str, verdict: str, assigned: str, read: str) -> None:
    findings = found(tmp_path)
    (tmp_path / "pytorch_lightning.py").write_text(library)
    proofs = [prove(one, tmp_path) for one in findings]
    assert [proof.verdict() for proof in proofs] == [verdict, verdict]
    assert assigned in proofs[0].judgement.evidence
    assert read in proofs[1].judgement.evidence


@pytest.mark.soak
def test_what_lightning_itself_lost(tmp_path: Path) -> None:
    pytest.importorskip("pytorch_lightning")
    assert [prove(one, tmp_path).verdict() for one in found(tmp_path)] == ["confirmed", "confirmed"]
