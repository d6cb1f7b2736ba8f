"""FKL501 and FKL502 in a project as it was cloned: packages are missing, and no verdict is drawn from a stand-in."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

need_torch()

MODEL = """
import no_such_package
import torch
from no_such_package.parts import Part, layer
from {relative}shapes import width

SETTINGS = no_such_package.load("settings.yaml")
model = no_such_package.Trainer(SETTINGS).fit()


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Part(width)

    def embed(self, x):
        return self.body(x)

    def forward(self, x):
        return self.embedd(x)
"""
NETWORK = '\n\nif __name__ == "__main__":\n    Network()(torch.zeros(2))\n'


@pytest.fixture
def prove(command, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Verify one file; gives the one experiment."""

    def run(file: str, code: str, *options: str) -> dict[str, Any]:
        words = ("--select", code, "--isolated", "--output-format", "json", "-q", *options)
        done = command("verify", file, *words, cwd=tmp_path)
        (experiment,) = json.loads(done.stdout)["experiments"]
        return experiment

    return run


@pytest.mark.parametrize("relative", ["", pytest.param(".", marks=pytest.mark.soak)])
def test_a_missing_package_does_not_hide_a_missing_method(relative: str, prove, tmp_path: Path) -> None:
    """Without an ``__init__.py``, too: a file that imports by a dot is one of a package."""
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "shapes.py").write_text("width = 3\n")
    (tmp_path / "nets" / "model.py").write_text(MODEL.format(relative=relative) + NETWORK)
    found = prove("nets/model.py", "FKL501")
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "'Network' object has no attribute 'embedd'" in found["evidence"]
    assert "with the fix, `embed`, it exists" in found["evidence"]
    assert "replaced: packages no_such_package" in found["evidence"]


UNKNOWN_BASE = """
import torch
from no_such_package import Base


class Network(Base):
    def forward(self, x):
        return self.embedd(x)
"""


@pytest.mark.soak
def test_a_missing_base_may_have_any_name(prove, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(UNKNOWN_BASE)
    found = prove(".", "FKL501", "--suspect", "model.py:8:FKL501")
    assert found["verdict"] == "inconclusive"
    assert "its base class no_such_package.Base is missing" in found["evidence"]


def test_a_class_that_a_missing_function_makes_is_no_proof(prove, tmp_path: Path) -> None:
    text = "import no_such_package\n\n\n@no_such_package.made\nclass Network:\n    def run(self):\n        self.go()\n"
    (tmp_path / "model.py").write_text(text)
    assert prove(".", "FKL501", "--suspect", "model.py:7:FKL501")["verdict"] == "inconclusive"


@pytest.mark.skipif(importlib.util.find_spec("pytorch_lightning") is not None, reason="it is installed here")
def test_a_missing_base_that_is_known_hides_only_what_it_gives(prove, tmp_path: Path) -> None:
    text = "import pytorch_lightning as pl\n\n\nclass Network(pl.LightningModule):\n"
    text += "    def embed(self, x):\n        return x\n"
    calls = "\n    def training_step(self, batch, index):\n        return self.embedd(batch)\n"
    (tmp_path / "model.py").write_text(text + calls)
    found = prove("model.py", "FKL501")
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "neither Network nor a base that is here has 'embedd'" in found["evidence"]


MISSPELT = """
import no_such_package
import torch


class Records(torch.utils.data.Dataset):
    transform = no_such_package.Compose([])

    def __getitm__(self, index):
        return index

    def __len__(self):
        return 3
"""


@pytest.mark.soak
def test_a_misspelt_hook_is_proved_where_a_package_is_missing(prove, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(MISSPELT)
    found = prove("data.py", "FKL502")
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "NotImplementedError" in found["evidence"]


@pytest.mark.soak
def test_with_all_packages_nothing_is_stood_in(prove, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(MISSPELT.replace("no_such_package", "types").replace(".Compose([])", ""))
    found = prove("data.py", "FKL502")
    assert found["verdict"] == "confirmed"
    assert "replaced: " not in found["evidence"]


@pytest.mark.soak
def test_a_fix_whose_name_is_not_there_either_decides_nothing(prove, tmp_path: Path, monkeypatch) -> None:
    """What the fix names is the control: if that is not there, the class is not what lint takes it for."""
    (tmp_path / "model.py").write_text(
        "import torch\n\n\nclass Network(torch.nn.Module):\n    def embed(self, x):\n        return x\n\n"
        "    def forward(self, x):\n        return self.embedd(x)\n\n\ndel Network.embed\n"
    )
    found = prove("model.py", "FKL501")
    assert found["verdict"] == "inconclusive", found["evidence"]
    assert "`embed`, which the fix uses, does not exist either" in found["evidence"]
