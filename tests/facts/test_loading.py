"""Where loaders are made, with how many workers, for which dataset: each way to write it, and what is not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.facts.loading.loaders import Loader, loaders, loaders_for
from forklint.facts.loading.numbers import Workers
from forklint.facts.loading.values import Constant
from forklint.project.index import Project

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


WORKERS = {
    "nothing given": ("DataLoader(faces)", "0"),
    "a number": ("DataLoader(faces, num_workers=4)", "4"),
    "a number by position": ("DataLoader(faces, 8, True, None, None, 3)", "3"),
    "a constant": ("WORKERS = 4\nDataLoader(faces, num_workers=WORKERS)", "4"),
    "a constant of another module": (
        "from settings import WORKERS as nw\nDataLoader(faces, num_workers=nw)\n--- settings.py\nWORKERS = 2\n",
        "2",
    ),
    "a constant bound twice": ("W = 4\nif os.environ:\n    W = 0\nDataLoader(faces, num_workers=W)", "unknown"),
    "all processors but one": ("DataLoader(faces, num_workers=os.cpu_count() - 1)", "some"),
    "processors or one": ("DataLoader(faces, num_workers=os.cpu_count() or 1)", "some"),
    "two arms": ("DataLoader(faces, num_workers=2 if os.environ else 0)", "unknown"),
    "two arms above zero": ("DataLoader(faces, num_workers=2 if os.environ else 4)", "some"),
    "an environment variable": ("DataLoader(faces, num_workers=int(os.environ['W']))", "unknown"),
    "unpacked literal": ("DataLoader(faces, **{'num_workers': 4})", "4"),
    "unpacked dict()": ("options = dict(num_workers=4, pin_memory=True)\nDataLoader(faces, **options)", "4"),
    "unpacked with another inside": (
        "base = dict(num_workers=4)\noptions = {**base, 'pin_memory': True}\nDataLoader(faces, **options)",
        "4",
    ),
    "unpacked, the key set in the next line": (
        "options = {'batch_size': 8}\noptions['num_workers'] = 4\nDataLoader(faces, **options)",
        "4",
    ),
    "unpacked, the key set under a condition": (
        "options = {'num_workers': 4}\nif os.environ:\n    options['num_workers'] = 0\nDataLoader(faces, **options)",
        "unknown",
    ),
    "unpacked, updated": (
        "options = {'num_workers': 4}\noptions.update(json.load(open('o')))\nDataLoader(faces, **options)",
        "unknown",
    ),
    "unpacked from who knows where": ("def make(**options):\n    return DataLoader(faces, **options)\n", "unknown"),
    "unpacked from the only call": (
        "def make(**options):\n    return DataLoader(faces, **options)\nmake(num_workers=2)\n",
        "2",
    ),
}


@pytest.mark.parametrize(("text", "expected"), WORKERS.values(), ids=WORKERS)
def test_number_of_workers(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


def test_the_source_is_linked(tmp_path: Path) -> None:
    [loader] = made(
        "from settings import WORKERS\nDataLoader(faces, num_workers=WORKERS)\n--- settings.py\n\nWORKERS = 2\n",
        tmp_path,
    )
    [link] = loader.workers.links
    assert (Path(link.path).name, link.row, link.message) == ("settings.py", 2, "`WORKERS` is 2 here")


def test_options_and_datasets(tmp_path: Path) -> None:
    [loader] = made("DataLoader(faces, pin_memory=os.environ, timeout=3)", tmp_path)
    timeout = loader.value("timeout")
    assert timeout is not None
    assert timeout.value == Constant(3)
    assert loader.value("shuffle") is None
    assert loader.dataset is not None
    assert loader.dataset.name == "Faces"
    project = loader.follow.project
    assert loaders_for(project, loader.dataset) == (loader,)
