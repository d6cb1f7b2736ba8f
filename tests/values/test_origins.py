"""Where a value is written: the argument of ``ask(...)`` in small programs, and the expressions that it stands for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.origins import behind, origins

BRANCHES = "m = a == 0\nif x:\n    m = b > 1\nask(m)"
UNPACKED = "m, n = load()\nask(m)"
PROGRAMS = {
    "a name": ("m = a == 0\nask(m)", ["a == 0"]),
    "a name bound in a branch": (BRANCHES, ["b > 1", "a == 0"]),
    "a name bound again": ("m = a == 0\nm = b > 1\nask(m)", ["b > 1"]),
    "a name for a name": ("m = a == 0\nn = m\nask(n)", ["a == 0"]),
    "either of two": ("m = a == 0\nask(m if x else b > 1)", ["a == 0", "b > 1"]),
    "what with gives": ("with open(p) as f:\n    ask(f)", ["open(p)"]),
    "an unpacked name": (UNPACKED, ["m"]),
    "a name that grows": ("m = a == 0\nm += 1\nask(m)", ["m"]),
    "a loop variable": ("for m in [a == 0]:\n    ask(m)", ["m"]),
    "a parameter": ("def f(m):\n    ask(m)\nf(a == 0)", ["m"]),
    "a call of a function": ("def f(m):\n    return m\nask(f(a == 0))", ["a == 0"]),
    "a function with branches": (
        "def f():\n    if x:\n        return a == 0\n    return b > 1\nask(f())",
        ["a == 0", "b > 1"],
    ),
    "a decorated function": ("@wrap\ndef f():\n    return a == 0\nask(f())", ["f()"]),
    "a generator": ("def f():\n    yield 1\n    return a == 0\nask(f())", ["f()"]),
    "a function that calls itself": ("def f():\n    return f()\nask(f())", ["f()"]),
    "an attribute": (
        "class A:\n    def __init__(self):\n        self.m = a == 0\n    def run(self):\n        ask(self.m)",
        ["a == 0"],
    ),
    "an attribute that a call gives": (
        "class A:\n    def __init__(self, m):\n        self.m = m\nask(A(a == 0).m)",
        ["a == 0"],
    ),
    "an attribute that two methods set": (
        (
            "class A:\n    def __init__(self):\n        self.m = a == 0\n    def run(self):\n        ask(self.m)\n"
            "    def turn(self):\n        self.m = b > 1"
        ),
        ["a == 0", "b > 1"],
    ),
    "an attribute that a subclass sets as well": (
        (
            "class A:\n    def __init__(self):\n        self.m = a == 0\n    def run(self):\n        ask(self.m)\n"
            "class B(A):\n    def turn(self):\n        self.m = b > 1"
        ),
        ["self.m"],
    ),
    "a buffer": (
        (
            "class A:\n    def __init__(self):\n        self.register_buffer('m', a == 0)\n"
            "    def run(self):\n        ask(self.m)"
        ),
        ["a == 0"],
    ),
    "a method of its own": (
        "class A:\n    def make(self):\n        return a == 0\n    def run(self):\n        ask(self.make())",
        ["a == 0"],
    ),
    "a name of another module": ("from other import m\nask(m)", ["c < 2"]),
}


def asked(text: str, tmp_path: Path) -> tuple[Evaluator, Expression]:
    """The argument of ``ask`` in a program, and an evaluator of its project."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "other.py").write_text("m = c < 2\n")
    path = tmp_path / "main.py"
    path.write_text(text)
    project = Project(tmp_path, Settings())
    module = project.module(path)
    assert module is not None
    calls = (node for node in module.nodes if isinstance(node, ast.Call))
    call = next(node for node in calls if ast.unparse(node.func) == "ask")
    return Evaluator(project), Expression(module, module.scope_at(call), call.args[0])


@pytest.mark.parametrize(("text", "wanted"), PROGRAMS.values(), ids=PROGRAMS)
def test_an_expression_stands_for_those_that_gave_its_value(text: str, wanted: list[str], tmp_path: Path) -> None:
    assert [ast.unparse(one.node) for one in origins(*asked(text, tmp_path))] == wanted


def test_of_those_that_are_known_in_part_only_who_asks_for_them_gets_any(tmp_path: Path) -> None:
    place = asked("def f(m):\n    if x:\n        m = a == 0\n    ask(m)", tmp_path)
    assert behind(*place) == ()
    assert [ast.unparse(one.node) for one in behind(*place, perhaps=True)] == ["a == 0"]
