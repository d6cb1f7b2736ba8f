"""What has surely happened by ``ask()`` in small programs: the texts that ``mark(...)`` was given by then."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.module import FunctionFacts
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.runs.errors import RAISED_AGAIN
from forklint.runs.programs import Program, Role, budget_for
from forklint.runs.trace import Event, end_of
from forklint.runs.walk import Topic, trace_of_module
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression
from forklint.values.worlds import EVERYWHERE, LINUX

FILE = re.compile(r"^--- (\S+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Marked(Event):
    """A call of ``mark``, or of ``ask``."""

    text: str


class Marks(Topic):
    name = "marks"
    with_values = True

    def of_call(self, call: Expression, symbol: object) -> Iterator[Event]:
        node = call.node
        if isinstance(node, ast.Call) and last_name(node.func) in {"mark", "ask"}:
            values = [Evaluator(self.project).find(call.part(one)).value for one in node.args]
            texts = [str(value.value) if isinstance(value, Constant) else "?" for value in values]
            yield Marked(" ".join(texts) if texts else last_name(node.func))


class MarksByMachine(Marks):
    name = "marks by machine"
    with_values = False
    by_machine = True


def project_of(folder: Path, text: str) -> tuple[Project, Path]:
    """The project of some files, the first of which is the program."""
    parts = FILE.split(f"--- main.py\n{text}")
    for name, content in zip(parts[1::2], parts[2::2], strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return Project(folder, Settings()), folder / "main.py"


def happened(program: Program) -> str:
    return " ".join(event.text for event in program.happened if isinstance(event, Marked))


RUNS = {
    "statements in order": ("mark('a')\nmark('b')\nask()\nmark('c')", "a b"),
    "arguments before the call": ("f(mark('a'), mark('b'))\nask()", "a b"),
    "a branch counts within it": ("if x:\n    mark('a')\n    ask()", "a"),
    "a branch does not count behind it": ("if x:\n    mark('a')\nelse:\n    mark('b')\nask()", ""),
    "a loop is taken to run": ("for i in x:\n    mark('a')\nask()", "a"),
    "a with block runs": ("with x:\n    mark('a')\nask()", "a"),
    "a try is taken to raise nothing": (
        "try:\n    mark('a')\nexcept E:\n    mark('b')\nelse:\n    mark('c')\nask()",
        "a c",
    ),
    "a handler knows nothing of its block": ("try:\n    mark('a')\nexcept E:\n    mark('b')\n    ask()", "b"),
    "a case does not count behind it": ("match x:\n    case 1:\n        mark('a')\nask()", ""),
    "a class body runs": ("class A:\n    mark('a')\nask()", "a"),
    "a definition does nothing": ("def f():\n    mark('a')\nask()", ""),
    "the second operand need not run": ("mark('a') or mark('b')\nask()", "a"),
    "a lambda does not run": ("f(lambda: mark('a'))\nask()", ""),
    "a function that is called": ("def f():\n    mark('a')\nf()\nask()", "a"),
    "asked inside of a function": ("def f():\n    ask()\nmark('a')\nf()\nmark('b')", "a"),
    "a function returns": ("def f():\n    mark('a')\n    return\n    mark('b')\nf()\nask()", "a"),
    "a function that may return": (
        "def f():\n    mark('a')\n    if x:\n        return\n    mark('b')\nf()\nask()",
        "a",
    ),
    "a function in a try that may return": (
        "def f():\n    try:\n        if x:\n            return\n        mark('a')\n    except E: pass\nf()\nask()",
        "",
    ),
    "a function that calls itself": ("def f():\n    mark('a')\n    f()\nf()\nask()", "a"),
    "a coroutine does not run when called": ("async def f():\n    mark('a')\nf()\nask()", ""),
    "a generator does not run when called": ("def f():\n    mark('a')\n    yield\nf()\nask()", ""),
    "a decorator that is not known": ("@d\ndef f():\n    mark('a')\nf()\nask()", ""),
    "what a cached function does, it does once": (
        "import functools\n@functools.cache\ndef f():\n    mark('a')\nf()\nf()\nask()",
        "a",
    ),
    "what a function is given": ("def f(n, m='c'):\n    mark(n)\n    mark(m)\nf('a')\nf('b', m='d')\nask()", "a c b d"),
    "a method, and its constructor": (
        (
            "class A:\n    def __init__(self, n):\n        self.n = n\n        mark('made')\n"
            "    def f(self):\n        mark(self.n)\none = A('a')\none.f()\nask()"
        ),
        "made a",
    ),
    "the main guard of a script": ("if __name__ == '__main__':\n    mark('a')\nask()", "a"),
    "the main guard of an import": ("import b\nask()\n--- b.py\nif __name__ == '__main__':\n    mark('b')\n", ""),
    "an import runs a file once": (
        "import b\nimport b\nimport c\nask()\n--- b.py\nmark('b')\n--- c.py\nimport b\n",
        "b",
    ),
    "packages on the way run": ("import p.q\nask()\n--- p/__init__.py\nmark('p')\n--- p/q.py\nmark('q')\n", "p q"),
    "an import in a branch may come later": ("if x:\n    import b\nimport b\nask()\n--- b.py\nmark('b')\n", "b"),
    "an import by a name": ("import importlib\nimportlib.import_module('b')\nask()\n--- b.py\nmark('b')\n", "b"),
    "two files that import each other": (
        "import b\nask()\n--- b.py\nimport c\nmark('b')\n--- c.py\nimport b\nmark('c')\n",
        "c b",
    ),
}


@pytest.mark.parametrize(("text", "expected"), RUNS.values(), ids=RUNS)
def test_what_has_happened(tmp_path: Path, text: str, expected: str) -> None:
    project, path = project_of(tmp_path, text)
    topic, module = Marks(project), project.module(path)
    assert module is not None
    asked: list[str] = []

    def met(event: Event, program: Program) -> None:
        if isinstance(event, Marked) and event.text == "ask":
            asked.append(happened(program))

    Program(topic, budget_for(project, module.tree), module, met=met).play(trace_of_module(topic, path))
    assert asked == [expected]


PREFIXES = {
    "branches on the way": ("mark('a')\nif x:\n    mark('b')\n    if y:\n        mark('c')\n    ask()\n", "a b"),
    "branches beside the way": ("if x:\n    mark('a')\nif y:\n    ask()\n", ""),
    "a handler": ("try:\n    mark('a')\nexcept E:\n    mark('b')\n    ask()\n", "b"),
    "a block with a handler": ("try:\n    mark('a')\n    ask()\nexcept E:\n    mark('b')\n", "a"),
    "below the main guard": ("mark('a')\nif __name__ == '__main__':\n    mark('b')\n    ask()\n", "a b"),
    "behind the main guard": ("mark('a')\nif __name__ == '__main__':\n    mark('b')\nask()\n", "a"),
}


@pytest.mark.parametrize(("text", "expected"), PREFIXES.values(), ids=PREFIXES)
def test_what_leads_to_a_statement(tmp_path: Path, text: str, expected: str) -> None:
    project, path = project_of(tmp_path, text)
    topic, module = Marks(project), project.module(path)
    assert module is not None
    asking = next(node for node in module.nodes if isinstance(node, ast.Expr) and "ask" in ast.unparse(node))
    program = Program(topic, budget_for(project, module.tree), module, role=Role.PREFIX)
    program.play(trace_of_module(topic, path), until=end_of(asking))
    assert happened(program).removesuffix("ask").strip() == expected


def test_a_program_goes_on_from_where_it_was(tmp_path: Path) -> None:
    text = "import b\nmark('a')\nimport c\n--- b.py\nmark('b')\n--- c.py\nmark('c')\n"
    project, path = project_of(tmp_path, text)
    topic, module = Marks(project), project.module(path)
    assert module is not None
    whole = Program(topic, budget_for(project, module.tree), module)
    whole.play(trace_of_module(topic, path))
    earlier = whole.come_to((3, 0), budget_for(project, module.tree))
    assert (happened(whole), happened(earlier)) == ("b a c", "b a")
    earlier.play(trace_of_module(topic, path))
    assert happened(earlier) == "b a a c"


ENTERED = {
    "a function": ("def f():\n    mark('a')", "a"),
    "a method, whose object is made first": (
        (
            "class A:\n    def __init__(self):\n        self.n = 'n'\n        mark('made')\n"
            "    def f(self):\n        mark(self.n)"
        ),
        "made n",
    ),
    "a static method, which needs none": (
        "class A:\n    def __init__(self):\n        mark('made')\n    @staticmethod\n    def f():\n        mark('a')",
        "a",
    ),
    "a method of a class, which needs none": (
        "class A:\n    def __init__(self):\n        mark('made')\n    @classmethod\n    def f(cls):\n        mark('a')",
        "a",
    ),
}


@pytest.mark.parametrize(("text", "expected"), ENTERED.values(), ids=ENTERED)
def test_a_function_that_anyone_may_call(tmp_path: Path, text: str, expected: str) -> None:
    project, path = project_of(tmp_path, text)
    topic, module = Marks(project), project.module(path)
    assert module is not None
    found = project.resolve(module, module.scope, ast.parse("A.f" if "class A" in text else "f", mode="eval").body)
    assert isinstance(found, FunctionFacts)
    program = Program(topic, budget_for(project, module.tree))
    program.call(found)
    assert happened(program) == expected


WAYS = {
    "at once": ("mark('a')", (True, True, False)),
    "a loop need not run": ("for i in x:\n    mark('a')", (False, False, False)),
    "the first statement of a try": ("try:\n    mark('a')\nexcept RuntimeError:\n    pass", (True, True, True)),
    "the second statement of a try": ("try:\n    f()\n    mark('a')\nexcept KeyError:\n    pass", (False, True, False)),
    "through a function": (
        "def f():\n    mark('a')\ntry:\n    f()\nexcept Exception:\n    pass",
        (True, True, True),
    ),
    "errors suppressed": ("with contextlib.suppress(RuntimeError):\n    mark('a')", (True, True, True)),
}


@pytest.mark.parametrize(("text", "expected"), WAYS.values(), ids=WAYS)
def test_by_which_way(tmp_path: Path, text: str, expected: tuple[bool, bool, bool]) -> None:
    project, path = project_of(tmp_path, text)
    topic, module = MarksByMachine(project), project.module(path)
    assert module is not None
    program = Program(topic, budget_for(project, module.tree))
    program.play(trace_of_module(topic, path))
    way = next(event.way for event in program.happened)
    assert (way.certain, way.usual, RAISED_AGAIN in way.caught) == expected


def test_in_which_worlds(tmp_path: Path) -> None:
    text = (
        "import sys\ndef f():\n    if sys.platform != 'linux':\n        mark('a')\n        return\n    mark('b')\nf()\n"
    )
    project, path = project_of(tmp_path, text)
    topic, module = MarksByMachine(project), project.module(path)
    assert module is not None
    events: list[Event] = []
    program = Program(topic, budget_for(project, module.tree), met=lambda event, _: events.append(event))
    program.play(trace_of_module(topic, path))
    assert [event.way.worlds for event in events] == [EVERYWHERE - LINUX, LINUX]


def test_a_trace_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import b\nb.f()\nb.f()\n--- b.py\ndef f():\n    mark('f')\n"
    project, path = project_of(tmp_path, text)
    module = project.module(path)
    assert module is not None
    found: list[ast.stmt] = []
    monkeypatch.setattr(Topic, "of_statement", lambda *given: found.append(given[3]) or ())
    for _ in range(2):
        topic = MarksByMachine(project)
        program = Program(topic, budget_for(project, module.tree), module)
        program.play(trace_of_module(topic, path))
        assert happened(program) == "f f"
    assert len(found) == len(set(found)) == 4, "the definition of a plain function does nothing"
