"""Of which classes the dataset of a loader may be, and where just one is sure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.loading.datasets import class_of, classes_of
from forklint.project.index import Project
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

HEAD = """\
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset

class Faces(Dataset): ...
class Roads(Dataset): ...
"""

SURE = {
    "a call": "loader = DataLoader(Faces())",
    "a name": "faces = Faces()\nloader = DataLoader(faces)",
    "given anew": "data = Roads()\ndata = Faces()\nloader = DataLoader(data)",
    "given anew later": "data = Faces()\nloader = DataLoader(data)\ndata = Roads()",
    "wrapped under its own name": "data = Faces()\ndata = Subset(data, range(8))\nloader = DataLoader(data)",
    "of its branch": "if full:\n    data = Roads()\nelse:\n    data = Faces()\n    loader = DataLoader(data)",
    "an attribute, None at first": """\
class Training:
    def __init__(self):
        self.data = None
    def setup(self):
        self.data = Faces()
    def loader(self):
        return DataLoader(self.data)
""",
    "what a function gives": "def build():\n    return Faces()\nloader = DataLoader(build())",
    "a wrapper of two": "loader = DataLoader(ConcatDataset([Faces(), Faces()]))",
    "an argument": "def train(data):\n    return DataLoader(data)\ntrain(Faces())",
}
UNSURE = {
    "either": ("data = Faces() if full else Roads()\nloader = DataLoader(data)", {"Faces", "Roads"}),
    "two branches": ("data = Faces()\nif full:\n    data = Roads()\nloader = DataLoader(data)", {"Faces", "Roads"}),
    "round a loop": (
        "data = Faces()\nfor _ in range(2):\n    loader = DataLoader(data)\n    data = Roads()",
        {"Faces", "Roads"},
    ),
    "Faces, or what is not known": ("data = Faces() if full else load()\nloader = DataLoader(data)", {"Faces"}),
    "an argument of the command": ("def train(data=None):\n    return DataLoader(data)", set()),
    "each of a list": (
        "data = Roads()\nloaders = [DataLoader(data) for data in (Faces(), Roads())]",
        {"Faces", "Roads"},
    ),
    "of a library": ("import datasets\nloader = DataLoader(datasets.load_dataset('faces'))", set()),
}


def told(text: str, folder: Path) -> tuple[set[str], str]:
    """The classes that the dataset of the only loader of a script may be of, and the one that is sure."""
    (folder / "script.py").write_text(HEAD + text, encoding="utf-8")
    project = Project(folder, Settings())
    module = project.load(folder / "script.py")
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    [call] = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "DataLoader"]
    source = Expression(module, module.scope_at(call), call.args[0])
    sure = class_of(Evaluator(project), source)
    return {one.name for one in classes_of(Evaluator(project), source)}, sure.name if sure else ""


@pytest.mark.parametrize("text", SURE.values(), ids=SURE)
def test_one_class_is_sure(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == ({"Faces"}, "Faces")


@pytest.mark.parametrize(("text", "classes"), UNSURE.values(), ids=UNSURE)
def test_none_is_sure(text: str, classes: set[str], tmp_path: Path) -> None:
    assert told(text, tmp_path) == (classes, "")
