"""What is known of handles and datasets from summaries: at least what the facts know once files are parsed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from fixture_cases import Case, all_cases

from forklint.config import Settings, SettingsFinder
from forklint.datasets.classes import is_dataset
from forklint.datasets.screening import DatasetScreen
from forklint.engine import Options
from forklint.handles.carried import Handles
from forklint.handles.opening_calls import OpeningCalls, Source
from forklint.handles.screening import HandleScreen
from forklint.knowledge.handles import openers
from forklint.linters import Linters
from forklint.project.index import Project
from forklint.project.meanings import Definition
from forklint.summaries.reading import summarise

KEPT = {
    "a file": b"self.file = open(path)\n",
    "over lines": b"self.file = (open\n    (path))\n",
    "nested calls": b"self.file = open(join(root, name(index)))\n",
    "in a list": b"self.files = [open(path) for path in paths]\n",
    "a part of it": b"self.images = h5py.File(path)['images']\n",
    "what is derived from it": b"self.rows = sqlite3.connect(path).execute(query)\n",
    "a method of it": b"self.begin = lmdb.open(path).begin\n",
    "a transaction that with ends": b"with lmdb.open(path).begin() as self.transaction:\n    pass\n",
    "with that does not close": b"with sqlite3.connect(path) as self.connection:\n    pass\n",
    "what with closes later": b"with closing(open(path)) as self.file:\n    pass\n",
    "given on": b"stack.enter_context(open(path))\n",
    "returned": b"def opened(path):\n    return open(path)\n",
    "a table that is read bit by bit": b"self.rows = pandas.read_csv(path, chunksize=100)\n",
    "an archive of numpy": b"self.arrays = numpy.load(root / 'faces.npz')\n",
    "dots that are no example": b"self.files = (\n    ...,\n    open(path),\n)\n",
    "a parenthesis in a text": b"self.files = open('('), open(')').read()\n",
}
NOT_KEPT = {
    "another name": b"self.file = reopen(path)\nself.file = opened(path)\n",
    "with": b"with open(path) as file:\n    self.rows = list(file)\n",
    "with, by a module": b"with gzip.open(path, 'rt') as file:\n    pass\n",
    "with of another": b"with suppress(OSError), open(path) as file:\n    pass\n",
    "dropped": b"open(path, 'w')\n",
    "a table that is read whole": b"self.table = pandas.read_csv(path)\n",
    "a text": b"about = 'self.file = open(path)'\n",
    "what is read at once": b"self.text = open(path).read()\n",
    "read at once, over lines": b"self.text = open(\n    path,\n).read()\n",
    "an array of numpy": b"self.array = numpy.load(root / 'faces.npy')\n",
    "a model": b"self.weights = torch.load(path)\n",
    "a comment": b"# self.file = open(path)\n",
    "an example": b'def show():\n    """>>> image = Image.open(path)"""\n',
    "a method of the same name": b"def reopen (self): ...\n",
}


def retains(text: bytes) -> bool:
    summary = summarise(ast.parse(text))
    source = Source(lambda pattern: pattern.search(text) is not None, lambda _: frozenset())
    return OpeningCalls(openers()).of(summary.scopes, source).retained


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_may_be_kept(text: bytes) -> None:
    assert retains(text)


@pytest.mark.parametrize("text", NOT_KEPT.values(), ids=NOT_KEPT)
def test_what_is_not_kept(text: bytes) -> None:
    assert not retains(text)


def test_a_definition_opens_what_is_opened_within_and_the_top_level_what_it_opens_itself() -> None:
    text = b"""
FILE = open("a")
OTHER, text = h5py.File("b"), open("c").read()

class A:
    def __init__(self):
        def inner():
            return open("d")

    def other(self):
        with open("e") as file:
            file.read()

class B:
    pass
"""
    summary, table = summarise(ast.parse(text)), OpeningCalls(openers())
    source = Source(lambda _: False, lambda _: frozenset())
    found = {key: table.of(summary.scopes_of(number), source) for number, key in enumerate(summary.keys)}
    assert table.given(summary.top, source) == {"FILE", "OTHER"}
    assert {key for key, openings in found.items() if openings.retained} == {"", "A", "A.__init__", "A.__init__.inner"}
    assert {key for key, openings in found.items() if not openings.named} == {"B"}


OF_DATASETS = {"FKL301", "FKL302", "FKL303", "FKL304"}
CASES = [one for one in all_cases() if one.path.suffix != ".ipynb" and one.path.parent.name[:6] in OF_DATASETS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_names_foresee_what_the_facts_find(case: Case, tmp_path: Path) -> None:
    case.copy_to(tmp_path)
    project = Project(tmp_path, Settings())
    handles, datasets = Handles(project, HandleScreen(project, openers())), DatasetScreen(project)
    for path in project.files:
        module = project.module(path)
        for facts in module.classes if module else ():
            if is_dataset(project, facts):
                assert datasets.may_be_dataset(Definition(path, module.number(facts.node)))
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


# How much is asked


def written(folder: Path, files: dict[str, str]) -> Project:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Project(folder, Settings())


def chained_functions(count: int) -> dict[str, str]:
    """Functions that open a file, and each call the next, and datasets of which each calls one of them."""
    parts = (
        f"""\
def open{number}(path):
    with open(path) as file:
        file.read()
    return open{(number + 1) % count}(path)

class Data{number}(Dataset):
    def __init__(self, path):
        self.file = open{number}(path)
"""
        for number in range(count)
    )
    return {"all.py": "\n".join(("from torch.utils.data import Dataset\n", *parts))}


def chained_classes(count: int) -> dict[str, str]:
    """Classes that open a file, and each make an object of the next; each in a file of its own, with one base."""
    return {
        "base.py": "class Base:\n    def keep(self, path):\n        self.file = open(path)\n",
        **{
            f"step{number}.py": f"""\
from base import Base
from step{(number + 1) % count} import Reader{(number + 1) % count}
from torch.utils.data import Dataset

class Reader{number}(Base, Dataset):
    def __init__(self, path):
        self.keep(path)
        self.next = Reader{(number + 1) % count}(path)

    def __getitem__(self, index):
        return self.file.read(), self.next[index]
"""
            for number in range(count)
        },
    }


def functions_of_one_file(count: int) -> dict[str, str]:
    """Functions of one file that all call each other, and classes that call all of them."""
    calls = "".join(f"    give{number}(path)\n" for number in range(count))
    functions = "".join(
        f"def give{number}(path):\n    with open(path) as file:\n        file.read()\n{calls}    return path\n"
        for number in range(count)
    )
    return {"all.py": f"from torch.utils.data import Dataset\n{functions}\nclass Data(Dataset):\n    pass\n"}


def effort(project: Project) -> tuple[int, int]:
    """How many questions are found, and how many functions called, while a project is linted for FKL301."""
    linters = Linters(SettingsFinder({"select": ("FKL301",)}, isolated=True), Options(with_fixes=False))
    files = sorted(project.root.glob("*.py"))
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        for path in files:
            linters.of(path).lint(path)
    finally:
        sys.setprofile(None)
    return linters.of(files[0]).project.questions.found, calls


@pytest.mark.parametrize("count", [40, pytest.param(80, marks=pytest.mark.soak)])
@pytest.mark.parametrize("make", [chained_functions, chained_classes], ids=lambda make: make.__name__)
def test_twice_as_many_definitions_that_lead_to_each_other_take_twice_the_effort(
    make: Callable[[int], dict[str, str]], count: int, tmp_path: Path
) -> None:
    """More of them than are followed from one class."""
    once, twice = (effort(written(tmp_path / str(size), make(size))) for size in (count, 2 * count))
    assert once[1] > 100 * count
    assert twice[0] < 2.3 * once[0]
    assert twice[1] < 2.5 * once[1]


def test_functions_that_all_call_each_other_take_effort_in_proportion_to_their_file(tmp_path: Path) -> None:
    """Each of n functions calls n: the file is n squared large, and so are the steps, but no more."""
    once, twice = (effort(written(tmp_path / str(size), functions_of_one_file(size))) for size in (30, 60))
    assert twice[0] < 2.3 * once[0]
    assert twice[1] < 5 * once[1]


# What an edit asks again


def edited(folder: Path, count: int) -> int:
    """How many questions are found again for all files when one that has nothing to do with the others is edited."""
    files = {**TREE, **{f"other{number}.py": OTHER.format(number) for number in range(count)}}
    project = written(folder, files)
    linters = Linters(SettingsFinder({"select": ("FKL301",)}, isolated=True), Options(with_fixes=False))
    paths = sorted(folder.glob("*.py"))
    linter = linters.of(paths[0])
    for path in paths:
        linter.relint(path)
    before = linter.project.questions.found
    linter.project.replace(folder / "other0.py", files["other0.py"].replace("+ 1", "+ 2").encode())
    found = {path.name for path in paths if linter.relint(path).findings}
    assert found == {"faces.py", "roads.py"}
    assert project.root == linter.project.root
    return linter.project.questions.found - before


OTHER = """\
import json

class Other{0}:
    def load(self, path):
        with open(path) as file:
            return json.load(file)

    def count(self, path):
        return len(self.load(path)) + 1
"""


def test_an_edit_elsewhere_asks_little_again_however_many_files_there_are(tmp_path: Path) -> None:
    few, many = (edited(tmp_path / str(count), count) for count in (5, 50))
    assert few == many
    assert few < 15


OPENING = {
    "import numpy as np": ("np.load", True),
    "from numpy import load": ("load", True),
    "from arrays import np": ("np.load", True),
    "import numpy as np; np = np.char": ("np.load", True),
    "def np(): pass": ("np.load", True),
    "pass": ("np.load", True),
    "import json": ("json.load", False),
    "from weights import torch": ("torch.load", True),
    "import torch": ("torch.load", False),
    "try: import numpy as np\nexcept ImportError: import cupy as np": ("np.load", True),
}
"""What stands at the top of a file, what is called there, and whether that may be `numpy.load`."""


@pytest.mark.parametrize(("top", "call", "opens"), [(top, *rest) for top, rest in OPENING.items()], ids=OPENING)
def test_a_call_of_something_else_that_is_imported_opens_nothing(
    top: str, call: str, opens: bool, tmp_path: Path
) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "arrays.py").write_text("import numpy as np\n", encoding="utf-8")
    (tmp_path / "weights.py").write_text("import torch\n", encoding="utf-8")
    method = f"    def __init__(self, path):\n        self.data = {call}(path)\n        self.names = self.data.files\n"
    (tmp_path / "faces.py").write_text(f"{top}\n\nclass Faces:\n{method}", encoding="utf-8")
    screen = HandleScreen(Project(tmp_path, Settings()), openers())
    assert screen.openings(tmp_path / "faces.py").retained == opens
