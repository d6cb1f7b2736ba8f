"""The screen of unknown names against the facts: where these look twice at a name, it must let the file pass."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.project.index import Project
from forklint.rules.unknown_method.objects import Objects
from forklint.rules.unknown_method.screening import Screening
from forklint.rules.unknown_method.torch_names import misspelt

FIXTURES = Path(__file__).parents[1] / "fixtures"
DEFINED = re.compile(rb"\bdef (\w{4,})\(")


def project_of(folder: Path) -> Project:
    return Project(folder, SettingsFinder({}, config=None, isolated=True).for_file(folder / "any.py"))


def unsafely_passed_over(project: Project, each: int = 1) -> Iterator[Path]:
    """Files, of each so many, in which the facts find a name that is surely missing, and the screen finds none."""
    objects, screening = Objects(project), Screening(project)
    for path in project.files[::each]:
        module = project.module(path)
        if module is None or screening.may_lack(path):
            continue
        doubted: list[object] = [*objects._on_self(module), *objects._on_variables(module)]
        doubted += objects._on_attributes(module)
        if doubted or [*misspelt(project, module)]:
            yield path


@pytest.mark.parametrize("each", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("folder", sorted(FIXTURES.glob("FKL*")), ids=lambda folder: folder.name)
def test_nothing_is_passed_over_that_the_facts_doubt(folder: Path, each: int) -> None:
    """In all fixtures of the rule whose names these are; in make test, in a third of the others."""
    assert not [*unsafely_passed_over(project_of(folder), 1 if "FKL501" in folder.name else each)]


@pytest.mark.soak
def test_nor_where_methods_were_renamed() -> None:
    project = project_of(FIXTURES / "FKL501_unknown_method")
    chance = random.Random(501)
    doubted = 0
    for _ in range(4):
        written = {}
        for path in chance.sample(project.files, len(project.files) // 3):
            data = project.data(path)
            methods = [*DEFINED.finditer(data)]
            if methods:
                start = chance.choice(methods).start(1)
                written[path] = data
                project.replace(path, data[:start] + b"other_" + data[start:])
        assert not [*unsafely_passed_over(project)]
        doubted += sum(Screening(project).may_lack(path) for path in written)
        for path, data in written.items():
            project.replace(path, data)
    assert doubted > 10


def test_most_files_need_no_tree() -> None:
    screening = Screening(project_of(FIXTURES / "FKL301_handle_in_init"))
    files = screening.project.files
    assert sum(map(screening.may_lack, files)) < len(files) / 4


NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def encode(self, x):\n        return x\n"
OF_BASE = NET.replace("Net", "Base")
KINDS = {
    "on self": {"run.py": NET + "    def forward(self, x):\n        return self.{name}(x)\n"},
    "on cls": {"run.py": NET + "    @classmethod\n    def build(cls):\n        return cls.{name}(1)\n"},
    "in a nested function": {
        "run.py": NET + "    def forward(self, x):\n        def go(): self.{name}(x)\n        return go()\n"
    },
    "of a base": {
        "base.py": OF_BASE,
        "run.py": "from base import Base\n\n\nclass Net(Base):\n    def forward(self, x):\n        self.{name}(x)\n",
    },
    "of a base of a base": {
        "base.py": OF_BASE,
        "mid.py": "import base\n\n\nclass Middle(base.Base):\n    pass\n",
        "run.py": "from mid import *\n\n\nclass Net(Middle):\n    def forward(self, x):\n        self.{name}(x)\n",
    },
    "of a base with another name": {
        "base.py": OF_BASE + "\n\nOther = Base\n",
        "run.py": "from base import Other\n\n\nclass Net(Other):\n    def forward(self, x):\n        self.{name}(x)\n",
    },
    "of a class in a function": {
        "run.py": "def make():\n    class Net:\n        def encode(self): pass\n        def run(self): self.{name}()\n"
    },
    "of an exception": {"run.py": "class Fault(Exception):\n    def tell(self): self.{name}()\n    encode = None\n"},
    "on a variable": {"run.py": NET + "\n\nnet = Net()\nnet.{name}(1)\n"},
    "on a variable of a function": {"run.py": NET + "\n\ndef main():\n    net: Net = Net()\n    net.{name}(1)\n"},
    "on one of several": {"run.py": NET + "\n\nstep, net = 1, Net()\nnet.{name}(1)\n"},
    "on what was moved": {"run.py": NET + "\n\nnet = Net().to('cpu').eval()\nnet.{name}(1)\n"},
    "on an object of another file": {
        "kit/__init__.py": "",
        "kit/nets.py": NET,
        "run.py": "import kit.nets\n\nnet = kit.nets.Net()\nnet.{name}(1)\n",
    },
    "of a class with another name": {"run.py": NET + "\n\nOther = Net\nnet = Other()\nnet.{name}(1)\n"},
    "of a class with a small name": {"run.py": NET.replace("Net", "ours") + "\n\nnet = ours()\nnet.{name}(1)\n"},
    "of an inner import": {
        "nets.py": NET,
        "run.py": "def main():\n    from nets import Net\n    net = Net()\n    net.{name}(1)\n",
    },
    "on what self keeps": {
        "nets.py": NET,
        "run.py": "from nets import Net\n\n\nclass Trainer:\n    def __init__(self):\n        self.net = Net(4)\n"
        "    def run(self):\n        self.net.{name}(1)\n",
    },
    "on the class": {"run.py": NET + "\n\nNet.{name}(None, 1)\n"},
    "on an imported class": {"nets.py": NET, "run.py": "from nets import Net as Other\n\nOther.{name}(None, 1)\n"},
    "on an imported object": {
        "nets.py": NET + "\n\nnet = Net()\n",
        "run.py": "from nets import net\n\nnet.{name}(1)\n",
    },
    "on an object through stars": {
        "nets.py": NET + "\n\nnet = Net()\n",
        "mid.py": "from nets import *\n",
        "run.py": "from mid import *\nfrom mid import net\n\nnet.{name}(1)\n",
    },
    "on an object passed on": {
        "nets.py": NET + "\n\nnet = Net()\n",
        "mid.py": "from nets import net as first\n\nshared = first\n",
        "run.py": "from mid import shared\n\nshared.{name}(1)\n",
    },
}  # fmt: skip
"""By what a method is called on: files in which ``encode`` is there, and any other name is missing."""
TORCH = (
    ("from torch import nn\n\nlayer = nn.Linear(2, 2)\nlayer.{}()\n", "load_state_dict", "lod_state_dict"),
    ("from torch import {}\n", "no_grad", "no_grda"),
    ("import torch\n\ntorch.{}(1)\n", "zeros", "zeross"),
    ("import torch\n\ntorch.nn.functional.{}(1)\n", "softmax", "sofmax"),
    ("import torch\n\nx = [torch.{}.itemsize]\n", "float32", "flaot32"),
    ("import torch.nn.functional as F\n\ny = F.{}\n", "softmax", "sofmax"),
    ("import torch\n\nF = torch.nn.functional\nF.{}(1)\n", "softmax", "sofmax"),
)


def written(root: Path, files: dict[str, str], name: str) -> Project:
    (root / "pyproject.toml").write_text("")
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text.replace("{name}", name).replace("{}", name))
    return project_of(root)


@pytest.mark.parametrize("kind", KINDS)
def test_each_way_to_call_a_method_is_seen(tmp_path: Path, kind: str) -> None:
    run = tmp_path / "run.py"
    project = written(tmp_path, KINDS[kind], "encodes")
    assert Screening(project).may_lack(run)
    module = project.load(run)
    assert [one.name for one in Objects(project).lacking(module)] == ["encodes"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_that_is_there_needs_no_tree(tmp_path: Path, kind: str) -> None:
    project = written(tmp_path, KINDS[kind], "encode")
    assert not Screening(project).may_lack(tmp_path / "run.py")
    assert not any(map(project.is_loaded, project.files))


@pytest.mark.parametrize(("text", "right", "wrong"), TORCH)
def test_each_way_to_misspell_torch_is_seen(tmp_path: Path, text: str, right: str, wrong: str) -> None:
    assert not Screening(written(tmp_path, {"run.py": text}, right)).may_lack(tmp_path / "run.py")
    assert Screening(written(tmp_path, {"run.py": text}, wrong)).may_lack(tmp_path / "run.py")


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    lam = lambda missing: 1\n    def run(self):\n        self.missing()\n",
        "class A:\n    global missing\n    def run(self):\n        self.missing()\n",
        "class A:\n    def run(*args):\n        A.missing = 1\n    def go(self):\n        self.missing()\n",
        "class A:\n    def run(self, other):\n        other.missing = 1\n        self.missing()\n",
        "class A:\n    @staticmethod\n    def run(self): self.missing = 1\n    def go(self): self.missing()\n",
        "class A:\n    def run(self):\n        self.missing()\n\n\nclass B:\n    missing = 1\n",
        "class A:\n    missing: int\n    def run(self):\n        self.missing()\n",
        "class A:\n    def run(self):\n        self.missing()  # abstract\n",
        "from nowhere import A\n\n\nclass B:\n    class A: pass\n    def run(self): self.missing()\n",
    ],
)
def test_what_gives_a_class_no_name_does_not_spare_it(tmp_path: Path, text: str) -> None:
    assert Screening(written(tmp_path, {"run.py": text}, "")).may_lack(tmp_path / "run.py")


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def __getattr__(self, name): pass\n    def run(self):\n        self.missing()\n",
        "class A(make()):\n    def run(self):\n        self.missing()\n",
        "from other import B\n\n\nclass A(B):\n    def run(self):\n        self.missing()\n",
        "from . import lost\n\n\nclass A(lost.B):\n    def run(self):\n        self.missing()\n",
        "from .lost import B\n\n\nclass A(B):\n    def run(self):\n        self.missing()\n",
        "class A:\n    def run(me):\n        me.missing, x = 1, 2\n    def go(self):\n        self.missing()\n",
        "class A:\n    def run(self):\n        for A.missing in x: self.missing()\n",
    ],
)
def test_a_class_that_may_have_any_name_is_spared(tmp_path: Path, text: str) -> None:
    project = written(tmp_path, {"run.py": text}, "")
    assert not Screening(project).may_lack(tmp_path / "run.py")
    assert not [*Objects(project).lacking(project.load(tmp_path / "run.py"))]


@pytest.mark.parametrize(
    "text",
    [
        "@register\nclass A:\n    def run(self):\n        self.missing()\n",
        "class A(metaclass=Meta, kind=1):\n    def run(self):\n        self.missing()\n",
        "class A:\n    @abstractmethod\n    def go(self): pass\n    def run(self):\n        self.missing()\n",
        "class A:\n    def go(self): raise NotImplementedError\n    def run(self):\n        self.missing()\n",
        "class BaseNet:\n    def run(self):\n        self.missing()\n",
        "class A:\n    def __init_subclass__(cls): change(cls.__dict__)\n    def run(self):\n        self.missing()\n",
        "class A:\n    def __init__(self): raise NotImplementedError\n    def run(self): self.missing()\n",
    ],
)
def test_what_takes_a_tree_to_see_spares_a_class(tmp_path: Path, text: str) -> None:
    project = written(tmp_path, {"run.py": text}, "")
    assert not [*Objects(project).lacking(project.load(tmp_path / "run.py"))]


def asked_again(project: Project, screening: Screening, path: Path, text: str) -> int:
    """How many answers are found once a file has another text, to judge every file of a project."""
    before = project.questions.found
    project.replace(path, text.encode())
    for one in project.files:
        screening.may_lack(one)
    return project.questions.found - before


def test_an_edit_inside_a_method_asks_little_again(tmp_path: Path) -> None:
    heir = "from base import Base\n\n\nclass Net{}(Base):\n    def forward(self, x):\n        self.encode(x)\n"
    files = {f"net{number}.py": heir.replace("{}", str(number)) for number in range(40)}
    project = written(tmp_path, {"base.py": OF_BASE, **files}, "")
    screening = Screening(project)
    assert asked_again(project, screening, tmp_path / "base.py", OF_BASE + "\n\nmore = 1\n") > 40
    edited = OF_BASE.replace("return x", "return x.flatten(self.width)")
    assert asked_again(project, screening, tmp_path / "base.py", edited) < 10
    assert asked_again(project, screening, tmp_path / "base.py", "# a note\n" + edited) == 0
    assert asked_again(project, screening, tmp_path / "base.py", edited.replace("encode", "encodes")) > 40
    assert all(screening.may_lack(path) for path in project.files if path.name != "base.py")


def test_what_was_asked_before_changes_no_answer(tmp_path: Path) -> None:
    chance = random.Random(3)
    texts = [text for files in KINDS.values() for text in files.values()]
    texts = [text.replace("{name}", name) for text in texts for name in ("encode", "missing")]
    names = ("base.py", "mid.py", "nets.py", "run.py")
    warm = written(tmp_path, dict.fromkeys(names, ""), "")
    doubted = 0
    for _ in range(120):
        warm.replace(tmp_path / chance.choice(names), chance.choice(texts).encode())
        cold = project_of(tmp_path)
        for path in warm.files:
            cold.replace(path, warm.data(path))
        found = [Screening(warm).may_lack(path) for path in chance.sample(warm.files, len(warm.files))]
        doubted += sum(found)
        assert [Screening(warm).may_lack(path) for path in warm.files] == [*map(Screening(cold).may_lack, cold.files)]
    assert doubted > 50
