"""Outlines of awkward text: an outline may know too little, and must not know what is not so."""

from __future__ import annotations

import pytest

from forklint.source.constructions import called_on, constructions, may_be_alias
from forklint.source.outline import ClassOutline, Import, Outline, read


def outlined(text: str) -> Outline:
    found = read(text, text.encode())
    assert found is not None
    return found


def only(text: str) -> ClassOutline:
    (found,) = outlined(text).classes
    return found


PLAIN = """
import torch.nn as nn


class Net(nn.Module):
    rate: float = 0.1

    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 2)
        self.reset()

    def reset(self):
        self.head.reset_parameters()
"""


def test_a_class_has_its_functions_and_what_it_is_given() -> None:
    net = only(PLAIN)
    assert net.names >= {"__init__", "reset", "rate"}
    assert net.bases == ("nn.Module",)
    assert net.called == {"reset"}
    assert net.stored == {"head"}


@pytest.mark.parametrize("change", [("    ", "\t"), ("\n", "\r\n")], ids=["tabs", "crlf"])
def test_tabs_and_line_ends_make_no_difference(change: tuple[str, str]) -> None:
    net, other = only(PLAIN), only(PLAIN.replace(*change))
    assert (net.names, net.bases, net.called, net.stored) == (other.names, other.bases, other.called, other.stored)


@pytest.mark.parametrize(
    "text", ["a = 1\rclass A:\r    pass\r", "\fclass A:\n    pass\n", "def f(:\n", "class A: pass\n"]
)
def test_what_cannot_be_counted_or_parsed_has_no_outline(text: str) -> None:
    assert read(text, text.encode()) is None


def test_code_in_a_string_is_no_class_and_no_end_of_one() -> None:
    net = only('''
class Net:
    """Use it so:

class Other:
    def never(self):
        pass
    """

    def run(self):
        self.never()
''')
    assert "never" not in net.names
    assert "never" in net.called


def test_a_dedented_string_does_not_hide_what_follows_it() -> None:
    net = only('''
class Net:
    def text(self):
        return """
left = 1
"""

    def run(self):
        self.missing()
''')
    assert "missing" in net.called


def test_text_behind_a_class_gives_it_nothing() -> None:
    net = only("""
class Net:
    def run(self):
        self.start()


self.start = None
def start(self): pass
""")
    assert "start" not in net.names | net.stored


def test_nested_classes_keep_their_names_apart() -> None:
    found = {
        one.name: one
        for one in outlined("""
class Outer:
    class Inner:
        def inside(self):
            self.outside()

    def outside(self):
        self.inside()
""").classes
    }
    assert found["Outer"].names == {"outside"}
    assert found["Inner"].names == {"inside"}
    assert found["Inner"].called == {"outside"}
    assert found["Inner"].column == 4


def test_a_class_in_a_function_and_a_conditional_one_are_found() -> None:
    found = outlined("""
def make():
    class Local:
        def run(self): self.other()
    return Local


if True:
    class Net:
        if True:
            def fast(self): pass
        else:
            slow = None
        @property
        def size(self): return self.fast()
""")
    assert [one.name for one in found.classes] == ["Local", "Net"]
    assert found.classes[1].names >= {"fast", "slow", "size"}


def test_what_a_class_body_only_reads_is_not_bound() -> None:
    net = only("""
import limits
class Net:
    limits: int = limits.most
    width = default
    [helper(i) for i in range(3)]
    global shared
    shared = 1
""")
    assert {"limits", "width"} <= net.names
    assert not {"default", "helper", "shared", "range"} & net.names


@pytest.mark.parametrize(
    ("head", "bases"),
    [
        ("class A(B, metaclass=Meta):", ("B",)),
        ("class A(Generic[T], p.q.C):", ("Generic", "p.q.C")),
        ("class A(\n    B,\n    C,\n):", ("B", "C")),
        ("class A(make(B)):", None),
        ("class A(  # why\n    B\n):", None),
        ("class A(*bases):", None),
    ],
)
def test_bases(head: str, bases: tuple[str, ...] | None) -> None:
    assert only(f"\n{head}\n    pass\n").bases == bases


@pytest.mark.parametrize(
    ("line", "alias", "one"),
    [
        ("import torch.nn as nn", "nn", Import("torch.nn")),
        ("import os, torch.nn", "torch", Import("torch")),
        ("import os; import torch as t", "t", Import("torch")),
        ("from torch import (\n    nn,  # the old (and new) one\n    optim as o,\n)", "o", Import("torch", "optim")),
        ("from torch import \\\n    nn", "nn", Import("torch", "nn")),
        ("from .. import parts", "parts", Import("", "parts", 2)),
        ("from.parts import part", "part", Import("parts", "part", 1)),
        ("try: from torch import cuda\nexcept ImportError: pass", "cuda", Import("torch", "cuda")),
        ("try:\n    x\nexcept E as e:\n    raise F from e\nimport late", "late", Import("late")),
        ("# import (see below\nimport torch\nx = f()", "torch", Import("torch")),
    ],
)
def test_imports(line: str, alias: str, one: Import) -> None:
    assert one in outlined(f"\n{line}\n").imports[alias]


def test_an_import_whose_parenthesis_is_never_closed_costs_one_look() -> None:
    words = "a word # and a comment\n" * 2_000  # as in the documentation of torch; by backtracking it took for ever
    found = outlined(f'x = """ import ({words} """\nimport os\n')
    assert Import("os") in found.imports["os"]


def test_an_import_in_a_string_is_not_surely_one() -> None:
    found = outlined('"""\nfrom models import Net\n"""\nimport torch\n')
    assert found.imported == {"torch"}


@pytest.mark.parametrize(
    "line",
    [
        "x = Net()",
        "x: Net = Net(1)",
        "x = y = Net()",
        "y = x = zoo.Net()",
        "if y: x = Net()",
        "else: x = Net()",
        "x = (  # note\n    Net(a, b)\n)",
        "x = \\\n    Net()",
        "x, y = Net(), 1",
        "y, x = make(), Net()",
        "y, x = make(\n    1\n), Net()",
        "(y, x) = (\n    make(),\n    zoo\n    .Net(),\n)",
        "[y, x] = [1, Net(')')]",
        "self.y, x = 1, Net()",
        "x = Net(4).to(device).eval()",
        "x = (\n    Net(4)  # wide\n    # then moved\n    .to(device)\n)",
        "x = Net() \\\n    .cuda()",
        "x = Net(4).  to (device)",
        "x = (Net)()",
        "x = Net  (4)",
        "x = (Net  # why\n    ())",
        "x = zoo.  \\\n    Net()",
        "x = (zoo\n    # the small one\n    .Net())",
        "y: int = 1; x = Net()",
        "except: x = Net()",
        "x: dict[\n    str, int\n] = Net()",
        "x: dict[\n    str, int\n] = (  # why\n    Net()\n)",
        "x = \\\n    y = Net()",
        "x \\\n    = Net()",
        "self.y = x = Net()",
        "y = x, z = 1, Net()",
        "y = z, x = (\n    1,\n    Net(),\n)",
        "[y,\n x] = [Net(), 1]",
        "(y,\n x) = (\n    1, Net())",
        "y, \\\n    x = make(), Net()",
        "y, x = (\n    ')',\n    Net(),\n)",
        "y[0], x = (\n    1,\n    Net(),\n)",
        "if y: y, x = (\n    1,\n    Net(),\n)",
    ],
)
def test_a_variable_that_may_be_given_an_object(line: str) -> None:
    found = constructions(f"\n{line}\nx.run()\n".encode(), ())
    assert found is None or {one.rpartition(".")[2] for one in found.get("x", ())} == {"Net"}
    assert found is None or found["x"] <= {"Net", "zoo.Net"}


def test_a_class_with_a_small_name_is_looked_for_if_the_file_has_it() -> None:
    assert constructions(b"\nx = net()\n", ()) == {}
    assert constructions(b"\nx = net()\n", ["net"]) == {"x": {"net"}}


def test_what_is_taken_from_an_object_is_not_the_object() -> None:
    assert constructions(b"\nx = Net(1).loss()\ny = Net()(x)\nself.z = Net()\n", ()) == {}
    assert constructions(b"\nx = Net(1).to(0).loss()\ny = Net().to(0)(x)\n", ()) == {}


@pytest.mark.parametrize("line", ["x = Net().loss()", "x = Net().to(0).loss()", "x = Net().to(0)(1)", "x = Net()[0]"])
def test_an_object_is_given_on_by_the_methods_that_return_it_alone(line: str) -> None:
    assert constructions(f"\n{line}\n".encode(), ()) == {}


@pytest.mark.parametrize(
    "line",
    [
        "self.net = Net()",
        "self.net = zoo.Net(4).to(device)",
        "self.other = self.net = Net()",
        "self.net = self.other = Net(); self.net = Net()",
        "self.net  =  Net(\n            4,\n        )",
    ],
)
def test_what_a_class_keeps_and_what_it_calls_on_it(line: str) -> None:
    one = only(f"\nclass A:\n    def __init__(self):\n        {line}\n\n    def run(self):\n        self.net.go (1)\n")
    assert {callee.rpartition(".")[2] for callee in one.kept["net"]} == {"Net"}
    assert one.called_on_kept["net"] == {"go"}


def test_names_called_on_a_variable() -> None:
    assert called_on("x", b"x.run(1); max.stop(); self.x.go(); x.size\nx.wait (2)") == {"run", "wait"}


@pytest.mark.parametrize(
    "line", ["Net = Base", "Net = zoo.Base  # why", "A, Net = B, C", "(A, Net) = B, C", "A = Net = B"]
)
def test_another_name(line: str) -> None:
    assert may_be_alias("Net", f"\n{line}\n".encode())


@pytest.mark.parametrize(
    "line", ["x = Net()", "Net = None", "def f(x: Net, y=1): pass", "Net, has = get('a', 'b')", "MyNet = B"]
)
def test_no_other_name(line: str) -> None:
    assert not may_be_alias("Net", f"\n{line}\n".encode())
