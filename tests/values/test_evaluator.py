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
MAKER = "from easydict import EasyDict\ndef make():\n    c = EasyDict()\n    c.n = 4\n    return c\n"
OF_PARTS = """\
def make():
    return [1, 2], [3, 4]


class A:
    def __init__(self):
        (self.a, self.b), (self.c, self.d) = make()
"""
CLASSES = """\
class A:
    def __init__(self, n=0):
        self.n = n
class B(A):
    pass
"""
SACRED_EX = "from sacred import Experiment\nex = Experiment('a')\n"
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
MAPPINGS = {
    "the keys of a mapping": ("ask({'a': 1}.keys())", "?"),
    "the values of a mapping": ("ask({'a': 1}.values())", "[1, ...]"),
    "a key set on other machines": (
        "import sys\nkw = {'a': 0}\nif sys.platform == 'darwin':\n    pass\nelse:\n    kw['a'] = 2\nask(kw['a'])",
        "0 or 2",
    ),
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
    "what is taken out": ("kw = {'a': 1}\nask(kw.pop('a'))", "1"),
    "what is taken out, with a default": ("kw = {'a': 1}\nn = kw.pop('a', 5)\nask(n)", "1"),
    "what was taken out before": ("kw = {'a': 1}\nkw.pop('a')\nn = kw.pop('a', 5)\nask(n)", "5"),
    "the default of what is taken out": ("kw = {'b': 1}\nn = kw.pop('a', 5)\nask(n)", "5"),
    "what is taken out of keyword arguments": ("def f(**kw):\n    n = kw.pop('a', 5)\n    ask(n)\nf(a=3)", "3"),
    "a key": ("ask({'a': 1}['a'])", "1"),
    "a key that is a number, by one that is not known": ("ask({0: 5, 1: 5}[x])", "5"),
    "how many keys there are that are numbers": ("ask(len({0: 'a', 1: 'b'}))", "2"),
    "a key that is not there by default": (
        PARSER + "p.add_argument('--n', default='auto')\na = p.parse_args()\nask({'b': 1, 'c': 'd'}[a.n])",
        "1 or 'd'",
    ),
    "a key that is not there": ("ask({'a': 1}.get('b'))", "None"),
    "a key that is not there, or a default": ("ask({'a': 1}.get('b', 2))", "2"),
    "a union": ("ask({'a': 1} | {'b': 2})", "{a: 1, b: 2}"),
    "a union with what is not known": ("ask({'a': 1} | x)", "?"),
    "a mapping within a mapping": ("ask({**{'a': 1}, 'b': 2})", "{a: 1, b: 2}"),
    "what is not known within a mapping": ("ask({'a': 1, **x})", "{...}"),
    "a mapping and keywords": ("ask(dict({'a': 1}, b=2))", "{a: 1, b: 2}"),
    "a copy": ("kw = {'a': 1}\nask(kw.copy())", "{a: 1}"),
    "keywords given twice": ("def f(**kw):\n    ask(kw)\nf(a=1, **{'a': 2, 'b': 3})", "{a: 1, b: 3}"),
}
SETTINGS = {
    "an attribute of a module": ("import conf\nask(conf.n)\n--- conf.py\nn = 4\n", "4"),
    "an attribute of a module that is handed on": (
        "import conf\ndef f(options):\n    ask(options.n)\nf(conf)\n--- conf.py\nn = 4\n",
        "4",
    ),
    "an attribute of a module by its name": ("import conf\nask(getattr(conf, 'n'))\n--- conf.py\nn = 4\n", "4"),
    "a class of a module by its name": ("import own\nask(getattr(own, 'A')(4).n)\n--- own.py\n" + CLASSES, "4"),
    "a class of a module by a name that is not known": (
        "import own\nask(getattr(own, x)(4))\n--- own.py\n" + CLASSES,
        "A() or B()",
    ),
    "a module that is imported by its name": (
        "import importlib\nown = importlib.import_module('own')\nask(own.A(4).n)\n--- own.py\n" + CLASSES,
        "4",
    ),
    "a module within a package that is imported by its name": (
        "own = __import__('some.own', fromlist=['A'])\nask(own.A(4).n)\n--- some/own.py\n" + CLASSES,
        "4",
    ),
    "a package that is imported by its name": (
        "own = __import__('some.own')\nask(own.A(4).n)\n--- some/own.py\n" + CLASSES,
        "?",
    ),
    "a name of a module that is bound again": (
        "import own\nown = own.A(4)\nask(own.n)\n--- own.py\n" + CLASSES,
        "4",
    ),
    "a name of a module that may be bound again": (
        "import own\nif x:\n    own = own.A(4)\nask(own)\n--- own.py\n" + CLASSES,
        "?",
    ),
    "an attribute of a module that is set here": (
        "import conf\nconf.n = 5\nask(conf.n)\n--- conf.py\nn = 4\n",
        "?",
    ),
    "an attribute of a module that is set by a function": (
        (
            "import conf\nfrom other import change\nchange()\nask(conf.n)\n--- conf.py\nn = 4\n"
            "--- other.py\nimport conf\ndef change():\n    conf.n = 5\n"
        ),
        "?",
    ),
    "an attribute that is set in another module": (
        "import conf\nimport other\nother.n = 5\nask(conf.n)\n--- conf.py\nn = 4\n--- other.py\nn = 3\n",
        "4",
    ),
    "an attribute of a module that only an option sets": (
        (
            "import conf\n" + PARSER + "p.add_argument('--debug', action='store_true')\n"
            "if p.parse_args().debug:\n    conf.n = 0\nask(conf.n)\n--- conf.py\nn = 4\n"
        ),
        "4",
    ),
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
    "a part of a part": ("(a, b), c = [[1, 2], 3]\nask(b)", "2"),
    "a part of a part that a function gives": (
        "def make():\n    return [1, 2], [3, 4]\n(a, b), (c, d) = make()\nask(c)",
        "3",
    ),
    "an attribute that is a part of a part": ("from own import A\nask(A().d)\n--- own.py\n" + OF_PARTS, "4"),
    "an update by a file that the user names": (
        "import sys, yaml\nC = {'n': 4}\nC.update(yaml.safe_load(open(sys.argv[1])))\nask(C['n'])",
        "4 by default",
    ),
    "an attribute set by a function, beside one set later": (
        "from own import make\nC = make()\nC.out = 'x'\nask(C.n)\n--- own.py\n" + MAKER,
        "4",
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
    "an attribute set by name": (
        "from types import SimpleNamespace\nc = SimpleNamespace(n=1)\nsetattr(c, 'n', 2)\nask(c.n)",
        "2",
    ),
    "an attribute of an own object set by name": (
        "from own import A\na = A()\nsetattr(a, 'n', 5)\nask(a.n)\n--- own.py\n" + CLASSES,
        "5",
    ),
    "an attribute that another file sets by name": (
        (
            "from own import A\nimport other\na = A()\nask(a.n)\n--- own.py\nclass A:\n"
            "    def __init__(self, n=0):\n        self.n = n\nclass B(A):\n    pass\n--- other.py\n"
            "import script\nsetattr(script.a, 'n', 5)\n"
        ),
        "?",
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
    "part of a part of an item": ("for i, (a, b) in [(1, (2, 3))]:\n    ask(b)", "?"),
    "part of an item that is not known": ("for i, (a, b) in x:\n    ask(a)", "?"),
    "the rest of an item": ("for a, *b in [(1, 2)]:\n    ask(a)", "?"),
    "part of an item in brackets": ("for [a, b] in [(1, 2)]:\n    ask(b)", "2"),
    "numbers in turn": ("for n in [2, 4]:\n    ask(n)", "positive"),
    "numbers in turn, zero first": ("for n in (0, 2, 4):\n    ask(n)", "0 or positive"),
    "twice the numbers in turn": ("for n in (0, 2, 4):\n    ask(2 * n)", "0 or positive"),
    "zero alone in turn": ("for n in [0]:\n    ask(n)", "0"),
    "numbers in turn of which one is not known": ("for n in [2, x]:\n    ask(n)", "2"),
    "numbers of a range": ("for n in range(2, x, 2):\n    ask(n)", "positive"),
    "numbers of a range from zero": ("for n in range(4):\n    ask(n)", "0 or positive"),
    "the one number of a range": ("for n in range(0, 4, 4):\n    ask(n)", "?"),
    "numbers of a range that may be empty": ("for n in range(x):\n    ask(n)", "?"),
    "numbers of a range that is empty": ("for n in range(4, 2):\n    ask(n)", "?"),
    "numbers of a range that counts down": ("for n in range(4, 2, -1):\n    ask(n)", "?"),
    "an item by a number of a range": ("rows = [4, 5]\nfor n in range(1, x):\n    ask(rows[n])", "4 or 5"),
    "a value by a number of a range": ("kw = {1: 4, 2: 5}\nfor n in range(1, x):\n    ask(kw[n])", "positive"),
    "an entry under each of some keys": (
        "kw = {'a': {'n': 4}, 'b': {'n': 5}}\nfor key in ('a', 'b'):\n    ask(kw[key]['n'])",
        "positive",
    ),
    "an entry under a key that others lack": (
        "kw = {'a': {'n': 0}, 'b': {'n': 4}}\nfor key in ['b', 'b']:\n    ask(kw[key]['n'])",
        "4",
    ),
    "an entry that is written over": ("kw = {'a': 4, 'b': 4}\nkw[x] = 0\nask(kw[y])", "4 or 0"),
    "what is repeated": ("import itertools\nfor one in itertools.repeat(3):\n    ask(one)", "3"),
    "a number of the repeated": (
        "from itertools import repeat\nfor a, b in zip(repeat([1, 2], 3), x):\n    ask(a)",
        "[1, 2]",
    ),
    "the number of an item": ("for i, a in enumerate([2]):\n    ask(i)", "?"),
    "a key of a mapping": ("for key, value in {'a': 1}.items():\n    ask(key)", "'a'"),
    "the keys of a mapping": ("for key in {'a': 1}:\n    ask(key)", "'a'"),
    "too many to be unpacked": ("def f():\n    return [1, 2, 3]\na, b = f()\nask(b)", "?"),
    "a list with a list in it": ("ask([1, *[2, 3]])", "[1, 2, 3]"),
    "a list with what is not known in it": ("ask([1, *x])", "[1, ...]"),
    "an item of a tuple": ("ask((1, 2)[0])", "1"),
    "the values of a mapping": ("kw = {'a': 1}\nask(kw.values())", "[1, ...]"),
    "a part of a list": ("ask([1, 2, 3][1:])", "[1, 2, 3, ...]"),
}
CALLS = {
    "what type checkers alone run": ("from typing import TYPE_CHECKING as checking\nask(checking)", "False"),
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

CONF = "from omegaconf import OmegaConf\nconf = OmegaConf.load('conf.yaml')\n"
OPTIONS = {
    "options put into settings, which have what is no option": (
        PARSER + "p.add_argument('--out', default='x')\nargs = p.parse_args()\n"
        "config = {'n': 4, 'out': 'y'}\nconfig.update(vars(args))\nask(config['n'])",
        "4",
    ),
    "options put into settings, of which they say one": (
        PARSER + "p.add_argument('--n', type=int, default=2)\nargs = p.parse_args()\n"
        "config = {'n': 4}\nconfig.update(vars(args))\nask(config['n'])",
        "2 by default",
    ),
    "options put into settings, of which a default alone says one": (
        PARSER + "p.set_defaults(n=0)\nargs = p.parse_args()\n"
        "config = {'n': 4}\nconfig.update(vars(args))\nask(config['n'])",
        "0 by default",
    ),
    "options put into settings, of which one has no name": (
        PARSER + "p.add_argument(x, default=2)\nargs = p.parse_args()\n"
        "config = {'n': 4}\nconfig.update(vars(args))\nask(config['n'])",
        "?",
    ),
    "an option in a mapping of all": (
        PARSER + "p.add_argument('--n', default=2)\noptions = vars(p.parse_args())\nask(options['n'])",
        "2 by default",
    ),
    "options unpacked": (
        PARSER + "p.add_argument('--n', default=2)\ndef run(n, out=None):\n    ask(n)\nrun(**vars(p.parse_args()))",
        "2 by default",
    ),
    "an option that a function of another module adds": (
        (
            "import argparse\nfrom options import add\np = argparse.ArgumentParser()\nadd(p)\nargs = p.parse_args()\n"
            "ask(args.n)\n--- options.py\ndef add(p):\n    p.add_argument('--n', type=int, default=3)\n"
        ),
        "3 by default",
    ),
    "dashes are underscores": (
        PARSER + ("p.add_argument('--num-workers', type=int, default=4)\nargs = p.parse_args()\nask(args.num_workers)"),
        "4 by default",
    ),
    "a short flag": (
        PARSER + "p.add_argument('-n', action='store_true')\nargs = p.parse_args()\nask(args.n)",
        "False by default",
    ),
    "a variable of the environment": (
        "import os\nask(int(os.environ.get('N', '4')))",
        "4 by default",
    ),
    "a flag of the environment": ("import os\nask(bool(os.getenv('SLOW', default=0)))", "False by default"),
    "a variable of the environment that is compared": (
        "from os import getenv\nask(2 if getenv('FAST', '1') == '1' else 0)",
        "2 by default",
    ),
    "a variable of the environment without a default": ("import os\nask(os.environ.get('N'))", "os.environ.get"),
    "a short option without a default": (
        PARSER + "p.add_argument('-n')\nargs = p.parse_args()\nask(args.n)",
        "None by default",
    ),
    "a positional argument": (PARSER + "p.add_argument('n')\nargs = p.parse_args()\nask(args.n)", "?"),
    "a required option": (PARSER + "p.add_argument('--n', required=True)\nargs = p.parse_args()\nask(args.n)", "?"),
    "a flag that is switched off": (
        PARSER + "p.add_argument('--n', action='store_false')\nargs = p.parse_args()\nask(args.n)",
        "True by default",
    ),
    "an action that gathers": (
        PARSER + "p.add_argument('--n', action='append')\nargs = p.parse_args()\nask(args.n)",
        "?",
    ),
    "a destination": (
        PARSER + "p.add_argument('--n', dest='m', default=3)\nargs = p.parse_args()\nask(args.m)",
        "3 by default",
    ),
    "a flag that has another destination": (
        PARSER + "p.add_argument('--n', dest='m', default=3)\nargs = p.parse_args()\nask(args.n)",
        "?",
    ),
    "the long name of two": (
        PARSER + "p.add_argument('-n', '--number', default=3)\nargs = p.parse_args()\nask(args.number)",
        "3 by default",
    ),
    "a default that is set later": (
        PARSER + "p.add_argument('--n', default=3)\np.set_defaults(n=4)\nargs = p.parse_args()\nask(args.n)",
        "positive by default",
    ),
    "options of another file": (
        (
            "from opts import parse\nargs = parse()\nask(args.num_workers)\n--- opts.py\nimport argparse\n"
            "p = argparse.ArgumentParser()\np.add_argument('--num-workers', default=4)\ndef parse():\n"
            "    return p.parse_args()\n"
        ),
        "4 by default",
    ),
    "options that are handed on": (
        PARSER
        + (
            "p.add_argument('--num-workers', default=4)\ndef main(args):\n    ask(args.num_workers)\n"
            "main(p.parse_args())"
        ),
        "4 by default",
    ),
    "an option by name": (
        PARSER + "p.add_argument('--n', default=4)\nargs = p.parse_args()\nask(getattr(args, 'n'))",
        "4 by default",
    ),
    "options as a mapping": (
        PARSER + "p.add_argument('--n', default=4)\nargs = p.parse_args()\nask(vars(args)['n'])",
        "4 by default",
    ),
    "an option of click": (
        ("import click\n@click.command()\n@click.option('--n', '-x', default=4)\ndef main(n):\n    ask(n)"),
        "4 by default",
    ),
    "an option of click with a name": (
        ("import click\n@click.command()\n@click.option('--num-workers', 'n', default=4)\ndef main(n):\n    ask(n)"),
        "4 by default",
    ),
    "two flags of click": (
        (
            "import click\n@click.command()\n@click.option('--fast/--slow', default=True)\n"
            "def main(fast):\n    ask(fast)"
        ),
        "True by default",
    ),
    "the longest name of click": (
        (
            "import click\n@click.command()\n@click.option('--w', '--num-workers', default=4)\n"
            "def main(num_workers):\n    ask(num_workers)"
        ),
        "4 by default",
    ),
    "an option of typer": (
        "import typer\ndef main(n: int = typer.Option(4)):\n    ask(n)\ntyper.run(main)",
        "4 by default",
    ),
    "a parameter of fire": ("import fire\ndef main(n=4):\n    ask(n)\nfire.Fire(main)", "4 by default"),
    "a flag of absl": (
        ("from absl import flags\nflags.DEFINE_integer('n', 4, 'how many')\nFLAGS = flags.FLAGS\nask(FLAGS.n)"),
        "4 by default",
    ),
    "an argument of typer": (
        "import typer\ndef main(n: int = typer.Argument(4)):\n    ask(n)\ntyper.run(main)",
        "4 by default",
    ),
    "a default of typer by its name": (
        "import typer\ndef main(n: int = typer.Option(default=4)):\n    ask(n)\ntyper.run(main)",
        "4 by default",
    ),
    "a flag of click": (
        "import click\n@click.command()\n@click.option('--n', is_flag=True)\ndef main(n):\n    ask(n)",
        "False by default",
    ),
    "an option of click without a default": (
        "import click\n@click.command()\n@click.option('--n')\ndef main(n):\n    ask(n)",
        "None by default",
    ),
    "an option of click that is required": (
        ("import click\n@click.command()\n@click.option('--n', required=True)\ndef main(n):\n    ask(n)"),
        "?",
    ),
    "an argument of click": ("import click\n@click.command()\n@click.argument('n')\ndef main(n):\n    ask(n)", "?"),
    "an option of click that is given often": (
        ("import click\n@click.command()\n@click.option('--n', multiple=True)\ndef main(n):\n    ask(n)"),
        "?",
    ),
    "a class of settings": (
        (
            "import pyrallis\nfrom dataclasses import dataclass\n@dataclass\nclass Args:\n    n: int = 4\n"
            "@pyrallis.wrap()\ndef main(args: Args):\n    ask(args.n)"
        ),
        "4 by default",
    ),
    "a class of settings beside another parameter": (
        (
            "import pyrallis\nfrom dataclasses import dataclass\n@dataclass\nclass Args:\n    n: int = 4\n"
            "@pyrallis.wrap()\ndef main(args: Args, other):\n    ask(other)"
        ),
        "?",
    ),
}
HYDRA = "import hydra\n@hydra.main(config_path='conf', config_name='main')\ndef main(conf):\n"
FILES = {
    "from the top of a disk": (
        (
            "import yaml\nkw = yaml.safe_load(open('/home/ann/birds/settings/train.yaml'))\nask(kw['n'])\n"
            "--- conf/train.yaml\nn: 4\n"
        ),
        "4",
    ),
    "from the top of a disk, where two are called so": (
        (
            "import yaml\nkw = yaml.safe_load(open('/home/ann/birds/train.yaml'))\nask(kw['n'])\n"
            "--- conf/train.yaml\nn: 4\n--- old/train.yaml\nn: 4\n"
        ),
        "yaml.safe_load",
    ),
    "a positive default in a file that is not known": (
        "import yaml\nkw = yaml.safe_load(x)['a']\nask(kw.get('b', {}).get('n', 4))",
        "4 by default",
    ),
    "a default of zero in a file that is not known": ("import json\nask(json.load(x).get('n', 0))", "?"),
    "an entry where it is there, of a file that is not known": (
        "import json\nconf = json.load(x)\nask(conf['n'] if 'n' in conf else 4)",
        "4 by default",
    ),
    "an entry where it is there, or none": (
        "import json\nconf = json.load(x)\nask(conf['n'] if 'n' in conf else 0)",
        "json.load or 0",
    ),
    "another entry than is asked for": (
        "import json\nconf = json.load(x)\nask(conf['n'] if 'm' in conf else 4)",
        "json.load or 4",
    ),
    "an entry that is set, where it is there": (
        "import json\nconf = json.load(x)\nconf['n'] = 0\nask(conf['n'] if 'n' in conf else 4)",
        "json.load or 4",
    ),
    "an entry that is set, or a default": (
        "import json\nconf = json.load(x)\nconf['n'] = 0\nask(conf.get('n', 4))",
        "?",
    ),
    "an entry where there is such an attribute": (
        "conf = {'n': 4}\nask(conf['n'] if hasattr(conf, 'n') else 0)",
        "4 or 0",
    ),
    "a function that is called like a builtin": (
        "import json\nconf = json.load(x)\ndef hasattr(a, b): return True\nask(conf.n if hasattr(conf, 'n') else 4)",
        "?",
    ),
    "an entry where it is there": (CONF + "ask(conf.n if 'n' in conf else 5)\n--- conf.yaml\nn: 4\n", "4"),
    "an entry where its key is": (CONF + "ask(conf['n'] if 'n' in conf.keys() else 5)\n--- conf.yaml\nn: 4\n", "4"),
    "an entry that is got where it is there": (
        CONF + "ask(conf.get('n') if 'n' in conf else 5)\n--- conf.yaml\nn: 4\n",
        "4",
    ),
    "an entry that is missing": (CONF + "ask(5 if 'm' not in conf else conf.m)\n--- conf.yaml\nn: 4\n", "5"),
    "an attribute that is missing": (CONF + "ask(conf.m if hasattr(conf, 'm') else 5)\n--- conf.yaml\nn: 4\n", "5"),
    "a part of a file that is not known, without a default": ("import json\nask(json.load(x).get('n'))", "json.load"),
    "a file of a group in a group": (
        HYDRA + "    ask(conf.data.loader.n)\n--- conf/main.yaml\ndefaults:\n  - data/loader: fast\n"
        "--- conf/data/loader/fast.yaml\nn: 4\n",
        "4 by default",
    ),
    "a reference of YAML": (
        CONF + "ask(conf.loader.n)\n--- conf.yaml\ndata:\n  workers: 4\nloader:\n  n: ${data.workers}\n",
        "4",
    ),
    "a reference at the top": (CONF + "ask(conf.n)\n--- conf.yaml\nworkers: 4\nn: ${workers}\n", "4"),
    "a reference to nothing": (CONF + "ask(conf.n)\n--- conf.yaml\nworkers: 4\nn: ${other}\n", "?"),
    "a reference within text": (CONF + "ask(conf.n)\n--- conf.yaml\nn: some ${workers} x\n", "?"),
    "an entry of an entry": (CONF + "ask(conf.data.n)\n--- conf.yaml\ndata:\n  n: 4\n", "4"),
    "an item": (CONF + "ask(conf.data[1])\n--- conf.yaml\ndata: [3, 4]\n", "4"),
    "the last item": (CONF + "ask(conf.data[-1])\n--- conf.yaml\ndata: [3, 4]\n", "4"),
    "an item behind the last": (CONF + "ask(conf.data[2])\n--- conf.yaml\ndata: [3, 4]\n", "?"),
    "an item before the first": (CONF + "ask(conf.data[-3])\n--- conf.yaml\ndata: [3, 4]\n", "?"),
    "an entry or a default": (CONF + "ask(conf.get('n', 5))\n--- conf.yaml\nn: 4\n", "4"),
    "the default of an entry": (CONF + "ask(conf.get('m', 5))\n--- conf.yaml\nn: 4\n", "5"),
    "an entry that is not there": (CONF + "ask(conf.m)\n--- conf.yaml\nn: 4\n", "?"),
    "YAML as a mapping": (
        "import yaml\nconf = yaml.safe_load(open('conf.yaml'))\nask(conf['n'])\n--- conf.yaml\nn: 4\n",
        "4",
    ),
    "JSON": (("import json\nconf = json.load(open('conf.json'))\nask(conf['n'])\n--- conf.json\n{\"n\": 4}\n"), "4"),
    "JSON of an open file": (
        (
            "import json\nwith open('conf.json') as f:\n    conf = json.load(f)\nask(conf['n'])\n"
            '--- conf.json\n{"n": 4}\n'
        ),
        "4",
    ),
    "TOML": (
        (
            "import tomllib\nwith open('conf.toml', 'rb') as f:\n    conf = tomllib.load(f)\n"
            "ask(conf['n'])\n--- conf.toml\nn = 4\n"
        ),
        "4",
    ),
    "the text of a path": (
        (
            "import yaml\nfrom pathlib import Path\nconf = yaml.safe_load(Path('conf.yaml').read_text())\n"
            "ask(conf['n'])\n--- conf.yaml\nn: 4\n"
        ),
        "4",
    ),
    "a path beside the script": (
        (
            "import yaml\nfrom pathlib import Path\n"
            "conf = yaml.safe_load((Path(__file__).parent / 'conf.yaml').read_text())\nask(conf['n'])\n"
            "--- conf.yaml\nn: 4\n"
        ),
        "4",
    ),
    "a path that is joined": (
        (
            "import os, yaml\n"
            "conf = yaml.safe_load(open(os.path.join(os.path.dirname(__file__), 'conf.yaml')))\n"
            "ask(conf['n'])\n--- conf.yaml\nn: 4\n"
        ),
        "4",
    ),
    "an entry that is set": (CONF + "conf.n = 2\nask(conf.n)\n--- conf.yaml\nn: 4\n", "2"),
    "nothing": (CONF + "ask(conf.n)\n--- conf.yaml\nn:\n", "None"),
    "a switch": (CONF + "ask(conf.n)\n--- conf.yaml\nn: true\n", "True"),
    "an anchor": (CONF + "ask(conf.b.n)\n--- conf.yaml\na: &a\n  n: 3\nb: *a\n", "3"),
    "a mapping that is merged": (CONF + "ask(conf.b.n)\n--- conf.yaml\na: &a\n  n: 3\nb:\n  <<: *a\n", "3"),
    "a file of Hydra": (HYDRA + "    ask(conf.n)\n--- conf/main.yaml\nn: 4\n", "4 by default"),
    "a group of Hydra": (
        HYDRA + "    ask(conf.data.n)\n--- conf/main.yaml\ndefaults:\n  - data: big\n--- conf/data/big.yaml\nn: 4\n",
        "4 by default",
    ),
    "a group that the file covers": (
        HYDRA + "    ask(conf.data.n)\n--- conf/main.yaml\ndefaults:\n  - data: big\n  - _self_\ndata:\n  n: 5\n"
        "--- conf/data/big.yaml\nn: 4\n",
        "5 by default",
    ),
    "a group that covers the file": (
        HYDRA + "    ask(conf.data.n)\n--- conf/main.yaml\ndefaults:\n  - _self_\n  - data: big\ndata:\n  n: 5\n"
        "--- conf/data/big.yaml\nn: 4\n",
        "4 by default",
    ),
    "a group that is placed at the top": (
        HYDRA + "    ask(conf.n)\n--- conf/main.yaml\ndefaults:\n  - data: big\n"
        "--- conf/data/big.yaml\n# @package _global_\nn: 4\n",
        "4 by default",
    ),
    "files that name each other": (
        HYDRA + "    ask(conf.m)\n--- conf/main.yaml\ndefaults:\n  - other\nn: 4\n"
        "--- conf/other.yaml\ndefaults:\n  - main\nm: 3\n",
        "3 by default",
    ),
    "files that are composed": (
        (
            "from hydra import compose, initialize\nwith initialize(config_path='./sub/../conf'):\n"
            "    conf = compose(config_name='main')\n    ask(conf.n)\n--- conf/main.yaml\nn: 4\n"
        ),
        "4",
    ),
    "a reference in a list": (CONF + "ask(conf.rows[0])\n--- conf.yaml\nn: 4\nrows: ['${n}']\n", "4"),
    "a reference in a list of a mapping": (
        CONF + "ask(conf.data.rows[1])\n--- conf.yaml\nn: 4\ndata:\n  rows: [1, '${n}']\n",
        "4",
    ),
    "a date": (
        (
            "import tomllib\nwith open('conf.toml', 'rb') as f:\n    conf = tomllib.load(f)\nask(conf['n'])\n"
            "--- conf.toml\nn = 2020-01-01\n"
        ),
        "?",
    ),
}
NUMBERS = {
    "a number for each card": ("import torch\nask(4 * torch.cuda.device_count())", "positive or 0"),
    "a number for each card, or one": ("import torch\nask(max(1, torch.cuda.device_count()))", "positive"),
    "a number for each card where there are any": (
        "import torch\nif torch.cuda.is_available():\n    n = 4 * torch.cuda.device_count()\nelse:\n    n = 4\nask(n)",
        "positive",
    ),
    "a sum with one of two numbers": ("n = 0 if x else 2\nask(n + 1)", "positive"),
    "at least": ("ask(2 >= 3)", "False"),
    "at least as much": ("ask(3 >= 3)", "True"),
    "at most": ("ask(3 <= 3)", "True"),
    "less": ("ask(3 < 3)", "False"),
    "more than one processor": ("import os\nask(os.cpu_count() > 1)", "?"),
    "more than no processor": ("import os\nask(os.cpu_count() > 0)", "True"),
    "no processor": ("import os\nask(os.cpu_count() == 0)", "False"),
    "at most no processor": ("import os\nask(os.cpu_count() <= 0)", "False"),
    "all processors by one": ("import os\nask(os.cpu_count() // 1)", "positive"),
    "a third of the processors": ("import os\nask(os.cpu_count() // 3)", "?"),
    "a quarter of the processors": ("import os\nask(os.cpu_count() // 4)", "positive"),
    "all processors but two": ("import os\nask(os.cpu_count() - 2)", "?"),
    "processors and one": ("import os\nask(os.cpu_count() + 1)", "positive"),
    "processors and nothing": ("import os\nask(os.cpu_count() + 0)", "?"),
    "twice the processors": ("import os\nask(2 * os.cpu_count())", "positive"),
    "nothing by the processors": ("import os\nask(0 * os.cpu_count())", "?"),
    "a sign": ("ask(-5)", "-5"),
    "the sign of a text": ("ask(-'a')", "?"),
    "bits that are turned over": ("ask(~5)", "?"),
    "not a number": ("ask(not 5)", "False"),
    "not an empty text": ("ask(not '')", "True"),
    "a sum": ("ask(2 + 3)", "5"),
    "a difference": ("ask(2 - 3)", "-1"),
    "a product": ("ask(2 * 3)", "6"),
    "a quotient without a rest": ("ask(7 // 2)", "3"),
    "a quotient": ("ask(1 / 2)", "0.5"),
    "a quotient of nothing": ("ask(1 // 0)", "?"),
    "all processors but one": ("import os\nask(os.cpu_count() - 1)", "positive"),
    "half of the processors": ("import os\nask(os.cpu_count() // 2)", "positive"),
    "at most the processors": ("import os\nask(min(4, os.cpu_count()))", "positive"),
    "at least one": ("import os\nask(max(1, os.cpu_count() - 2))", "positive"),
    "without its sign": ("ask(abs(-3))", "3"),
    "what is rounded": ("ask(round(2.7))", "3"),
    "what is cut off": ("ask(int(2.7))", "2"),
    "the other of two": ("ask(0 or 3)", "3"),
    "the last of two": ("ask(2 and 3)", "3"),
    "what decides": ("ask(0 and x)", "0"),
    "either is above zero": ("ask(2 or x)", "2"),
    "one of two by a condition": ("ask(1 if x else 2)", "positive"),
    "one of two by a known condition": ("ask(1 if True else 2)", "1"),
    "smaller": ("ask(1 < 2)", "True"),
    "equal": ("ask(1 == 2)", "False"),
    "a name in a condition": ("ask((n := 3))", "3"),
    "nothing, or less": ("ask(max(-3, 0))", "?"),
}
PARAMETERS = {
    "that replaces what is not given": (
        "def f(n=None):\n    if n is None:\n        n = 4\n    ask(n)\n",
        "None by default or 4",
    ),
    "that does not replace what is given": (
        "def f(n=None):\n    if n is None:\n        n = 4\n    return n\nask(f(3))",
        "3",
    ),
    "that replaces what is given as none": (
        "def f(n=None):\n    if n is None:\n        n = 4\n    return n\nask(f(None))",
        "4",
    ),
    "that another replaces": (
        "def f(n, off):\n    if off:\n        n = 0\n    return n\nask(f(3, True))",
        "0",
    ),
    "that another may replace": (
        "def f(n, off):\n    if off:\n        n = 0\n    return n\nask(f(3, x))",
        "3 or 0",
    ),
    "that chooses a branch whose result is read again and again": (
        "def f(given=''):\n    if given == '':\n        n = 4\n    else:\n        n = 4\n    k0 = n\n"
        + "".join(f"    k{i + 1} = k{i} + n - n\n" for i in range(13))
        + "    ask(k13)\nf()\n",
        "4",
    ),
    "that is replaced in one of two branches": (
        "def f(n, a):\n    if a is None:\n        pass\n    elif a:\n        n = 0\n    return n\nask(f(3, True))",
        "0",
    ),
    "that a class, a function or a lambda is given": (
        "def f(a, n=4):\n    return n if a is None else 1\nask([f(f), f(lambda: 1), f([]), f('x')])",
        "[1, 1, 1, 1]",
    ),
    "that one of several objects is given": (
        CLASSES + "a = A() if x else B()\ndef f(a, n=4):\n    return n if a is not None else 1\nask(f(a))",
        "4",
    ),
    "that an object or nothing is given": (
        CLASSES + "a = A() if x else None\ndef f(a, n=4):\n    return n if a is None else 0\nask(f(a))",
        "4 or 0",
    ),
    "of a star": ("def f(a, b):\n    ask(b)\nf(*[1, 2])", "2"),
    "of two stars": ("def f(a, b):\n    ask(b)\nf(**{'a': 1, 'b': 2})", "2"),
    "that may be given in what is not known": ("def f(a, b=3):\n    ask(b)\nf(1, **x)", "?"),
    "beside what is not known": ("def f(a, b=3):\n    ask(b)\nf(1, b=4, **x)", "4"),
    "of a star that is not known": ("def f(a, b=3):\n    ask(b)\nf(*x)", "?"),
    "of a method of a class": ("class A:\n    def f(self, n):\n        ask(n)\na = A()\nA.f(a, 3)", "3"),
    "of a method": ("class A:\n    def f(self, n):\n        ask(n)\na = A()\na.f(3)", "3"),
    "of a constructor": ("class A:\n    def __init__(self, n):\n        ask(n)\nA(3)", "3"),
    "that super is given": (
        (
            "class A:\n    def __init__(self, n):\n        ask(n)\nclass B(A):\n    def __init__(self):\n"
            "        super().__init__(3)\nB()"
        ),
        "3",
    ),
    "that a base class is given": (
        (
            "class A:\n    def __init__(self, n):\n        ask(n)\nclass B(A):\n    def __init__(self):\n"
            "        A.__init__(self, 3)\nB()"
        ),
        "3",
    ),
    "of two callers": ("def f(n):\n    ask(n)\nf(1)\nf(2)", "positive"),
    "of two callers that agree": ("def f(n):\n    ask(n)\nf(2)\nf(2)", "2"),
    "of a static method called by its class": (
        "class A:\n    @staticmethod\n    def f(n, m):\n        ask(n)\nA.f(3, 4)",
        "3",
    ),
    "of a method of the class called by its class": (
        "class A:\n    @classmethod\n    def f(cls, n, m):\n        ask(n)\nA.f(3, 4)",
        "3",
    ),
    "of a method called by its class": ("class A:\n    def f(self, n, m):\n        ask(n)\nA.f(A(), 3, 4)", "3"),
    "without callers": ("def f(n):\n    ask(n)", "?"),
    "by default": ("def f(n=3):\n    ask(n)\nf()", "3"),
    "that is handed on": ("def f(n):\n    ask(n)\ndef g(n):\n    f(n)\ng(3)", "3"),
    "by name alone": ("def f(*, n):\n    ask(n)\nf(n=3)", "3"),
    "by place alone": ("def f(n, /):\n    ask(n)\nf(3)", "3"),
    "of a function beside a method of its name": ("def run(n):\n    ask(n)\nrun(2)\nx.run(3)", "2"),
    "of a method of an object that is not known": (
        "class A:\n    def run(self, n):\n        ask(n)\nA().run(2)\nx.run(3)",
        "positive",
    ),
    "of a constructor beside a method of its class's name": (
        "class Run:\n    def __init__(self, n):\n        ask(n)\nRun(2)\nx.Run(3)",
        "2",
    ),
}
RETURNED = {
    "by a function under one of two decorators that change nothing": (
        (
            "import os\nfrom beartype import beartype\nfrom jaxtyping import jaxtyped\ndef identity(f):\n    return f\n"
            "checked = jaxtyped(typechecker=beartype) if os.environ.get('CHECK') else identity\n"
            "@checked\ndef f(n):\n    return n\nask(f(4))"
        ),
        "4",
    ),
    "by a function under one of two decorators of which one is not known": (
        (
            "import os\nfrom x import other\ndef identity(f):\n    return f\n"
            "checked = other(1) if os.environ.get('CHECK') else identity\n"
            "@checked\ndef f(n):\n    return n\nask(f(4))"
        ),
        "?",
    ),
    "in a loop": ("def f():\n    for i in x:\n        return 1\n    return 2\nask(f())", "positive"),
    "in a with": ("def f():\n    with x:\n        return 1\n    return 2\nask(f())", "positive"),
    "in a try": ("def f():\n    try:\n        return 1\n    except E:\n        return 2\nask(f())", "positive"),
    "by machine": (
        ("import sys\ndef f():\n    if sys.platform == 'linux':\n        return 1\n    return 2\nask(f())"),
        "positive",
    ),
    "nothing": ("def f():\n    return\nask(f())", "None"),
    "or an error": ("def f():\n    if x:\n        raise E\n    return 1\nask(f())", "1"),
    "of three": (
        (
            "def f(x):\n    if x == 1:\n        return 1\n    elif x == 2:\n        return 2\n    else:\n"
            "        return 3\nask(f(y))"
        ),
        "positive",
    ),
    "of three that is chosen": (
        (
            "def f(x):\n    if x == 1:\n        return 1\n    elif x == 2:\n        return 2\n    else:\n"
            "        return 3\nask(f(2))"
        ),
        "2",
    ),
    "of a case": (
        (
            "def f(x):\n    match x:\n        case 1:\n            return 1\n        case _:\n"
            "            return 2\nask(f(y))"
        ),
        "positive",
    ),
    "in a with and an if": (
        "def f():\n    with a:\n        if x:\n            return 1\n    return 2\nask(f())",
        "positive",
    ),
    "of a method of a class": ("class A:\n    def f(self, n):\n        return n\nask(A.f(A(), 3))", "3"),
    "of a static method": ("class A:\n    @staticmethod\n    def f(n):\n        return n\nask(A.f(3))", "3"),
    "of a method that gets the class": (
        "class A:\n    @classmethod\n    def f(cls, n):\n        return n\nask(A.f(3))",
        "3",
    ),
    "of a method that makes an object of its class": (
        (
            "class A:\n    def __init__(self, n):\n        self.n = n\n    @classmethod\n    def make(cls):\n"
            "        return cls(3)\nclass B(A):\n    pass\nask(B.make().n)"
        ),
        "3",
    ),
    "of a method that reads an attribute of its class": (
        "class A:\n    n = 3\n    @classmethod\n    def f(cls):\n        return cls.n\nask(A.f())",
        "3",
    ),
    "of a method of another object": (
        "class A:\n    def __init__(self):\n        self.n = 3\n    def f(self):\n        return self.n\nask(A.f(A()))",
        "3",
    ),
}
ATTRIBUTES = {
    "of an object that a library makes from a file": (
        "from own import A\nask(A.load_from_checkpoint(x, n=3).n)\n--- own.py\n" + CLASSES,
        "3",
    ),
    "of an object that a library makes from a file, where that may say it": (
        "from own import A\nask(A.load_from_checkpoint(x).n)\n--- own.py\n" + CLASSES,
        "?",
    ),
    "that a method sets up": (
        "class A:\n    def set_up(self, n):\n        self.n = n\na = A()\na.set_up(3)\nb = A()\nb.set_up(4)\nask(a.n)",
        "3",
    ),
    "that a method sets up twice": (
        "class A:\n    def set_up(self, n):\n        self.n = n\na = A()\na.set_up(3)\na.set_up(4)\nask(a.n)",
        "positive",
    ),
    "of a class by another name": (
        (
            "class A:\n    def __init__(self, n):\n        self.n = n\n    def f(self):\n        ask(self.n)\nB = A\n"
            "B(3).f()"
        ),
        "3",
    ),
    "that an heir sets": (
        (
            "class A:\n    def f(self):\n        ask(self.n)\nclass B(A):\n    def __init__(self):\n"
            "        self.n = 3\nB().f()"
        ),
        "3",
    ),
    "that the base of one of two objects is given": (
        (
            "class A:\n    def __init__(self, n):\n        self.n = n\nclass B(A):\n    def __init__(self, n):\n"
            "        super().__init__(n + 1)\nB(4)\nb = B(3)\nask(b.n)"
        ),
        "4",
    ),
    "that a table of all attributes sets": (
        "class A:\n    def __init__(self, **kw):\n        self.n = 1\n        self.__dict__.update(kw)\nask(A(n=2).n)",
        "2",
    ),
    "that a table of all attributes leaves as it is": (
        "class A:\n    def __init__(self, **kw):\n        self.n = 1\n        vars(self).update(kw)\nask(A(m=2).n)",
        "1",
    ),
    "that a table which nobody knows may set": (
        "class A:\n    def __init__(self, kw):\n        self.n = 1\n        self.__dict__.update(kw)\nask(A(load()).n)",
        "?",
    ),
    "that a loop over a mapping sets": (
        (
            "class A:\n    def __init__(self, kw):\n        self.n = 1\n        self.take(kw)\n"
            "    def take(self, kw):\n        for k, v in kw.items():\n            if hasattr(self, k):\n"
            "                setattr(self, k, v)\nask(A({'n': 3}).n)"
        ),
        "3",
    ),
    "that holds a list which has got items since": (
        (
            "import argparse\nkept = argparse.Namespace()\nkept.rows = []\n"
            "for one in open('rows'):\n    kept.rows.append(one)\nask(len(kept.rows))"
        ),
        "?",
    ),
    "that holds a list": ("import argparse\nkept = argparse.Namespace()\nkept.rows = []\nask(len(kept.rows))", "0"),
    "that a loop may change on the way": (
        (
            "class A:\n    def __init__(self, kw):\n        self.n = 1\n        for k, v in kw.items():\n"
            "            if v:\n                setattr(self, k, v)\nask(A({'n': 3}).n)"
        ),
        "?",
    ),
    "that a loop sets to something else": (
        (
            "class A:\n    def __init__(self, kw):\n        for k, v in kw.items():\n"
            "            setattr(self, k, v + 1)\nask(A({'n': 3}).n)"
        ),
        "?",
    ),
    "beside a table that is updated": (
        "class A:\n    def __init__(self, **kw):\n        self.n = 1\n        self.rows.update(kw)\nask(A(n=2).n)",
        "1",
    ),
    "a property": ("class A:\n    @property\n    def n(self):\n        return 3\nask(A().n)", "3"),
    "a class attribute of an object": ("class A:\n    n = 3\nask(A().n)", "3"),
    "a class attribute": ("class A:\n    n = 3\nask(A.n)", "3"),
    "that the constructor sets": ("class A:\n    def __init__(self, n=3):\n        self.n = n\nask(A(4).n)", "4"),
    "that the constructor sets by default": (
        "class A:\n    def __init__(self, n=3):\n        self.n = n\nask(A().n)",
        "3",
    ),
    "a field": ("from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int = 3\nask(A().n)", "3"),
    "a field that is given": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int = 3\nask(A(4).n)",
        "4",
    ),
    "a field with a default": (
        ("from dataclasses import dataclass, field\n@dataclass\nclass A:\n    n: int = field(default=3)\nask(A().n)"),
        "3",
    ),
    "a field with a factory": (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
            "    n: list = field(default_factory=lambda: [3])\nask(A().n)"
        ),
        "[3]",
    ),
    "a part of a dataset": (
        (
            "from torch.utils.data import random_split\nclass A:\n    def __init__(self):\n"
            "        self.a, self.b = random_split(d, [1, 2])\nask(A().b)"
        ),
        "torch.utils.data.random_split",
    ),
    "a part of something else": (
        "class A:\n    def __init__(self):\n        self.a, self.b = load()\nask(A().b)",
        "?",
    ),
    "a field of a tuple": ("from typing import NamedTuple\nclass A(NamedTuple):\n    n: int = 3\nask(A(4).n)", "4"),
    "that is inherited": ("from own import B\nask(B(4).n)\n--- own.py\n" + CLASSES, "4"),
    "of self": ("class A:\n    n = 3\n    def f(self):\n        ask(self.n)\nA().f()", "3"),
    "of self, set twice": (
        (
            "class A:\n    def __init__(self):\n        self.n = 3\n    def g(self):\n        self.n = 4\n"
            "    def f(self):\n        ask(self.n)\nA().f()"
        ),
        "positive",
    ),
    "saved hyperparameters": (
        (
            "import lightning as L\nclass A(L.LightningModule):\n    def __init__(self, n=3):\n"
            "        self.save_hyperparameters()\nask(A(4).hparams.n)"
        ),
        "4",
    ),
    "hyperparameters stored one by one": (
        (
            "import lightning as L\nclass A(L.LightningModule):\n    def __init__(self):\n"
            "        super().__init__()\n        self.hparams.n = 4\n"
            "    def f(self):\n        ask(self.hparams.n)\nA().f()"
        ),
        "4",
    ),
    "hyperparameters stored after they are saved": (
        (
            "import lightning as L\nclass A(L.LightningModule):\n    def __init__(self, n=3):\n"
            "        self.save_hyperparameters()\n        self.hparams.n = 5\nask(A(4).hparams.n)"
        ),
        "5",
    ),
    "hyperparameters stored by whoever is first": (
        (
            "import lightning as L\nclass A(L.LightningModule):\n    def __init__(self):\n"
            "        super().__init__()\n    def g(self):\n        self.hparams.n = 4\nask(A().hparams.n)"
        ),
        "?",
    ),
    "by name": ("class A:\n    n = 3\nask(getattr(A(), 'n'))", "3"),
    "that a mapping may replace": (
        "class A:\n    n = 3\n    def __init__(self, given):\n        self.__dict__ = given\nask(A(x).n)",
        "?",
    ),
    "that an entry may replace": (
        "class A:\n    n = 3\n    def __init__(self, key):\n        self.__dict__[key] = 4\nask(A(x).n)",
        "?",
    ),
    "beside a mapping that is read": (
        "class A:\n    n = 3\n    def __init__(self):\n        print(self.__dict__)\nask(A().n)",
        "3",
    ),
}


SACRED = {
    "an entry of a configuration": (
        SACRED_EX + "@ex.config\ndef config():\n    n = 4\n@ex.automain\ndef main(n):\n    ask(n)",
        "4 by default",
    ),
    "an entry of a mapping that is changed": (
        SACRED_EX + "@ex.config\ndef config():\n    kw = {'n': 1}\n    kw['n'] = 4\n"
        "@ex.main\ndef main(kw):\n    ask(kw['n'])",
        "4 by default",
    ),
    "what is given by hand": (
        SACRED_EX
        + "ex.add_config(n=4)\n@ex.capture\ndef load(n):\n    ask(n)\n@ex.automain\ndef main():\n    load(n=2)",
        "2",
    ),
    "before a default": (
        SACRED_EX + "ex.add_config({'n': 4})\n@ex.capture\ndef load(n=1):\n    ask(n)\n"
        "@ex.automain\ndef main():\n    load()",
        "4 by default",
    ),
    "of a file": (
        SACRED_EX + "ex.add_config('settings.yaml')\n@ex.automain\ndef main(n):\n    ask(n)\n--- settings.yaml\nn: 4\n",
        "4 by default",
    ),
    "of another experiment": (
        SACRED_EX + "other = Experiment('b')\nother.add_config(n=4)\n@ex.automain\ndef main(n):\n    ask(n)",
        "?",
    ),
    "not of the configuration": (
        SACRED_EX + "ex.add_config(m=4)\n@ex.automain\ndef main(n=1):\n    ask(n)",
        "1 by default",
    ),
    "a method of something else": (
        "def f():\n    n = 4\n@x.config\ndef g():\n    n = 4\n@x.automain\ndef main(n):\n    ask(n)",
        "?",
    ),
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


@pytest.mark.parametrize(("text", "expected"), [*OPTIONS.values()], ids=OPTIONS)
def test_options(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*SACRED.values()], ids=SACRED)
def test_sacred(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*FILES.values()], ids=FILES)
def test_files(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*NUMBERS.values()], ids=NUMBERS)
def test_numbers(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*PARAMETERS.values()], ids=PARAMETERS)
def test_parameters(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*RETURNED.values()], ids=RETURNED)
def test_returned(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), [*ATTRIBUTES.values()], ids=ATTRIBUTES)
def test_attributes(text: str, expected: str, tmp_path: Path) -> None:
    assert said(text, tmp_path) == expected


def said(text: str, folder: Path) -> str:
    """What the evaluator says of the argument of ``ask``, as text."""
    script, *rest = FILE.split(text)
    (folder / "pyproject.toml").touch()
    (folder / "script.py").write_text(script, encoding="utf-8")
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
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
