"""What an expression may be: the argument of ``ask(...)`` in small programs, one for each way to write a value."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.values.evaluator import Evaluator
from forklint.values.model import Absent, Constant, Expression, Found, Instance, Made, Ref, Row, Table
from forklint.values.numbers import Positive

FILE = re.compile(r"^--- (\S+)\n", re.MULTILINE)
CLASSES = """\
class A:
    def __init__(self, n=0):
        self.n = n
class B(A):
    pass
"""
MAPPINGS = {
    "a key that is taken out leaves the others": ("kw = {'a': 1, 'b': 2}\nkw.pop('b', None)\nask(kw)", "{a: 1}"),
    "a key that may be taken out": ("kw = {'a': 1, 'b': 2}\nif x:\n    kw.pop('b')\nask(kw)", "{a: 1, b: 2 or absent}"),
    "any key may be taken out": ("kw = {'a': 1}\nkw.pop(x)\nask(kw)", "{...}"),
    "a key that is there is kept": (
        "kw = {'a': 1}\nkw.setdefault('a', 2)\nkw.setdefault('b', 3)\nask(kw)",
        "{a: 1, b: 3}",
    ),
    "an update by a mapping": ("kw = {'a': 1}\nkw.update({'a': 2, 'b': 3})\nask(kw)", "{a: 2, b: 3}"),
    "an update by a name": ("more = {'b': 3}\nkw = {'a': 1}\nkw.update(more)\nask(kw)", "{a: 1, b: 3}"),
    "an update by keywords": ("kw = dict(a=1)\nkw.update(b=3)\nask(kw)", "{a: 1, b: 3}"),
    "an update by what is not known": ("kw = {'a': 1}\nkw.update(x)\nask(kw)", "{...}"),
    "a key set twice": ("kw = {}\nkw['a'] = 1\nkw['a'] = 2\nask(kw)", "{a: 2}"),
    "a key set in a branch": ("kw = {'a': 1}\nif x:\n    kw['a'] = 2\nask(kw)", "{a: positive}"),
    "a key that a branch adds": ("kw = {'a': 1}\nif x:\n    kw['b'] = 2\nask(kw)", "{a: 1, b: absent or 2}"),
    "a key set inside of with": ("kw = {}\nwith x:\n    kw['a'] = 1\nask(kw)", "{a: 1}"),
    "a key set later": ("kw = {'a': 1}\nask(kw)\nkw['a'] = 2", "{a: 1}"),
    "a key set later in a loop": ("kw = {'a': 1}\nfor i in x:\n    ask(kw)\n    kw['a'] = 2", "{a: positive}"),
    "a key that grows": ("kw = {'a': 1}\nkw['a'] += 1\nask(kw)", "{...}"),
    "two mappings joined": ("kw = {'a': 1}\nkw |= {'b': 2}\nask(kw)", "{a: 1, b: 2}"),
    "a key deleted": ("kw = {'a': 1, 'b': 2}\ndel kw['a']\nask(kw)", "{b: 2}"),
    "a key set by another name": ("kw = {}\nother = kw\nother['a'] = 1\nask(kw)", "{a: 1}"),
}
SETTINGS = {
    "an attribute of a namespace": (
        "from easydict import EasyDict\nC = EasyDict()\nC.n = 4\nask(C.n)",
        "4",
    ),
    "an attribute of a namespace of another module": (
        (
            "from config import config\nask(config.n)\n--- config.py\nfrom easydict import EasyDict as edict\n"
            "C = edict()\nconfig = C\nC.n = 4\n"
        ),
        "4",
    ),
    "an attribute that another module sets as well": (
        (
            "from config import config\nimport other\nask(config.n)\n--- config.py\nfrom easydict import EasyDict\n"
            "config = EasyDict()\nconfig.n = 4\n--- other.py\nfrom config import config\nconfig.n = 0\n"
        ),
        "?",
    ),
    "an attribute inside of another": (
        "from yacs.config import CfgNode as CN\n_C = CN()\n_C.LOADER = CN()\n_C.LOADER.N = 4\nask(_C.LOADER.N)",
        "4",
    ),
    "defaults of a file": (
        "from yacs.config import CfgNode as CN\nC = CN()\nC.N = 4\nC.merge_from_file('x.yaml')\nask(C.N)",
        "4 by default",
    ),
    "an attribute of SimpleNamespace": (
        "from types import SimpleNamespace\nC = SimpleNamespace(n=1)\nC.n = 2\nask(C.n)",
        "2",
    ),
    "an attribute set in a branch": (
        "from types import SimpleNamespace\nC = SimpleNamespace(n=1)\nif x:\n    C.n = 2\nask(C.n)",
        "positive",
    ),
    "an attribute of an own object": ("from own import A\na = A()\na.n = 5\nask(a.n)\n--- own.py\n" + CLASSES, "5"),
    "an option that is set": (
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=1)\nargs = p.parse_args()\n"
            "args.n = 3\nask(args.n)"
        ),
        "3",
    ),
}
LISTS = {
    "items that are appended": ("rows = []\nrows.append(1)\nrows.append(2)\nask(rows)", "[1, 2]"),
    "items appended in a loop": ("rows = []\nfor i in x:\n    rows.append(1)\nask(rows)", "[1, ...]"),
    "a list that is extended": ("rows = [1]\nrows.extend([2])\nrows += [3]\nask(rows)", "[1, 2, 3]"),
    "two lists": ("ask([1] + [2])", "[1, 2]"),
    "an element of a comprehension": (
        "from own import A\nask([A(i) for i in x])\n--- own.py\n" + CLASSES,
        "[A(), ...]",
    ),
    "an item of a list": ("rows = [1, 2]\nask(rows[1])", "2"),
    "any item of a list": ("rows = [1, 2]\nask(rows[x])", "1 or 2"),
    "an item of a comprehension": ("from own import A\nask([A(i) for i in x][0])\n--- own.py\n" + CLASSES, "A()"),
    "an item of a loop": ("for one in [2]:\n    ask(one)", "2"),
    "part of an item of a loop": ("for a, b in [(1, 2)]:\n    ask(b)", "2"),
    "an item that is counted": ("for i, (a, b) in enumerate(zip(x, [2])):\n    ask(b)", "2"),
    "an item of a progress bar": ("from tqdm import tqdm\nfor one in tqdm([2]):\n    ask(one)", "2"),
    "a value of a mapping": ("for key, value in {'a': 1, 'b': 2}.items():\n    ask(value)", "1 or 2"),
    "a value of a mapping whose key is not known": ("kw = {}\nfor i in x:\n    kw[i] = 1\nask(kw['a'])", "1"),
    "what a generator yields": ("def f():\n    yield 2\nfor one in f():\n    ask(one)", "2"),
    "what a generator hands through": ("def f():\n    yield from [2]\nfor one in f():\n    ask(one)", "2"),
    "what a context manager yields": (
        "import contextlib\n@contextlib.contextmanager\ndef f(n):\n    yield n\nwith f(2) as n:\n    ask(n)",
        "2",
    ),
    "one of as many as are unpacked": ("def f(n):\n    return [n] if n else [n, 2]\na, b = f(x)\nask(b)", "2"),
    "an attribute that is filled": (
        (
            "class A:\n    def __init__(self):\n        self.rows, self.n = [], 0\n    def add(self):\n"
            "        self.rows.append(2)\n    def last(self):\n        ask(self.rows)"
        ),
        "[2, ...]",
    ),
    "an attribute that is filled by keys": (
        (
            "class A:\n    def __init__(self):\n        self.kw = {}\n        self.kw['a'] = 2\n"
            "    def last(self):\n        ask(self.kw)"
        ),
        "{a: 2}",
    ),
    "the length of a list": ("rows = [1, 2]\nask(len(rows))", "2"),
    "the length of what grows": ("rows = [1]\nfor i in x:\n    rows.append(i)\nask(len(rows))", "?"),
}
CALLS = {
    "a class from a table": (
        "from own import A, B\nTABLE = {'a': A, 'b': B}\nask(TABLE[x]())\n--- own.py\n" + CLASSES,
        "A() or B()",
    ),
    "a class from a table by a known key": (
        "from own import A, B\nTABLE = {'a': A, 'b': B}\nask(TABLE['b']())\n--- own.py\n" + CLASSES,
        "B()",
    ),
    "a class that is looked up": (
        "from own import A, B\nTABLE = {'a': A}\nask(TABLE.get(x, B)())\n--- own.py\n" + CLASSES,
        "A() or B()",
    ),
    "what is given or else made": ("from own import A\nask(x or A())\n--- own.py\n" + CLASSES, "A()"),
    "a class that a function gives": (
        "from own import A\ndef pick():\n    return A\nask(pick()())\n--- own.py\n" + CLASSES,
        "A()",
    ),
    "what either branch gives": (
        "from own import A, B\ndef make(kind):\n    if kind == 'a':\n        return A()\n    return B()\nask(make(x))\n"
        "--- own.py\n" + CLASSES,
        "A() or B()",
    ),
    "the branch that an argument chooses": (
        "from own import A, B\ndef make(kind):\n    if kind == 'a':\n        return A()\n    return B()\n"
        "ask(make('b'))\n"
        "--- own.py\n" + CLASSES,
        "B()",
    ),
    "the branch that a default chooses": (
        "from own import A, B\ndef make(keep=False):\n    if not keep:\n        return A()\n    return B()\n"
        "ask(make())\n"
        "--- own.py\n" + CLASSES,
        "A()",
    ),
    "a module that is moved": (
        "import torch\nclass Net(torch.nn.Module):\n    pass\nask(Net().to('cuda').eval())",
        "Net()",
    ),
    "what keyword arguments hand on": (
        "from own import A\nclass C(A):\n    def __init__(self, **kw):\n        super().__init__(**kw)\nask(C(n=3).n)\n"
        "--- own.py\n" + CLASSES,
        "3",
    ),
    "a partial that is called": (
        "import functools\nfrom own import A\nmake = functools.partial(A, n=3)\nask(make().n)\n--- own.py\n" + CLASSES,
        "3",
    ),
    "isinstance of an own object": ("from own import A, B\nask(isinstance(B(), A))\n--- own.py\n" + CLASSES, "True"),
    "a last value before the read": ("n = 1\nn = 2\nask(n)\nn = 3", "2"),
    "a global that a function sets": ("n = None\ndef f():\n    global n\n    n = 2\nask(n)", "None or 2"),
    "a process of a context": (
        "import multiprocessing\nctx = multiprocessing.get_context('spawn')\nask(ctx.Process())",
        "multiprocessing.Process",
    ),
    "a loader that is prepared": (
        (
            "from accelerate import Accelerator\nfrom torch.utils.data import DataLoader\n"
            "model, loader = Accelerator().prepare(x, DataLoader([]))\nask(loader)"
        ),
        "torch.utils.data.DataLoader",
    ),
    "a class of a library by a star": (
        "from torch.utils.data import *\nask(DataLoader([]))",
        "torch.utils.data.DataLoader",
    ),
    "a partial of a library's class": (
        (
            "import functools\nfrom torch.utils.data import DataLoader\n"
            "make = functools.partial(DataLoader, num_workers=2)\n"
            "ask(make([]))"
        ),
        "torch.utils.data.DataLoader",
    ),
    "a dataset that is mapped": (
        "import datasets\nask(datasets.load_dataset('a')['train'].map(f))",
        "datasets.load_dataset",
    ),
    "two branches replace what was there": ("n = 'c'\nif x:\n    n = 'a'\nelse:\n    n = 'b'\nask(n)", "'a' or 'b'"),
    "one branch alone does not": ("n = 'c'\nif x:\n    n = 'a'\nask(n)", "'c' or 'a'"),
    "a branch that leaves does not count behind it": (
        "def f(x):\n    n = 'c'\n    if x:\n        n = 'a'\n        return n\n    ask(n)\n",
        "'c'",
    ),
    "the rest of a branch that leaves replaces": (
        "def f(x):\n    n = 'c'\n    if x:\n        raise ValueError\n    else:\n        n = 'a'\n    ask(n)\n",
        "'a'",
    ),
    "a generator that is seeded": (
        "import torch\nrng = torch.Generator()\nask(rng.manual_seed(0))",
        "torch.Generator",
    ),
    "a value of two branches": ("if x:\n    n = 1\nelse:\n    n = 0\nask(n)", "1 or 0"),
}


@pytest.mark.parametrize(("text", "expected"), [*MAPPINGS.values()], ids=MAPPINGS)
def test_mappings(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*SETTINGS.values()], ids=SETTINGS)
def test_settings(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*LISTS.values()], ids=LISTS)
def test_lists(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*CALLS.values()], ids=CALLS)
def test_calls(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


def said(text: str, folder: Path) -> str:
    """What the evaluator says of the argument of ``ask``, as text."""
    script, *rest = FILE.split(text)
    (folder / "pyproject.toml").touch()
    (folder / "script.py").write_text(script, encoding="utf-8")
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        (folder / name).write_text(content, encoding="utf-8")
    project = Project(folder, Settings())
    module = project.module(folder / "script.py")
    assert module is not None
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    [asked] = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "ask"]
    evaluator = Evaluator(project)
    return shown(evaluator, evaluator.find(Expression(module, module.scope_at(asked), asked.args[0])))


def shown(evaluator: Evaluator, found: Found) -> str:
    """An answer as text: ``or`` between alternatives, ``...`` for what may be there besides, ``?`` for the unknown."""
    if not found.known:
        return " or ".join(shown(evaluator, one) for one in found.options) or "?"
    value = found.value
    text = "?"
    if isinstance(value, Constant):
        text = "positive" if isinstance(value.value, Positive) else repr(value.value)
    elif isinstance(value, Table):
        items = [f"{key}: {shown(evaluator, evaluator.find(one))}" for key, one in value.entries.items()]
        text = "{" + ", ".join([*items, *([] if value.complete else ["..."])]) + "}"
    elif isinstance(value, Row):
        items = [shown(evaluator, evaluator.find(one)) for one in value.items]
        text = "[" + ", ".join([*items, *([] if value.complete else ["..."])]) + "]"
    elif isinstance(value, Instance):
        text = f"{value.facts.name}()"
    elif isinstance(value, Ref) and isinstance(value.symbol, ClassFacts):
        text = value.symbol.name
    elif isinstance(value, Absent):
        text = "absent"
    elif isinstance(value, Made):
        text = value.name
    return text + (" by default" if found.by_default else "")
