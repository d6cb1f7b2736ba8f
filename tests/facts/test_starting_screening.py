"""The screen of FKL201 against the abstract run: where that comes to a start, the file must pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.facts.starting.running.execution import Execution
from forklint.facts.starting.running.starts import OutOfStepsError, StartedError
from forklint.facts.starting.screening import may_start
from forklint.model import Cell
from forklint.project.index import Project
from forklint.rules.missing_main_guard import SHAPE, MissingMainGuard
from forklint.source.parts import parts_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
GUARD = re.compile(rb"if __name__ == .__main__.:")


def project_of(folder: Path) -> Project:
    return Project(folder, SettingsFinder({}, config=None, isolated=True).for_file(folder / "any.py"))


def starts(project: Project, path: Path) -> bool:
    module = project.module(path)
    if module is None:
        return False
    try:
        Execution(project, module, lambda _: (Cell("linux", "spawn"),)).run()
    except StartedError:
        return True
    except (OutOfStepsError, RecursionError):
        return False
    return False


def test_no_start_is_passed_over_once_every_guard_is_gone() -> None:
    found = 0
    for folder in sorted(FIXTURES.glob("FKL2*")):
        project = project_of(folder)
        for path in project.files:
            project.replace(path, GUARD.sub(b"if True:", project.data(path)))
        rule = MissingMainGuard(project)
        for path in project.files:
            if SHAPE.search(project.data(path)) and rule.reaches_tokens(path) and starts(project, path):
                found += 1
                assert may_start(project, path, rule.holds_tokens), path
    assert found > 30


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
    ],
)
def test_what_a_script_names_decides(tmp_path: Path, script: str, passes: bool) -> None:
    (tmp_path / "tools.py").write_text(
        "from multiprocessing import Pool\n\n\ndef harmless(*a):\n    return 1\n\n\ndef go():\n    Pool(2)\n\n\n"
        "class Base:\n    def start(self):\n        go()\n\n\nclass Runner(Base):\n    pass\n\n\n"
        "again = go\nJOBS = [lambda: Pool(1)]\n"
    )
    (tmp_path / "script.py").write_text(script)
    rule = MissingMainGuard(project_of(tmp_path))
    assert rule.may_hold(tmp_path / "script.py", script.encode()) is passes


def test_strings_and_comments_are_no_code() -> None:
    parts = parts_of(
        b"'''\ndef fake(): \"\n'''\nA = 'it\\'s' + start() + \"#\" + '\\\\' + more()  # don't()\n"
        b"def real(a='''x\n\n'''):\n    return f'{inner()} {{}}'\nB = rest(\n)\n"
    )
    assert parts is not None
    assert {"start", "more", "rest", "A", "B"} <= parts.top.words
    assert not {"fake", "don"} & parts.top.words
    assert list(parts.defined) == ["real"]
    assert "inner" in parts.defined["real"][0].words


@pytest.mark.parametrize("text", [b"a = 'open\n", b"a = 1\rb = 2\n", b"x = 1 '\n"])
def test_what_cannot_be_cut_is_left_whole(text: bytes) -> None:
    assert parts_of(text) is None
