"""What is known of handles and datasets from bytes alone: at least what the facts know once files are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import Case, all_cases
from forklint.facts.handles.tokens import OpenerTokens

from forklint.config import Settings, SettingsFinder
from forklint.engine import Linters, Options
from forklint.facts.datasets.classes import is_dataset
from forklint.facts.datasets.screening import screen
from forklint.facts.handles.carried import Handles
from forklint.facts.handles.screening import HandleScreen
from forklint.knowledge.handles import openers
from forklint.project.index import Project

KEPT = {
    "a file": b"self.file = open(path)\n",
    "blanks": b"self.file = open \t(path)\n",
    "letters that it ends in": b"self.archive = ZipFile(path)\n",
    "nested calls": b"self.file = open(join(root, name(index)))\n",
    "in a list": b"self.files = [open(path) for path in paths]\n",
    "a part of it": b"self.images = h5py.File(path)['images']\n",
    "what is derived from it": b"self.rows = sqlite3.connect(path).execute(query)\n",
    "a transaction that with ends": b"with lmdb.open(path).begin() as self.transaction:\n",
    "with that does not close": b"with sqlite3.connect(path) as self.connection:\n",
    "with of another": b"with suppress(OSError), open(path) as file:\n",
    "an archive of numpy": b"self.arrays = numpy.load(root / 'faces.npz')\n",
    "dots that are no example": b"self.files = (\n    ...,\n    open(path),\n)\n",
    "a parenthesis in a text": b"self.files = open('('), open(')').read()\n",
}
NOT_KEPT = {
    "another name": b"self.file = reopen(path)\nself.file = opened(path)\n",
    "with": b"with open(path) as file:\n    self.rows = list(file)\n",
    "with, by a module": b"    with gzip.open(path, 'rt') as file:\n",
    "what is read at once": b"self.text = open(path).read()\n",
    "read at once, over lines": b"self.text = open(\n    path,\n).read()\n",
    "an array of numpy": b"self.array = numpy.load(root / 'faces.npy')\n",
    "a model": b"self.weights = torch.load(path)\n",
    "a comment": b"    # self.file = open(path)\n",
    "an example": b">>> image = Image.open(path)\n... image = Image.open(other)\n",
    "a method of the same name": b"def reopen (self): ...\n",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_may_be_kept(text: bytes) -> None:
    assert OpenerTokens(openers()).places(text)


@pytest.mark.parametrize("text", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_is_not_kept(text: bytes) -> None:
    assert not OpenerTokens(openers()).places(text)


OF_DATASETS = {"FKL301", "FKL302", "FKL303", "FKL304"}
CASES = [one for one in all_cases() if one.path.suffix != ".ipynb" and one.path.parent.name[:6] in OF_DATASETS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_names_foresee_what_the_facts_find(case: Case, tmp_path: Path) -> None:
    case.copy_to(tmp_path)
    project = Project(tmp_path, Settings())
    handles = Handles(project, HandleScreen(project, openers()))
    for path in project.files:
        module = project.module(path)
        for facts in module.classes if module else ():
            if is_dataset(project, facts):
                assert screen(project).may_reach_workers(project.families.classes_in(path))
        if module is not None and list(handles.carried_from(module)):
            assert handles.screen.may_store(path)


TREE = {
    "torch_like.py": "from torch.utils.data import Dataset as Data\nBase = Data\n",
    "store.py": """\
import h5py
from store_errors import fail

def open_store(path):
    with open(path) as index:
        if not index.read():
            fail()
    return _opened(path)

def _opened(path):
    return h5py.File(path)
""",
    "store_errors.py": "def fail():\n    raise OSError\n",
    "shortcuts.py": "from store import open_store as opened\n",
    "faces.py": """\
from shortcuts import opened
from torch_like import Base

class Faces(Base):
    def __init__(self, path):
        self.store = opened(path)

    def __getitem__(self, index):
        return self.store[index]
""",
    "mixins.py": """\
class Opening:
    def open_all(self, paths):
        self.keep([open(path) for path in paths])
""",
    "roads.py": """\
from mixins import Opening
from torch_like import Base

class Roads(Opening, Base):
    def __init__(self, paths):
        self.open_all(paths)

    def keep(self, files):
        self.files = files

    def __getitem__(self, index):
        return self.files[index].read()
""",
    "models.py": "class Model:\n    def __init__(self, path):\n        self.file = open(path)\n",
    "report.py": "class Report:\n    def save(self):\n        with open(self.path) as file:\n            file.read()\n",
    "numbers.py": "class Numbers:\n    def __init__(self, total):\n        self.total = total\n",
    "cities.py": "from torch_like import Base\n\nclass Cities(Base):\n    names = ()\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    for name, text in TREE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_files_of_a_tree_that_are_parsed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with a dataset that gets a handle, and those through which it does: neither names nor models."""
    parsed: set[str] = set()
    load = Project.load
    monkeypatch.setattr(Project, "load", lambda project, path: parsed.add(path.name) or load(project, path))
    linters = Linters(SettingsFinder({"select": ("FKL301",)}, isolated=True), Options(with_fixes=False))
    found = {path.name for path in sorted(tree.glob("*.py")) if linters.of(path).lint(path).findings}
    assert found == {"faces.py", "roads.py"}
    through = {"mixins.py", "store.py", "store_errors.py", "shortcuts.py", "torch_like.py"}
    assert parsed == {"faces.py", "roads.py", *through}


def test_a_file_that_is_ignored_by_the_project_is_looked_at_all_the_same(tree: Path) -> None:
    project = Project(tree, Settings(exclude=("faces.py",), base=tree))
    assert tree / "faces.py" not in project.files
    assert HandleScreen(project, openers()).may_store(tree / "faces.py")
