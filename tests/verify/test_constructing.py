"""What the project says of the arguments with which a class is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.verify import constructing

INDEXES = """
from torch.utils.data import Dataset

class Index(Dataset):
    def __init__(self, folder, size=3):
        self.file = open(folder)

class Nested(Index):
    def __init__(self, folder):
        super().__init__(folder, 5)

class Plain(Nested):
    pass

class Pairs(Dataset):
    def __init__(self, index):
        self.index = index

def join():
    pairs = Index("rows")
    pairs = Pairs(pairs)
    return pairs

def prepare(opts, index, kind):
    if kind == "plain":
        index = Index(index, 4)
    else:
        index = Plain(index)
    return Pairs(index)
"""


def node_of(tmp_path: Path, name: str) -> constructing.Node:
    (tmp_path / "data.py").write_text(INDEXES)
    project = Project(tmp_path, Settings())
    module = project.module(tmp_path / "data.py")
    assert module is not None
    (facts,) = [facts for facts in module.classes if facts.name == name]
    return constructing.node_of(facts, project)


@pytest.mark.parametrize("name", ["Index", "Nested", "Plain"])
def test_a_name_that_is_bound_again_is_no_argument_of_its_own_class(tmp_path: Path, name: str) -> None:
    """``index = Index(index)``: what the constructor is given is the path that the name held before."""
    assert "class" not in [part[1] for _, part in node_of(tmp_path, name)[3]]


def test_an_object_of_another_class_is_an_argument(tmp_path: Path) -> None:
    assert [(key, part[0]) for key, part in node_of(tmp_path, "Pairs")[3]] == [("'index'", "Index")]
