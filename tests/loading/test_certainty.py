"""A hazard of a dataset weighs in full only where workers may get it, as the project is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards import HAZARD

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Finding, Severity

INSTALLABLE = {"pyproject.toml": '[project]\nname = "words"\nversion = "1"\n', "words/__init__.py": ""}
IMPORTS = "from words.data import Words\n\nprint(len(Words('words')))\n"
MAKES = "from torch.utils.data import DataLoader\n\n\ndef load(data):\n    return DataLoader(data, num_workers=4)\n"
LOADS = """\
import argparse

from torch.utils.data import DataLoader

from words.data import Words

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=NUMBER)
    args = parser.parse_args()
    for batch in DataLoader(Words("words"), num_workers=args.workers):
        print(batch)
"""
LATENT = "latent: nothing in this library loads it with workers"
ONLY_IF_ASKED = "only if the number of workers, 0 by default, is raised"


def findings(folder: Path, files: dict[str, str]) -> tuple[Finding, ...]:
    """The findings in ``words/data.py`` of a project."""
    (folder / ".git").mkdir(parents=True)
    for name, text in {**files, "words/data.py": HAZARD}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / "words" / "data.py"
    return tuple(Linters(SettingsFinder({}), Options()).of(path).lint(path).findings)


def found(folder: Path, files: dict[str, str]) -> Finding:
    """The one finding in ``words/data.py`` of a project."""
    (finding,) = findings(folder, files)
    return finding


@pytest.mark.parametrize(
    "files",
    [
        INSTALLABLE,
        {"setup.py": "from setuptools import setup\n\nsetup()\n", "words/__init__.py": ""},
        {**INSTALLABLE, "tests/test_words.py": LOADS.replace("NUMBER", "2"), "examples/train.py": IMPORTS},
        {**INSTALLABLE, "other.py": "print('it has nothing to do with it')\n"},
    ],
    ids=["declared", "setup.py", "tests and examples", "unrelated program"],
)
def test_what_a_library_never_loads_is_latent(tmp_path: Path, files: dict[str, str]) -> None:
    finding = found(tmp_path, files)
    assert finding.severity is Severity.INFO
    assert finding.message.endswith(f"({LATENT})")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"words/__init__.py": ""},
        {**INSTALLABLE, "train.py": IMPORTS},
        {**INSTALLABLE, "words/cli.py": f"{IMPORTS}\nif __name__ == '__main__':\n    print()\n"},
        {**INSTALLABLE, "words/loading.py": MAKES},
        {**INSTALLABLE, "words/cli.py": LOADS.replace("NUMBER", "2")},
        {**INSTALLABLE, "words/cli.py": LOADS.replace("default=NUMBER", "required=True")},
    ],
    ids=["no package", "not declared", "program", "program inside", "any dataset", "workers", "number unknown"],
)
def test_what_may_be_loaded_weighs_in_full(tmp_path: Path, files: dict[str, str]) -> None:
    finding = found(tmp_path, files)
    assert finding.severity is Severity.ERROR
    assert LATENT not in finding.message
    assert ONLY_IF_ASKED not in finding.message


WITHOUT = {"train.py": LOADS.replace("args.workers", "0").replace("NUMBER", "0")}


def test_loaders_without_workers(tmp_path: Path) -> None:
    """Whoever installs a library may load its dataset with workers; a project's own programs are all there are."""
    assert not findings(tmp_path / "project", WITHOUT)
    finding = found(tmp_path / "library", {**INSTALLABLE, **WITHOUT})
    assert finding.severity is Severity.INFO
    assert finding.message.endswith("(only once a loader of the dataset has workers: none in this project has)")


def test_workers_that_must_be_asked_for(tmp_path: Path) -> None:
    finding = found(tmp_path, {**INSTALLABLE, "train.py": LOADS.replace("NUMBER", "0")})
    assert finding.severity is Severity.INFO
    assert finding.message.endswith(f"({ONLY_IF_ASKED})")


KEEPS = """
from torch.utils.data import DataLoader, Dataset

from words.data import Words


class Texts(Dataset):
    def __init__(self):
        self.words = Words("words")

    def __getitem__(self, index):
        return self.words[index]


def main(workers=NUMBER):
    print(list(DataLoader(Texts(), num_workers=workers)))
"""


@pytest.mark.parametrize(("number", "doubt"), [("0", ONLY_IF_ASKED), ("2", "")])
def test_a_dataset_that_another_one_keeps(tmp_path: Path, number: str, doubt: str) -> None:
    finding = found(tmp_path, {"train.py": KEEPS.replace("NUMBER", number)})
    assert finding.severity is (Severity.INFO if doubt else Severity.ERROR)
    assert finding.message.endswith(f"({doubt})" if doubt else "cannot pickle 'Environment' object")


SEEDED = """import numpy as np
from torch.utils.data import DataLoader


def seed_worker(worker_id):
    np.random.seed(7)


def loader(dataset, workers=NUMBER):
    return DataLoader(dataset, num_workers=workers, worker_init_fn=seed_worker)
"""


@pytest.mark.parametrize(("number", "severity"), [("0", Severity.INFO), ("4", Severity.WARNING)])
def test_seeds_of_workers_that_must_be_asked_for(tmp_path: Path, number: str, severity: Severity) -> None:
    path = tmp_path / "seeded.py"
    path.write_text(SEEDED.replace("NUMBER", number))
    (finding,) = Linters(SettingsFinder({}), Options()).of(path).lint(path).findings
    assert finding.severity is severity
    assert finding.message.endswith(f"({ONLY_IF_ASKED})") == (severity is Severity.INFO)
