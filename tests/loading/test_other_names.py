"""What else a project calls something, and which classes may inherit from it, however it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from notebook_cases import write

from forklint.config import Settings
from forklint.loading.loaders import loaders
from forklint.project.guest import GuestProject
from forklint.project.index import Project

RENAMED = {
    "from torch.utils.data import DataLoader as DL": {"DL"},
    "import data\nLoader = data.DataLoader": {"Loader"},
    "Loader: type = DataLoader  # for now": {"Loader"},
    "Loader = (\n    torch.utils.data.DataLoader\n)": {"Loader"},
    "Loader = \\\n    DataLoader\n": {"Loader"},
    "Train = Valid = DataLoader;": {"Train", "Valid"},
    "Set, Loader = Dataset, DataLoader": {"Loader"},
    "Loader = Fast if fast else DataLoader": {"Loader"},
    "self.kind = DataLoader": {"kind"},
    "if fast:\n    Loader = Fast\nelse:\n    Loader = DataLoader\n": {"Loader"},
    "make = functools.partial(DataLoader, num_workers=2)": {"make"},
    "make = partial(\n    torch.utils.data.DataLoader,\n    num_workers=2)": {"make"},
    "class Ours(DataLoader):\n    pass": {"Ours"},
    "class Ours(\n    Mixin,  # why: (speed)\n    DataLoader,\n    metaclass=Meta,\n):\n    pass": {"Ours"},
    "class Ours(torch.utils.data.DataLoader[T]): pass": {"Ours"},
    "class Größe(DataLoader): pass": {"Größe"},
    "import data as d\nBase = d.DataLoader\nclass A(Base): pass\nclass B(A): pass": {"Base", "A", "B"},
    "loader = DataLoader(train)": set(),
    "kind = DataLoader.__name__\nkinds = DataLoader[int]": set(),
    "def train(loader: DataLoader, number=3) -> DataLoader: ...": set(),
    "run(loader_class=DataLoader, number=3)": set(),
    "same = kind == DataLoader": set(),
    "MyDataLoader = DataLoaders": set(),
}
LOADER = frozenset({"DataLoader"})
HEIRS = {
    "plain": "from base import Base\nclass Heir(Base): pass",
    "by another name": "from base import Base as B\nclass Heir(B): pass",
    "through its module": "import base as b\nclass Heir(b.Base): pass",
    "by an assignment": "import base\nif True:\n    B=base.Base\nclass Heir(B): pass",
    "by a star": "from base import *\nclass Heir(Base): pass",
    "over several lines": "from base import (\n    Base,\n)\nclass Heir(\n    Base,  # why: (all)\n):\n    pass",
    "generic": "from base import Base\nclass Heir(Base[int]): pass",
    "within a function": "def make():\n    from base import Base\n    class Heir(Base): pass\n    return Heir",
    "if there is one": "try:\n    from base import Base\nexcept ImportError:\n    raise\nclass Heir(Base): pass",
    "at two removes": "from between import Between\nclass Heir(Between): pass",
}
BASE = "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Base(Generic[T]): pass\n"


def project(root: Path, **files: str) -> Project:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return Project(root, Settings())


@pytest.mark.parametrize("text", RENAMED, ids=repr)
def test_what_a_loader_is_called(tmp_path: Path, text: str) -> None:
    made = project(tmp_path, other="x = 1", train=text)
    assert made.hierarchy.heirs(LOADER) == {"DataLoader", *RENAMED[text]}


def test_a_name_is_followed_from_file_to_file(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        a="from torch.utils.data import DataLoader as Base\nclass Ours(Base): pass",
        b="from a import Ours\nmake = partial(Ours, 4)",
        c="import b\nbuild = b.make",
    )
    assert made.hierarchy.heirs(LOADER) == {"DataLoader", "Base", "Ours", "make", "build"}


@pytest.mark.parametrize("how", HEIRS)
def test_a_subclass_is_found(tmp_path: Path, how: str) -> None:
    made = project(tmp_path, base=BASE, between="import base\nclass Between(base.Base): pass", heir=HEIRS[how])
    base = made.module(tmp_path / "base.py")
    assert base is not None
    assert "Heir" in {one.name for one in made.subclasses(base.classes[0])}


def test_a_class_that_only_shares_the_name_is_none(tmp_path: Path) -> None:
    made = project(tmp_path, base=BASE, heir="class Base: pass\nclass Heir(Base): pass")
    base = made.module(tmp_path / "base.py")
    assert base is not None
    assert list(made.subclasses(base.classes[0])) == []


def test_loaders_by_other_names_are_found(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        kinds="import torch.utils.data as d\nclass Ours(d.DataLoader): pass\n",
        train="import kinds\nfrom kinds import (\n    Ours as Mine,\n)\na = Mine(\n    data)\nb = kinds.Ours (data)\n",
        parts="from functools import partial\nfrom kinds import *\nmake = partial(Ours, num_workers=2)\nc = make(x)\n",
        plain="import os\nx = os.getcwd()\n",
    )
    assert [(one.call.module.path.stem, one.call.node.lineno) for one in loaders(made)] == [
        ("parts", 4),
        ("train", 5),
        ("train", 7),
    ]


def test_a_notebook_has_names_of_its_own(tmp_path: Path) -> None:
    made = project(tmp_path, train="x = 1")
    notebook = made.load(write(tmp_path / "run.ipynb", "from torch.utils.data import DataLoader as DL"))
    assert GuestProject(made, notebook).hierarchy.heirs(LOADER) == {"DataLoader", "DL"}
    assert made.hierarchy.heirs(LOADER) == {"DataLoader"}


CALLING = {
    "loader = DataLoader(x)": True,
    "loader = torch.utils.data.DataLoader(\n    x)": True,
    "make = functools.partial(DataLoader, num_workers=2)": True,
    "run(partial(data.DataLoader, num_workers=2))": True,
    "from other import Ours\nloader = Ours(x)": True,
    "import other\nloader = other.make(x)": True,
    "class Mine(DataLoader):\n    pass": False,
    "def DataLoader(x):\n    return x": False,
    "isinstance(x, (DataLoader, list))": False,
    "# DataLoader(x)\ntext = 'DataLoader(x)'": False,
}


@pytest.mark.parametrize("text", CALLING, ids=repr)
def test_what_may_call_a_loader(tmp_path: Path, text: str) -> None:
    other = "from torch.utils.data import DataLoader\nclass Ours(DataLoader): pass\nmake = Ours\n"
    made = project(tmp_path, other=other, train=text)
    assert made.hierarchy.may_call(LOADER, tmp_path / "train.py") == CALLING[text]


def test_a_function_elsewhere_leaves_what_may_call_a_loader_as_it_was(tmp_path: Path) -> None:
    made = project(tmp_path, other="from torch.utils.data import DataLoader as DL\n", train="DL(x)\n", plain="x = 1\n")
    assert [path.stem for path in made.files if made.hierarchy.may_call(LOADER, path)] == ["train"]
    before = made.questions.found
    made.replace(tmp_path / "plain.py", b"def run(loader):\n    return loader  # DataLoader\n")
    assert [path.stem for path in made.files if made.hierarchy.may_call(LOADER, path)] == ["train"]
    assert made.questions.found - before <= 3
    made.replace(tmp_path / "other.py", b"x = 1\n")
    assert [path.stem for path in made.files if made.hierarchy.may_call(LOADER, path)] == []
