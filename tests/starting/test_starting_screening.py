"""The screen of FKL201 against the run of a script: where that comes to a start, the file must pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.project.index import Project
from forklint.rules.missing_main_guard.rule import MissingMainGuard, runs_something
from forklint.starting.reach import reached
from forklint.starting.screening import may_start

FIXTURES = Path(__file__).parents[1] / "fixtures"
GUARD = re.compile(rb"if __name__ == .__main__.:")


def project_of(folder: Path) -> Project:
    return Project(folder, SettingsFinder({}, config=None, isolated=True).for_file(folder / "any.py"))


def starts(project: Project, path: Path) -> bool:
    module = project.module(path)
    return module is not None and bool(reached(project, module))


@pytest.mark.parametrize(("folders", "fewest"), [("FKL202*", 15), pytest.param("FKL2*", 30, marks=pytest.mark.soak)])
def test_no_start_is_passed_over_once_every_guard_is_gone(folders: str, fewest: int) -> None:
    found = 0
    for folder in sorted(FIXTURES.glob(folders)):
        project = project_of(folder)
        for path in project.files:
            project.replace(path, GUARD.sub(b"if True:", project.data(path)))
        rule = MissingMainGuard(project)
        for path in project.files:
            if runs_something(project.data(path)) and starts(project, path):
                found += 1
                assert may_start(project, path, rule.starters), path
    assert found > fewest


@pytest.mark.parametrize(
    ("script", "passes"),
    [
        ("LIMIT = dict(a=1)\n", False),
        ("from tools import harmless\nharmless()\n", False),
        ("from tools import go\ngo()\n", True),
        ("from tools import Runner\nRunner().start()\n", True),
        ("from tools import again\nagain()\n", True),
        ("import tools\ntools.go()\n", True),
        ("import tools as t\nt.harmless(1)\n", False),
        ("from tools import *\nharmless()\n", False),
        ("from tools import *\ngo()\n", True),
        ("from tools import go\n@go(\n    size=(1, 2)\n)\ndef harmless(): pass\nprint(1)\n", False),
        ("from tools import go\nx = print(1\n    @go())\n", True),
        ("from tools import JOBS\nfor job in JOBS: job()\n", True),
        ("import tools\nTEXT = 'tools.go()'  # tools.go()\nprint(TEXT)\n", False),
        ("import multiprocessing as mp\nprint(mp.cpu_count())\n", True),
        ("def go():\n    from tools import go\n    go()\nprint(go())\n", True),
        ("def go():\n    from tools import go\n    go()\nprint(1)\n", False),
        ("\ufefffrom tools import go\ngo()\n", True),
        ("from tools import quiet\nprint(quiet())\n", False),
        ("from tools import changed\nprint(changed())\n", True),
        ("import pack\npack.inner.go()\n", True),
        ("import pack\npack.inner.harmless()\n", False),
        ("import pack.inner as inner\nprint(inner.made)\n", True),
        ("from pack import shown\nshown()\n", True),
        ("from tools import go\nif __name__ == '__main__':\n    go()\nelse:\n    print(1)\n", False),
        ("from tools import go\nif __name__ == '__main__':\n    print(1)\nelse:\n    go()\n", True),
        ("from tools import go, method\nmethod()\nif __name__ == '__main__':\n    go()\n", True),
        ("from tools import go\nTEXT = print('''\ndef f():\n    pass\n  ''', go())\n", True),
        ("from tools import go\ndef f():\n    x = '''\nclass A:\n'''\n    go()\nprint(f())\n", True),
        ("from tools import go\nclass A:\n    '''Doc.'''\n    def f(self):\n        go()\nprint(1)\n", False),
        ("from tools import go\nclass A:\n    def f(self):\n        pass\n    x = go()\nprint(1)\n", True),
    ],
)
def test_what_a_script_names_decides(tmp_path: Path, script: str, passes: bool) -> None:
    (tmp_path / "tools.py").write_text(
        "from multiprocessing import Pool\n\n\ndef harmless(*a):\n    return 1\n\n\ndef go():\n    Pool(2)\n\n\n"
        "class Base:\n    def start(self):\n        go()\n\n\nclass Runner(Base):\n    pass\n\n\n"
        "again = go\nJOBS = [lambda: Pool(1)]\nLIMIT = 3\nfirst = go\nTABLE = {}\nTABLE['first'] = first\n\n\n"
        "def quiet():\n    return LIMIT\n\n\ndef changed():\n    return TABLE['first']()\n\n\n"
        "def method():\n    set_start_method('spawn')\n"
    )
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from .inner import *\n")
    (tmp_path / "pack" / "inner.py").write_text("from tools import go, harmless\nmade = go()\nshown = go\n")
    (tmp_path / "script.py").write_text(script)
    rule = MissingMainGuard(project_of(tmp_path))
    assert rule.may_hold(tmp_path / "script.py", script.encode()) is passes
