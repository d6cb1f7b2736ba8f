"""Missing classes of which it is known what they do: torch's loaders by other names, trainers, what keeps what it gets.

The hard cases: a class that is not known, an argument that is not kept, a number of workers that is made up.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from needed import need_torch
from proven import Proof, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.verify.tolerant import known_classes
from tests.verify.tolerant_trial import raised, run

need_torch()
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) for name in ("torchvision", "torch_geometric", "webdataset", "datasets")),
    reason="the packages are installed, so that nothing is replaced",
)
PICTURES = """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def loader_for(root, size):
    steps = transforms.Compose([transforms.ToTensor(), transforms.{step}(lambda picture: picture[:size])])
    return DataLoader(datasets.{dataset}(root, {given}), num_workers=1)
"""
GRAPHS = """
import torch
from torch_geometric.{module} import DataLoader
from torch_geometric.datasets import Planetoid

for batch in DataLoader(Planetoid("graphs"), 4, {workers}follow_batch=["x"]):
    print(batch)
"""


def proof_of(folder: Path, text: str, code: str) -> Proof:
    (folder / "train.py").write_text(text)
    found = Linter(Project(folder, Settings()), Options()).lint(folder / "train.py").findings
    return prove(next(one for one in found if one.code == code), folder, start_methods=("spawn",))


@pytest.mark.soak
@pytest.mark.parametrize("dataset", ["ImageFolder", "CIFAR10"])
def test_a_lambda_in_a_transform_is_sent_with_the_dataset(tmp_path: Path, dataset: str) -> None:
    proof = proof_of(tmp_path, PICTURES.format(step="Lambda", dataset=dataset, given="transform=steps"), "FKL204")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "<lambda>" in words
    assert "it does not occur" in words, "the control sends everything"


@pytest.mark.soak
@pytest.mark.parametrize("module", ["data", "loader"])
def test_a_loader_that_is_known_to_be_torchs_starts_processes(tmp_path: Path, module: str) -> None:
    proof = proof_of(tmp_path, GRAPHS.format(module=module, workers="num_workers=1, "), "FKL201")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert f"known classes torch_geometric.{module}.DataLoader as torch's DataLoader" in words


@pytest.mark.parametrize(
    ("made", "is_sent"),
    [
        ("transforms.Compose([lambda row: row])", False),
        ("transforms.RandomApply([transforms.Lambda(lambda row: row)], p=0.3)", False),
        ("datasets.CIFAR10('root', transform=lambda row: row)", False),
        ("datasets.ImageFolder('root', loader=lambda path: path)", False),
        ("Own('root', transform=lambda row: row)", False),
        ("webdataset.WebDataset('rows.tar').shuffle(10).decode('pil').map(lambda row: row)", False),
        ("webdataset.WebDataset('rows.tar').map(print).with_length(3)", True),
        ("webdataset.WebDataset('rows.tar').map(lambda row: row).with_length(3)", False),
        ("hub.load_dataset('rows', split='train').with_transform(lambda row: row)", False),
        ("hub.load_dataset('rows', split='train').map(lambda row: row)", True),
        ("hub.load_dataset('rows', split='train').with_transform(lambda row: row).to_pandas()", True),
        ("datasets.CIFAR10('root', lambda row: row)", True),  # by position: it may be anything
        ("datasets.CIFAR10('root', is_valid=lambda path: path)", True),
        ("transforms.functional.tune(lambda row: row)", True),
        ("torchvision.models.resnet18(lambda row: row)", True),
    ],
)
def test_what_is_kept_is_pickled_and_nothing_else(tmp_path: Path, made: str, *, is_sent: bool) -> None:
    text = (
        "import torchvision, webdataset\nimport datasets as hub\nfrom forklint_harness.pickling import error_of\n"
        "from torchvision import datasets, transforms\n\n"
        "class Own(datasets.ImageFolder):\n    pass\n\n"
        f"print('refused' if error_of({made}) else 'sent')\n"
    )
    seen = run(tmp_path, text, known=known_classes())
    assert raised(seen) is None, seen.output
    assert ("sent" in seen.output) is is_sent, seen.output


def test_a_class_derived_from_a_known_loader_is_one(tmp_path: Path) -> None:
    text = (
        "from torch.utils.data import DataLoader as Plain\nfrom torch_geometric.loader import DataLoader\n"
        "import torch_geometric as tg\n\nclass Mine(DataLoader):\n    def __init__(self, rows):\n"
        "        super().__init__(rows, batch_size=2, num_workers=1)\n\n"
        "print(isinstance(Mine([1, 2, 3]), Plain), Mine([1, 2, 3]).num_workers)\n"
        "print(list(tg.data.DataLoader([1, 2, 3], 2)))\n"
        "print(isinstance(tg.loader.OtherLoader([1, 2]), Plain))\n"
    )
    seen = run(tmp_path, text, known=known_classes())
    assert raised(seen) is None, seen.output
    assert seen.output.split("\n")[:3] == ["True 1", "[[1, 2], [3]]", "False"]


TRAINERS = """
import accelerate, ignite.engine
import pytorch_lightning as pl
from torch.utils.data import DataLoader

class Rows:
    def __len__(self):
        return 3
    def __getitem__(self, index):
        print("read", index, flush=True)
        return index

class Model(pl.LightningModule):
    def prepare_data(self):
        print("prepared")
    def setup(self, stage):
        self.rows = Rows() if stage == "{stage}" else []
    def {hook}(self):
        return [DataLoader(self.rows)]

loader = DataLoader(Rows())
{call}
print("done")
"""


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("pl.Trainer(gpus=1).fit(Model())", "prepared read 0 done"),
        ("pl.Trainer(gpus=1).test(model=Model())", "prepared read 0 done"),
        ("pl.Trainer().fit(pl.LightningModule(), loader)", "read 0 done"),
        ("pl.Trainer().fit(pl.LightningModule(), val_dataloaders={'a': loader})", "read 0 done"),
        ("pl.Trainer().tune(Model(), loader)", "done"),  # not known to iterate anything
        ("ignite.engine.Engine(print).run(loader, max_epochs=3)", "read 0 done"),
        ("[print(type(one).__name__) for one in accelerate.Accelerator().prepare(loader, 3)]", "DataLoader int done"),
        ("print(len(accelerate.Accelerator().prepare(loader)))", "3 done"),
    ],
)
def test_missing_trainers_do_with_loaders_what_they_are_known_to_do(tmp_path: Path, call: str, shown: str) -> None:
    is_test = ".test(" in call
    hook, stage = ("test_dataloader", "test") if is_test else ("train_dataloader", "fit")
    seen = run(tmp_path, TRAINERS.format(call=call, hook=hook, stage=stage), known=known_classes())
    assert raised(seen) is None, seen.output
    assert " ".join(seen.output.split()) == shown


def test_a_program_that_trains_with_a_missing_lightning_starts_processes(tmp_path: Path) -> None:
    text = TRAINERS.format(call="pl.Trainer().fit(Model())", hook="train_dataloader", stage="fit")
    text = text.replace("DataLoader(self.rows)", "DataLoader(self.rows, num_workers=1)")
    proof = proof_of(tmp_path, text, "FKL201")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "known classes pytorch_lightning.Trainer" in words


@pytest.mark.soak
def test_made_up_workers_of_a_known_loader_prove_nothing(tmp_path: Path) -> None:
    text = GRAPHS.format(module="loader", workers="num_workers=missing.count, ")
    text = text.replace("import torch\n", "import torch\nimport missing\n")
    seen = run(tmp_path, text, task="guard", start_method="spawn", known=known_classes())
    assert "num_workers" in seen.of("starts")[0]["made_up"]
