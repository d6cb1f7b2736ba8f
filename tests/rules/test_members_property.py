"""FKL501 with and without its screen over small projects, put together by chance from every shape it judges.

Whoever teaches the rule another kind of receiver adds its shapes here: in one of them at least the name must lack.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.project.index import Project
from forklint.rules.unknown_method.objects import Objects
from forklint.rules.unknown_method.rule import UnknownMethod

CLASSES = (
    "class Net(nn.Module):\n    width = 3\n    def compute_scores(self, x):\n        return x\n",
    "class Net:\n    def compute_scores(self, x): return x\n",
    "class Base(nn.Module):\n    def compute_scores(self, x):\n        return x\n\n\nclass Net(Base):\n    pass\n",
    """class Net:
    class Proxy:
        def __getattr__(self, name):
            return name
    def compute_scores(self, x):
        return self.Proxy()
""",
    "class _Net(nn.Module):\n    def compute_scores(self, x):\n        return x\n\n\nNet = _Net\n",
)
MADE = (
    "{net}()",
    "{net}(4, [1, 2])",
    "{net}('(')",
    "{net}().to('cpu')",
    "{net}(4).to('cpu').eval()",
    "({net}()\n{i}    .to('cpu'))",
    "{net}(4)  .  cpu  ()",
    "(  # the model\n{i}    {net}(\n{i}        4,  # wide\n{i}    )\n{i}    # and moved\n{i}    .cuda()\n{i})",
    "\\\n{i}    {net}()",
    "({net})()",
    "({net}  # why\n{i}    ())",
    "{net} \\\n{i}    ()",
    "{net}().loss()",
    "{net}()(1)",
    "nn.Linear(2, 2)",
    "nn.Linear(2, 2).to('cpu')",
    "make()",
    "(made := {net}())",
)
GIVEN = (
    "{x} = {v}",
    "{x}: object = {v}",
    "{x}: dict[\n{i}    str, int\n{i}] = {v}",
    "{x} = other = {v}",
    "other = {x} = {v}",
    "{x} = \\\n{i}    other = {v}",
    "({x}) = {v}",
    "step = 1; {x} = {v}",
    "step: int = 1; {x} = {v}",
    "{x}, step = {v}, 1",
    "step, {x} = 1, {v}",
    "(step,\n{i} {x}) = (1, {v})",
    "[{x},\n{i} step] = [{v}, 1]",
    "step, \\\n{i}    {x} = make(), {v}",
    "step, {x} = (\n{i}    ')',\n{i}    {v},\n{i})",
    "both = {x}, step = {v}, 1",
    "both = step, {x} = (\n{i}    1,\n{i}    {v},\n{i})",
    "if step: {x} = {v}",
    "try: {x} = {v}\n{i}finally: pass",
    "with nn as n: {x} = {v}",
    "print({x} := {v})",
)
WRITTEN_IN = ("models.py", "kit/models.py", "kit/__init__.py")
IMPORTED = {
    "models.py": ("from models import {a}", "from models import {a} as {b}", "from kit import {a}"),
    "kit/models.py": (
        "from kit.models import {a}",
        "from kit import (\n    {a} as {b},  # from below\n)",
        "import kit.models",
    ),
    "kit/__init__.py": ("from kit import {a} as {b}", "import kit", "from kit import *"),
}
PASSED_ON = ("from .models import {a}\n", "from .models import *\n", "from models import *\n", "")
METHODS = ("compute_score", "compute_scores", "lod_state_dict", "missing", "eval", "forward")


def written(chance: random.Random, template: str, net: str, variable: str, indent: str) -> str:
    value = chance.choice(MADE).replace("{net}", net).replace("{i}", indent)
    return indent + template.replace("{x}", variable).replace("{v}", value).replace("{i}", indent) + "\n"


def given(chance: random.Random, net: str, variable: str, indent: str = "") -> str:
    return written(chance, chance.choice(GIVEN if chance.random() < 0.7 else GIVEN[:1]), net, variable, indent)


def called(chance: random.Random, receiver: str, indent: str = "") -> str:
    return f"{indent}{receiver}.{chance.choice(METHODS)}(1)\n"


def keeper(chance: random.Random, net: str) -> str:
    """A class that keeps an object, and calls a method of it and one of its own."""
    shape = chance.choice(("{x} = {v}", "{x} = {v}", "{x} = other = {v}", "other = {x} = {v}", "({x}) = {v}"))
    kept = written(chance, shape, net, f"self.{chance.choice(('model', 'net'))}", "        ")
    if chance.random() < 0.2:
        kept = written(chance, "self.model = self.net = {v}", net, "", "        ")
    return (
        f"class Trainer:\n    shared = {net}()\n    def __init__(self):\n{kept}\n    def run(self):\n"
        + called(chance, "self.model", " " * 8)
        + called(chance, "self.net", " " * 8)
        + called(chance, chance.choice(("self.shared", "Trainer.shared", "self")), " " * 8)
    )


def files(chance: random.Random) -> dict[str, str]:
    """The files of one project."""
    home = chance.choice(WRITTEN_IN)
    name = chance.choice(("Net", "Net", "net_of_ours"))
    body = chance.choice(CLASSES).replace("Net", name) + given(chance, name, "logger")
    found = {"kit/__init__.py": "", home: "\nfrom torch import nn\n\n\n" + body}
    if home != "kit/__init__.py":
        found["kit/__init__.py"] = "".join(chance.choice(PASSED_ON).format(a=a) for a in (name, "logger"))
    lines = ["import torch\nfrom torch import nn\n"]
    names = {}
    for one in (name, "logger"):
        statement = chance.choice(IMPORTED[home])
        names[one] = "Other" + one if "{b}" in statement else one
        lines.append(statement.format(a=one, b=names[one]) + "\n")
    net = chance.choice((names[name], names[name], f"kit.{name}", f"kit.models.{name}"))
    if chance.random() < 0.3:
        lines.append("\n" + chance.choice(CLASSES))
        net = names[name] = "Net"
    lines += ["\n", given(chance, net, "model"), called(chance, "model"), called(chance, names["logger"])]
    lines += [called(chance, names[name])]
    inner = given(chance, net, "inner", "    ") + called(chance, "inner", "    ")
    lines += [f"\n\ndef main():\n{inner}", f"\n\n{keeper(chance, net)}"]
    found["train.py"] = "".join(lines)
    return found


def doubted(project: Project, path: Path) -> int:
    """How many objects of a file are looked at twice, by the facts."""
    objects, module = Objects(project), project.module(path)
    if module is None:
        return 0
    return sum(1 for looked in (objects._on_variables, objects._on_attributes) for _ in looked(module))


def findings(rule: UnknownMethod, project: Project, *, screened: bool) -> set[tuple[str, int, str]]:
    found = set()
    for path in project.files:
        module = project.module(path)
        if module is None or (screened and not rule.may_hold(path, project.data(path))):
            continue
        found |= {(path.name, suspect.node.lineno, suspect.message) for suspect in rule.suspects(module)}
    return found


@pytest.mark.soak
def test_the_screen_changes_nothing_over_projects_put_together_by_chance(tmp_path: Path) -> None:
    chance = random.Random(501)
    total, skipped, parsed = 0, 0, 0
    for number in range(120):
        root = tmp_path / str(number)
        for name, text in files(chance).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        project = Project(root, SettingsFinder({}, config=None, isolated=True).for_file(root / "any.py"))
        rule = UnknownMethod(project)
        everything = findings(rule, project, screened=False)
        assert findings(UnknownMethod(project), project, screened=True) == everything, number
        passed_over = [path for path in project.files if not rule.may_hold(path, project.data(path))]
        assert not any(doubted(project, path) for path in passed_over if path.name == "train.py"), number
        total += len(everything)
        parsed += sum(project.module(path) is not None for path in project.files)
        skipped += len(passed_over)
    assert total > 50
    assert skipped > 50
    assert parsed > 250
