"""Whether what a call is given may start processes: each name is followed to what the top level says of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.runs.given import may_be_given
from forklint.runs.reached import Place, may_reach
from forklint.starting.screening import starts
from forklint.values.model import Expression

LAZY = """
import importlib
from types import ModuleType

class Lazy(ModuleType):
    def __init__(self, name, file, structure):
        super().__init__(name)
        self.structure = self._read(structure)

    def _read(self, structure):
        return dict(structure)

    def __getattr__(self, name):
        return importlib.import_module(name)

class Eager(Lazy):
    pass

class Busy:
    def __init__(self, paths):
        self.begin(paths)

    def begin(self, paths):
        Pool(2).map(len, paths)

    def end(self):
        pass

def structure_of(file):
    return {file: [file]}
"""
HEAD = """
import sys
from lazy import Busy, Eager, Lazy, structure_of
from work import train
"""
SOUGHT = starts(frozenset({"DataLoader", "Pool"}))


@pytest.fixture
def given(tmp_path: Path) -> Callable[[str], bool]:
    """Whether what the last call of a script is given may be what is sought."""

    def ask(script: str) -> bool:
        (tmp_path / "lazy.py").write_text(LAZY)
        (tmp_path / "work.py").write_text("def train(settings):\n    list(DataLoader(settings, num_workers=2))\n")
        path = tmp_path / "script.py"
        path.write_text(HEAD + script)
        project = Project(tmp_path, Settings())
        module = project.module(path)
        assert module is not None
        last = module.tree.body[-1].value  # type: ignore[attr-defined]
        assert isinstance(last, ast.Call)
        return may_be_given(project, Expression(module, module.scope, last), SOUGHT)

    return ask


@pytest.mark.parametrize(
    "script",
    [
        "sys.modules[__name__] = Lazy(__name__, __file__, {})",
        "file = globals()['__file__']\nsys.modules[__name__] = Lazy(__name__, file, structure_of(file))",
        "parts = {}\nif sys.argv:\n    parts['a'] = ['b']\nparts.update(c=['d'])\nLazy(__name__, '', parts)",
        "file = 'a'\nprint(file, len(file))\nLazy(__name__, file, {})",
    ],
)
def test_names_and_numbers_start_nothing(given, script: str) -> None:
    assert not given(script)


@pytest.mark.parametrize(
    "script",
    [
        "Lazy(__name__, train, {})",
        "parts = {}\nif sys.argv:\n    parts['a'] = train\nLazy(__name__, '', parts)",
        "first = train\nsecond = first\nLazy(__name__, '', [second])",
        "from torch.utils.data import DataLoader\nloader = DataLoader([1], num_workers=2)\nLazy('', '', loader)",
        "parts = []\nfor one in [train]:\n    parts.append(one)\nLazy(__name__, '', parts)",
        "import importlib\nwork = importlib.import_module('work')\nLazy(__name__, '', work)",
        "import work\nLazy(__name__, '', work.train)",
        "Lazy(__name__, '', lambda: train({}))",
    ],
)
def test_what_starts_processes_may_be_handed_on(given, script: str) -> None:
    assert given(script)


@pytest.mark.parametrize(
    ("name", "reaches"),
    [("Lazy", True), ("Lazy.__init__", False), ("Eager", True), ("Busy.__init__", True), ("structure_of", False)],
)
def test_a_constructor_runs_what_it_calls_of_its_class(tmp_path: Path, name: str, *, reaches: bool) -> None:
    (tmp_path / "lazy.py").write_text(LAZY)
    project = Project(tmp_path, Settings())
    assert may_reach(project, Place(tmp_path / "lazy.py", name), SOUGHT) is reaches


IMPORTED = "def version_of(name):\n    module = importlib.import_module(name)\n"


@pytest.mark.parametrize(
    ("body", "reaches"),
    [
        ("    return getattr(module, '__version__', None)", False),
        ("    return module.__version__, hasattr(module, name)", False),
        ("    return module is not None", False),
        ("    importlib.import_module(name)", False),
        ("    return module", True),
        ("    return module.main", True),
        ("    module.main()", True),
        ("    return importlib.import_module(name).main()", True),
        ("    return getattr(module, name)()", True),
        ("    return map(importlib.import_module, name)", True),
        ("    def inner():\n        return module\n    return inner", True),
    ],
)
def test_a_module_that_is_only_looked_at_starts_nothing(tmp_path: Path, body: str, *, reaches: bool) -> None:
    (tmp_path / "tools.py").write_text(f"import importlib\n{IMPORTED}{body}\n")
    assert may_reach(Project(tmp_path, Settings()), Place(tmp_path / "tools.py", "version_of"), SOUGHT) is reaches
    follows_imports = SOUGHT._replace(name="imports", by_import=True)
    assert may_reach(Project(tmp_path, Settings()), Place(tmp_path / "tools.py", "version_of"), follows_imports)
