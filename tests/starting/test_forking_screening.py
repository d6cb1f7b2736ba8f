"""The screen of FKL203 and FKL102 against the runs themselves: what is not entered does nothing that counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.forking.screening import uses
from forklint.forking.uses import Poisons
from forklint.project.index import Project
from forklint.project.module import FunctionFacts
from forklint.runs.reached import Place, may_reach
from forklint.runs.trace import Enters, Part, Trace
from forklint.runs.walk import trace_of_function

FIXTURES = Path(__file__).parents[1] / "fixtures"


def findings(folder: Path, each: int) -> list[object]:
    settings = SettingsFinder({"select": ["FKL102", "FKL203"], "preview": True}, isolated=True).for_file(
        folder / "x.py"
    )
    linter = Linter(Project(folder, settings), Options(with_fixes=False))
    return [finding for path in sorted(linter.project.files)[::each] for finding in linter.lint(path).findings]


@pytest.mark.parametrize("each", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("code", ["FKL102", "FKL203", "FKL205", "FKL304"])
def test_the_screen_changes_no_finding(code: str, each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = FIXTURES.glob(f"{code}_*")
    screened = findings(folder, each)
    monkeypatch.setattr(Poisons, "may_matter", lambda *_: True)
    assert findings(folder, each) == screened
    assert screened or code not in {"FKL102", "FKL203"}


def calls_in(trace: Trace) -> Iterator[Enters]:
    for step in trace:
        if isinstance(step, Enters):
            yield step
        elif isinstance(step, Part):
            yield from calls_in(step.trace)


TOOLS = """
import os
import json
import torch
from torch.utils.model_zoo import tqdm
import helper

def harmless(path, sizes=(1, 2)):
    with open(os.path.join(path, "x")) as file:
        return tqdm(json.load(file))

def through(path):
    return harmless(path)

def computes(path):
    return torch.nn.Linear(64, 64)

def leads(path):
    return computes(path)

def moves(batch):
    return batch.to("cuda")

def allocates(path):
    return torch.zeros(4, device="cuda")

def applies(function):
    return function(1)

def registered(path):
    import helper
    return helper.SIZE

@torch.jit.script
def scripted(x):
    return x

class Reader:
    def __init__(self, path):
        self.path = path

    def read(self):
        return harmless(self.path)

class Net(torch.nn.Module):
    pass
"""


@pytest.mark.parametrize(
    ("call", "is_entered"),
    [
        ("harmless('a')", False),
        ("harmless(path)", False),
        ("harmless(os.path.join(path, 'a'), sizes=[1, 2])", False),
        ("through('a')", False),
        ("tools.through('a')", False),
        ("Reader('a')", False),
        ("computes('a')", True),
        ("leads('a')", True),
        ("moves(path)", True),
        ("allocates('a')", True),
        ("scripted(1)", True),
        ("registered('a')", True),
        ("applies(torch.nn.Linear(64, 64))", True),
        ("applies(partial(torch.nn.Linear(64, 64), 1))", True),
        ("applies([torch.nn.Linear(64, 64)])", True),
        ("applies(Net())", True),
        ("applies(computes)", True),
        ("applies(lambda x: computes(x))", True),
    ],
)
def test_what_a_call_may_do_decides_whether_it_is_entered(tmp_path: Path, call: str, is_entered: bool) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "helper.py").write_text("import torch\nSIZE = torch.zeros(2, device='cuda')\n")
    head = "import os\nimport torch\nimport tools\nfrom functools import partial\nfrom tools import *\n"
    (tmp_path / "train.py").write_text(f"{head}\ndef main(path):\n    {call}\n")
    settings = SettingsFinder({}, isolated=True).for_file(tmp_path / "x.py")
    project = Project(tmp_path, settings)
    module = project.module(tmp_path / "train.py")
    assert module is not None
    (main,) = (one for one in module.functions if one.node.name == "main")
    topic = Poisons(project)
    trace = trace_of_function(topic, FunctionFacts(module, main.node))
    assert any(step.function.module.path.name == "tools.py" for step in calls_in(trace)) is is_entered


def test_a_name_comes_to_stand_for_what_forks(tmp_path: Path) -> None:
    """What code may reach is remembered, but not which names fork."""
    user, home = tmp_path / "user.py", tmp_path / "home.py"
    user.write_text("from elsewhere import Job\n\n\ndef begin():\n    Job()\n")
    home.write_text("class Job: ...\n")
    project = Project(tmp_path, SettingsFinder({}, isolated=True).for_file(home))
    found = [may_reach(project, Place(user, "begin"), uses(project))]
    for base in ("(Process)", ""):
        project.replace(home, f"class Job{base}: ...\n".encode())
        found.append(may_reach(project, Place(user, "begin"), uses(project)))
    assert found == [False, True, False]
