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


def found(folder: Path, files: dict[str, str], place: str = "show.py") -> list[Finding]:
    for name, text in {"pyproject.toml": "", place: SHOWN, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / place
    return list(Linters(SettingsFinder({}), Options()).of(path).lint(path).findings)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "numpy\ntorch==1.8.1\n"),
        ("requirements.txt", "torch<=1.9,>1.0\n"),
        ("requirements.txt", "torch<1.13\n"),
        ("requirements.txt", "torch>=1.4,!=1.6.0, <1.10\n"),
        ("requirements.txt", "torch == 1.8.1+cu111\n"),
        ("src/requirements.txt", "torch==1.8.1\n"),
        ("environment.yml", "dependencies:\n  - pytorch=1.7.1=py3.8_cuda11\n"),
        ("pyproject.toml", '[project]\nname = "show"\nversion = "1"\ndependencies = ["torch~=1.10.1"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "<1.10"\n'),
        ("cog.yaml", "build:\n  python_packages:\n    - torch==1.12.0\n"),
        ("Pipfile", '[packages]\ntorch = "==1.8.1"\n'),
        ("training.yaml", "name: training\ndependencies:\n  - pip:\n      - torch==1.0.0\n"),
        ("install.sh", "pip install numpy torch==1.12.0\n"),
        ("requirements.txt", "numpy           1.19.2\ntorch           1.7.1\n"),
    ],
)
def test_a_project_for_an_older_torch(tmp_path: Path, name: str, text: str) -> None:
    assert not found(tmp_path, {name: text}, "src/show.py")


def test_a_list_that_powershell_wrote(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy==1.19.2\ntorch==1.8.1\n", encoding="utf-16")
    assert not found(tmp_path, {}, "src/show.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", ""),
        ("requirements.txt", "torch>=1.8\n"),
        ("requirements.txt", "torch<=1.13\n"),
        ("requirements.txt", "torch>=1.4,<2\n"),
        ("requirements.txt", "torch==2.1.0\n"),
        ("requirements.txt", "torchvision==0.9.1\n"),
        ("requirements.txt", "pytorch-lightning==1.5\n"),
        ("other/requirements.txt", "torch==1.8.1\n"),
        ("notes.yaml", "torch==1.8.1\n"),
        ("requirements.txt", "torch~=1.12\n"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.10"\n'),
    ],
)
def test_a_project_for_any_other_torch(tmp_path: Path, name: str, text: str) -> None:
    (finding,) = found(tmp_path, {name: text})
    assert finding.severity is Severity.ERROR
    assert finding.message.endswith("since torch 1.13")


def test_torch_has_no_such_method() -> None:
    need_torch()
    from torch.utils.data import DataLoader

    with pytest.raises(AttributeError, match="next"):
        iter(DataLoader([1])).next()
