"""Where loaders are made, with how many workers, for which dataset: each way to write it, and what is not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, Case, linters
from loading_cases import COMMAND_LINE, FILES, FUNCTIONS, MAKERS, NO_LOADER, OBJECTS, WORKERS

from forklint.config import Settings
from forklint.loading.loaders import Loader, loaders, loaders_for
from forklint.project.index import Project
from forklint.project.module import linked
from forklint.values.model import Constant
from forklint.values.numbers import Workers

HEAD = """\
import argparse, dataclasses, functools, json, os
import yaml
from torch.utils.data import DataLoader, Dataset

class Faces(Dataset):
    def __init__(self, root="faces"):
        self.root = root

faces = Faces()
"""
FILE = re.compile(r"^--- (\S+)\n", re.MULTILINE)


def made(text: str, folder: Path) -> list[Loader]:
    """The loaders of a project: a script with HEAD above it, and after ``--- name`` the files beside it."""
    script, *rest = FILE.split(text)
    (folder / "script.py").write_text(HEAD + script, encoding="utf-8")
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return list(loaders(Project(folder, Settings())))


def said(text: str, folder: Path) -> str:
    """What is known of the workers of the only loader: ``4``, ``4 by default``, ``some``, ``unknown``."""
    [loader] = made(text, folder)
    count = loader.workers
    if count.kind is Workers.UNKNOWN:
        return "unknown"
    number = str(count.number) if isinstance(count.number, int) else "some"
    return number + (" by default" if count.by_default else "")


ALL = {**WORKERS, **COMMAND_LINE, **OBJECTS, **FUNCTIONS, **FILES}


@pytest.mark.parametrize(("text", "expected"), ALL.values(), ids=ALL)
def test_number_of_workers(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


def test_the_source_is_linked(tmp_path: Path) -> None:
    [loader] = made(
        "from settings import WORKERS\nDataLoader(faces, num_workers=WORKERS)\n--- settings.py\n\nWORKERS = 2\n",
        tmp_path,
    )
    [link] = map(linked, loader.workers.links)
    assert (Path(link.path).name, link.row, link.message) == ("settings.py", 2, "`WORKERS` is 2 here")


def test_options_and_datasets(tmp_path: Path) -> None:
    [loader] = made("DataLoader(faces, pin_memory=os.environ, timeout=3)", tmp_path)
    timeout = loader.value("timeout")
    assert timeout is not None
    assert timeout.value == Constant(3)
    assert loader.value("shuffle") is None
    assert loader.dataset is not None
    assert loader.dataset.name == "Faces"
    project = loader.evaluator.project
    assert loaders_for(project, loader.dataset) == (loader,)


@pytest.mark.parametrize("text", MAKERS.values(), ids=MAKERS)
def test_what_makes_a_loader(text: str, tmp_path: Path) -> None:
    """Each gives four workers a dataset of Faces."""
    counts = [(loader.workers.number, loader.dataset and loader.dataset.name) for loader in made(text, tmp_path)]
    assert counts == [(4, "Faces")]


@pytest.mark.parametrize("text", NO_LOADER.values(), ids=NO_LOADER)
def test_what_makes_none(text: str, tmp_path: Path) -> None:
    assert made(text, tmp_path) == []


CHAINS = {
    "bad_loaded_elsewhere": [
        ("train.py", "`DataLoader` loads `ScanDataset` with 6 workers"),
        ("train.yaml", "`num_workers` is 6 here"),
    ],
    "bad_data_module": [
        ("module.py", "`DataLoader` loads `ClickDataset` with 4 workers by default"),
        ("clicks.yaml", "`num_workers` is 4 here"),
    ],
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_finding_names_dataset_loader_and_workers(name: str, tmp_path: Path) -> None:
    case = Case(FIXTURES / "FKL301_handle_in_init" / name)
    reports = [linters().of(file).lint(file) for file in case.copy_to(tmp_path) if file.suffix == ".py"]
    [finding] = [finding for report in reports for finding in report.findings]
    assert [(Path(link.path).name, link.message) for link in finding.chain] == CHAINS[name]
