"""FKL502 proved: a hook that is not there is confirmed by what torch raises, one that something answers is refuted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from needed import need_torch
from proven import Proof, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.knowledge.hooks import removed_hooks
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project

need_torch()

HEAD = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n\n\n"
SILENT = """
class Clips(Dataset):
    def __len__(self):
        return 2

    def __get_item__(self, index):
        return 1
"""
STREAM = """
class Lines(IterableDataset):
    def __itr__(self):
        return iter('ab')
"""
SLOW = """
class Rows(Dataset):
    def __getitem__(self, index):
        return 1

    def __getitems_(self, indices):
        return [1]
"""
LOADER = "if __name__ == '__main__':\n    loader = DataLoader([1, 2], num_worker=2)\n"


def found(folder: Path, text: str) -> list[Finding]:
    (folder / "data.py").write_text(HEAD + text)
    report = Linter(Project(folder, Settings()), Options()).lint(folder / "data.py")
    return [one for one in report.findings if one.code == "FKL502"]


def forced(folder: Path, **proof: Any) -> Proof:
    """The verdict for a finding that forklint does not make."""
    place = str(folder / "data.py")
    return prove(Finding("FKL502", "misspelt-hook", Severity.ERROR, place, Span(1, 1, 1, 1), "", proof=proof), folder)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        (SILENT, "NotImplementedError: Subclasses of Dataset should implement __getitem__."),
        pytest.param(STREAM, "TypeError: Can't instantiate abstract class Lines", marks=pytest.mark.soak),
        pytest.param(
            SLOW, "the class has `__getitems_` but no `__getitems__`: no base class has one", marks=pytest.mark.soak
        ),
        pytest.param(
            LOADER,
            "TypeError: DataLoader.__init__() got an unexpected keyword argument 'num_worker'",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_what_is_not_found_is_confirmed(tmp_path: Path, text: str, evidence: str) -> None:
    (finding,) = found(tmp_path, text)
    proof = prove(finding, tmp_path)
    assert proof.verdict() == "confirmed"
    assert proof.judgement.evidence.startswith(evidence)


@pytest.mark.soak
def test_a_hook_that_another_module_supplies_is_there(tmp_path: Path) -> None:
    """The rule cannot see it: it is silent where the class itself has both."""
    (tmp_path / "added.py").write_text("def add(kind):\n    setattr(kind, '__get' + 'item__', lambda self, i: i)\n")
    (finding,) = found(tmp_path, f"{SILENT}\n\n__import__('added').add(Clips)\n")
    proof = prove(finding, tmp_path)
    assert (proof.verdict(), proof.judgement.evidence) == ("refuted", "`__getitem__` exists: `data.Clips` defines it")


@pytest.mark.soak
def test_a_sound_class_and_a_sound_keyword_are_refuted(tmp_path: Path) -> None:
    text = "class Clips(Dataset):\n    def __getitem__(self, index):\n        return 1\n"
    assert found(tmp_path, text) == []
    place = (str(tmp_path / "data.py"), "Clips")
    proof = forced(tmp_path, **{"class": place, "name": "__get_item__", "meant": "__getitem__", "effect": ""})
    assert proof.verdict() == "refuted"
    proof = forced(tmp_path, loader="torch.utils.data.DataLoader", name="pin_memory", meant="drop_last")
    assert (proof.verdict(), proof.judgement.evidence) == ("refuted", "the loader accepts `pin_memory`")


@pytest.mark.soak
def test_a_module_that_cannot_be_imported_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def\n")
    (finding,) = found(tmp_path, f"import broken\n\n\n{SILENT}")
    proof = prove(finding, tmp_path)
    assert (proof.verdict(), proof.judgement.advice) == ("inconclusive", "make the module importable here")


MODEL = """
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def validation_epoch_end(self, outputs):
        print(outputs)
"""
LIGHTNING = """
import torch

__version__ = "{version}"


class LightningModule(torch.nn.Module):
    def training_step(self): ...
    def validation_step(self): ...
    def test_step(self): ...
    def configure_optimizers(self): ...


class Trainer:
    def __init__(self, **options): ...

    def validate(self, model, loader):
        if {refuses} and hasattr(model, "validation_epoch_end"):
            raise NotImplementedError("Support for `validation_epoch_end` has been removed")
"""
"""What the task asks of Lightning, which is not installed here."""


@pytest.mark.parametrize(
    ("library", "verdict", "evidence"),
    [
        (
            LIGHTNING.format(version="2.6.6", refuses=True),
            "confirmed",
            "pytorch_lightning 2.6.6: NotImplementedError: Support for `validation_epoch_end` has been removed",
        ),
        pytest.param(
            LIGHTNING.format(version="1.9.5", refuses=False),
            "refuted",
            "pytorch_lightning 1.9.5 accepts `validation_epoch_end`",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "",
            "inconclusive",
            "the Lightning that the class derives from is not installed here",
            marks=pytest.mark.soak,
        ),
    ],
    ids=["refused", "accepted", "missing"],
)
def test_a_hook_that_lightning_removed(tmp_path: Path, library: str, verdict: str, evidence: str) -> None:
    (finding,) = found(tmp_path, MODEL)
    if library:
        (tmp_path / "pytorch_lightning.py").write_text(library)
    proof = prove(finding, tmp_path)
    assert (proof.verdict(), evidence in proof.judgement.evidence.split("; ")) == (verdict, True)


CALLBACK = """
from pytorch_lightning import Callback
class Timer(Callback):
    def on_epoch_end(self, trainer, pl_module):
        print("one more")
"""
PLAIN = "__version__ = '{version}'\nclass Callback:\n    def on_train_epoch_end(self): ...\n    {further}\n"


@pytest.mark.parametrize(
    ("library", "verdict", "evidence"),
    [
        (
            PLAIN.format(version="2.6.6", further=""),
            "confirmed",
            "`Callback` of pytorch_lightning 2.6.6 has no `on_epoch_end`; it has `on_train_epoch_end`",
        ),
        (
            PLAIN.format(version="1.7.7", further="def on_epoch_end(self): ..."),
            "refuted",
            "`Callback` of pytorch_lightning 1.7.7 has `on_epoch_end`",
        ),
    ],
    ids=["uncalled", "called"],
)
def test_a_hook_that_lightning_no_longer_calls(tmp_path: Path, library: str, verdict: str, evidence: str) -> None:
    (finding,) = found(tmp_path, CALLBACK)
    (tmp_path / "pytorch_lightning.py").write_text(library)
    proof = prove(finding, tmp_path)
    assert (proof.verdict(), proof.judgement.evidence) == (verdict, evidence)


@pytest.mark.soak
def test_lightning_has_none_of_the_hooks_that_it_no_longer_calls() -> None:
    lightning = pytest.importorskip("pytorch_lightning")
    for hook in (one for each in removed_hooks().values() for one in each):
        assert not hasattr(getattr(lightning, hook.kind), hook.name)
        assert hasattr(getattr(lightning, hook.kind), hook.instead)


@pytest.mark.soak
def test_lightning_refuses_a_removed_hook(tmp_path: Path) -> None:
    pytest.importorskip("pytorch_lightning")
    (finding,) = found(tmp_path, MODEL)
    assert prove(finding, tmp_path).verdict() == "confirmed"
