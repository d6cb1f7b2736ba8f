"""FKL501 on ``iter(loader).next()``: torch has no such method, unless the project asks for an old one."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import need_torch

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Finding, Severity

SHOWN = """from torch.utils.data import DataLoader


def shown(dataset):
    return iter(DataLoader(dataset)).next()
"""


def found(folder: Path, files: dict[str, str]) -> Finding:
    for name, text in {"pyproject.toml": "", "show.py": SHOWN, **files}.items():
        (folder / name).write_text(text)
    path = folder / "show.py"
    (finding,) = Linters(SettingsFinder({}), Options()).of(path).lint(path).findings
    return finding


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("requirements.txt", "numpy\ntorch==1.8.1\n", "1.8"),
        ("requirements.txt", "torch<=1.9,>1.0\n", "1.9"),
        ("environment.yml", "dependencies:\n  - pytorch=1.7.1=py3.8_cuda11\n", "1.7"),
        ("pyproject.toml", '[project]\nname = "show"\nversion = "1"\ndependencies = ["torch~=1.10"]\n', "1.10"),
    ],
)
def test_a_project_for_an_older_torch(tmp_path: Path, name: str, text: str, version: str) -> None:
    finding = found(tmp_path, {name: text})
    assert finding.severity is Severity.INFO
    assert finding.message.endswith(f"since torch 1.13; `{name}` asks for torch {version}, which had it")


@pytest.mark.parametrize(
    "text", ["", "torch>=1.8\n", "torch==2.1.0\n", "torchvision==0.9.1\n", "pytorch-lightning==1.5\n"]
)
def test_a_project_for_any_other_torch(tmp_path: Path, text: str) -> None:
    finding = found(tmp_path, {"requirements.txt": text})
    assert finding.severity is Severity.ERROR
    assert finding.message.endswith("since torch 1.13")


def test_torch_has_no_such_method() -> None:
    need_torch()
    from torch.utils.data import DataLoader

    with pytest.raises(AttributeError, match="next"):
        iter(DataLoader([1])).next()
