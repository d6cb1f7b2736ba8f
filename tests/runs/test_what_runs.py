"""What small programs do, in order: the texts that ``mark(...)`` is given.

Behind a text, ``?`` says that it may not be come to, ``(main)`` that it stands under a main guard, ``(aside)`` that it
runs in another case alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.runs.programs import Program, budget_for
from forklint.runs.trace import Event
from forklint.runs.walk import Topic, trace_of_module
from forklint.values.model import Constant, Expression


@dataclass(frozen=True)
class Marked(Event):
    """A call of ``mark``."""

    text: str


class Marks(Topic):
    name = "marks"
    with_values = True
    by_machine = True

    def of_call(self, call: Expression, symbol: object) -> Iterator[Event]:
        node = call.node
        if isinstance(node, ast.Call) and last_name(node.func) == "mark":
            value = self.evaluator.find(call.part(node.args[0])).value
            yield Marked(str(value.value) if isinstance(value, Constant) else "unknown")


GENERATOR = "def f():\n    mark('a')\n    yield 1\n"
COROUTINE = "import asyncio\nasync def f():\n    mark('a')\n"
GROUP = "import click\n@click.group()\ndef cli():\n    mark('cli')\n"
BOTH = "def a():\n    mark('a')\ndef b():\n    mark('b')\n"
NOTEBOOK = "try:\n    get_ipython()\n    here = True\nexcept NameError:\n    here = False\n"
DRAWN = {
    "a generator that nobody draws from": (GENERATOR + "g = f()", ""),
    "a generator in a loop": (GENERATOR + "for x in f():\n    mark('b')", "a b?"),
    "a generator with a name": (GENERATOR + "g = f()\nmark('b')\nnext(g)", "b a"),
    "a generator in a comprehension": (GENERATOR + "rows = [x for x in f()]", "a"),
    "a generator in a list": (GENERATOR + "rows = list(f())", "a"),
    "a generator that is unpacked": (GENERATOR + "first, second = f()", "a"),
    "a generator with a star": (GENERATOR + "print(*f())", "a"),
    "a generator that is searched": (GENERATOR + "print(1 in f())", "a"),
    "a generator that is handed through": (GENERATOR + "def g():\n    yield from f()\nfor x in g(): pass", "a"),
    "a generator in a progress bar": (GENERATOR + "from tqdm import tqdm\nfor x in tqdm(f()): pass", "a"),
    "a progress bar that nobody draws from": (GENERATOR + "from tqdm import tqdm\nbar = tqdm(f())", ""),
    "a generator beside another": (GENERATOR + "for i, (x, y) in enumerate(zip([1], f())): pass", "a"),
    "a generator among others": (GENERATOR + "for one in [f(), f()]:\n    for x in one: pass", "a? a?"),
    "an object with __iter__": (
        "class A:\n    def __iter__(self):\n        mark('a')\n        return iter([])\nfor x in A(): pass",
        "a",
    ),
    "an object with __next__": (
        "class A:\n    def __iter__(self):\n        return self\n    def __next__(self):\n        mark('a')\nnext(A())",
        "a",
    ),
    "an object in a with": ("class A:\n    def __enter__(self):\n        mark('a')\nwith A():\n    mark('b')", "a b"),
    "an object whose __iter__ is a generator": (
        "class A:\n    def __iter__(self):\n        mark('a')\n        yield 1\nfor x in A(): pass",
        "a",
    ),
    "such an object that nobody draws from": (
        "class A:\n    def __iter__(self):\n        mark('a')\n        yield 1\niter(A())",
        "",
    ),
    "an object that gives another": (
        (
            "class B:\n    def __next__(self):\n        mark('b')\nclass A:\n    def __iter__(self):\n"
            "        mark('a')\n        return B()\nfor x in A(): pass"
        ),
        "a b",
    ),
    "an object that gives a generator": (
        (
            "def g():\n    mark('g')\n    yield 1\nclass A:\n    def __iter__(self):\n        return g()\n"
            "for x in A(): pass"
        ),
        "g",
    ),
    "a generator in a chain": (
        ("import itertools\ndef g():\n    mark('g')\n    yield 1\nfor x in itertools.chain([1], g()): pass"),
        "g",
    ),
    "a part of a generator": (
        ("import itertools\ndef g():\n    mark('g')\n    yield 1\nfor x in itertools.islice(g(), 1): pass"),
        "g",
    ),
    "a generator that is mapped": ("def g():\n    mark('g')\n    yield 1\nm = map(str, g())", ""),
    "a mapped generator that is drawn from": ("def g():\n    mark('g')\n    yield 1\nlist(map(str, g()))", "g"),
    "a generator that is sorted": ("def g():\n    mark('g')\n    yield 1\nsorted(g())", "g"),
}
CALLED = {
    "a method of a base": (
        "class A:\n    def f(self):\n        mark('a')\nclass B(A):\n    def f(self):\n        super().f()\nB().f()",
        "a",
    ),
    "the next method in the order of Python": (
        (
            "class A:\n    def f(self):\n        mark('a')\nclass B(A):\n    def f(self):\n        super().f()\n"
            "class M(A):\n    def f(self):\n        mark('m')\nclass C(B, M):\n    pass\nC().f()"
        ),
        "m",
    ),
    "a static method of a class": ("class A:\n    @staticmethod\n    def f():\n        mark('a')\nA.f()", "a"),
    "a coroutine that nobody awaits": (COROUTINE + "c = f()", ""),
    "a coroutine that asyncio runs": (COROUTINE + "asyncio.run(f())", "a"),
    "a coroutine that another awaits": (COROUTINE + "async def g():\n    await f()\nasyncio.run(g())", "a"),
    "coroutines together": (COROUTINE + "async def g():\n    await asyncio.gather(*[f()])\nasyncio.run(g())", "a"),
    "a partial": ("import functools\ndef f(n):\n    mark(n)\ng = functools.partial(f, 'a')\ng()", "a"),
    "a function from a table": (BOTH + "TABLE = {'a': a, 'b': b}\nTABLE[x]()", "a? b?"),
    "a function from a table by its name": (BOTH + "TABLE = {'a': a, 'b': b}\nTABLE['b']()", "b"),
    "a class from a table": (
        "class A:\n    def run(self):\n        mark('a')\nTABLE = {'a': A}\nTABLE['a']().run()",
        "a",
    ),
    "a decorator that is not known": ("@d\ndef f():\n    mark('a')\nf()", "a?"),
    "super": (
        (
            "class A:\n    def __init__(self, n):\n        mark(n)\nclass B(A):\n    def __init__(self):\n"
            "        super().__init__('a')\nB()"
        ),
        "a",
    ),
    "a function given to fire": ("import fire\ndef f():\n    mark('a')\nfire.Fire(f)", "a"),
    "a class given to fire": (
        (
            "import fire\nclass A:\n    def f(self):\n        mark('f')\n    def _g(self):\n        mark('g')\n"
            "fire.Fire(A)"
        ),
        "f?",
    ),
    "a table given to fire": ("import fire\n" + BOTH + "fire.Fire({'a': a, 'b': b})", "a? b?"),
    "a command of a group": (GROUP + "@cli.command()\ndef f():\n    mark('a')\ncli()", "cli a?"),
    "a command of a group in a group": (
        GROUP + "@cli.group()\ndef inner():\n    pass\n@inner.command()\ndef f():\n    mark('a')\ncli()",
        "cli a?",
    ),
    "a command that is added": (
        GROUP + "@click.command()\ndef f():\n    mark('a')\ncli.add_command(f)\ncli()",
        "cli a?",
    ),
    "a command of another group": (
        GROUP + "@click.group()\ndef other():\n    pass\n@other.command()\ndef f():\n    mark('a')\ncli()",
        "cli",
    ),
    "a command of typer": (
        "import typer\napp = typer.Typer()\n@app.command()\ndef f():\n    mark('a')\napp()",
        "a?",
    ),
    "the second operand": ("x and mark('a')", "a?"),
    "one of two expressions": ("mark('a') if x else mark('b')", "a? b?"),
    "an object": ("class A:\n    def __call__(self):\n        mark('a')\nA()()", "a"),
    "a static method": ("class A:\n    @staticmethod\n    def f():\n        mark('a')\nA.f()", "a"),
    "a method of a class": ("class A:\n    @classmethod\n    def f(cls):\n        mark('a')\nA.f()", "a"),
    "a method of a class that another one calls": (
        (
            "class A:\n    @classmethod\n    def f(cls):\n        cls.g()\n    @staticmethod\n    def g():\n"
            "        mark('a')\nA.f()"
        ),
        "a",
    ),
    "a method of an object that a class method makes": (
        ("class A:\n    @classmethod\n    def f(cls):\n        cls().g()\n    def g(self):\n        mark('a')\nA.f()"),
        "a",
    ),
    "an inherited method": ("class A:\n    def f(self):\n        mark('a')\nclass B(A): pass\nB().f()", "a"),
    "a method that replaces another": (
        ("class A:\n    def f(self):\n        mark('a')\nclass B(A):\n    def f(self):\n        mark('b')\nB().f()"),
        "b",
    ),
    "a method of super": (
        ("class A:\n    def f(self):\n        mark('a')\nclass B(A):\n    def f(self):\n        super().f()\nB().f()"),
        "a",
    ),
    "a method of self": (
        "class A:\n    def f(self):\n        self.g()\n    def g(self):\n        mark('a')\nA().f()",
        "a",
    ),
    "a method of self that a subclass replaces": (
        (
            "class A:\n    def f(self):\n        self.g()\n    def g(self):\n        mark('a')\n"
            "class B(A):\n    def g(self):\n        mark('b')\nB().f()"
        ),
        "b",
    ),
    "a comprehension with a condition": ("rows = [mark('b') for i in mark('a') if mark('c')]", "a c b"),
    "a comprehension of a mapping": ("rows = {mark('a'): mark('b') for i in x}", "a b"),
    "an f-string": ("f'{mark(\"a\")}'", "a"),
    "what is awaited": ("async def f():\n    await mark('a')\nimport asyncio\nasyncio.run(f())", "a"),
    "what is drawn while waiting": (
        (
            "import asyncio\nasync def g():\n    mark('a')\n    yield 1\nasync def f():\n"
            "    async for x in g():\n        mark('b')\nasyncio.run(f())"
        ),
        "a b?",
    ),
}
CHOSEN = {
    "a condition that is known": ("def f(n):\n    if n:\n        mark('a')\n    else:\n        mark('b')\nf(0)", "b"),
    "a return that surely comes": ("def f(n):\n    if n:\n        return\n    mark('a')\nf(1)\nf(0)", "a"),
    "a condition that is not known": ("if x:\n    mark('a')\nelse:\n    mark('b')", "a? b?"),
    "a default of the command line": (
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=0)\n"
            "if p.parse_args().n:\n    mark('a')"
        ),
        "a?",
    ),
    "a handler": ("try:\n    mark('a')\nexcept E:\n    mark('b')", "b?(aside) a"),
    "what asks for a notebook": (NOTEBOOK + "if here:\n    mark('a')", "a?(aside)"),
    "a name that only notebooks have": ("if get_ipython() is not None:\n    mark('a')", "a?(aside)"),
    "a function that asks for a notebook": (
        (
            "def is_notebook():\n    try:\n        return get_ipython() is not None\n"
            "    except NameError:\n        return False\nif is_notebook():\n    mark('a')\nelse:\n"
            "    mark('b')"
        ),
        "a?(aside) b?(aside)",
    ),
    "an import that asks for a notebook": (
        "from IPython import get_ipython\nif get_ipython():\n    mark('a')",
        "a?(aside)",
    ),
    "what asks for no notebook": (NOTEBOOK + "if not here:\n    mark('a')", "a?(aside)"),
    "a name beside one that asks for a notebook": (NOTEBOOK + "other = 3\nif other:\n    mark('a')", "a"),
    "a function that asks for something else": ("def f():\n    return x\nif f():\n    mark('a')", "a?"),
    "the first statement of a try in a function": (
        "def f():\n    try:\n        mark('a')\n    except E:\n        pass\nf()",
        "a",
    ),
    "the second statement of a try in a function": (
        "def f():\n    try:\n        g()\n        mark('a')\n    except E:\n        pass\nf()",
        "a?",
    ),
    "a try without handlers": ("try:\n    g()\n    mark('a')\nfinally:\n    mark('b')", "a b"),
    "what follows a try": ("try:\n    g()\nexcept E:\n    pass\nelse:\n    mark('a')", "a?"),
    "a statement of a try that may leave": (
        "try:\n    if x:\n        raise E\n    mark('a')\nexcept E:\n    mark('b')",
        "b?(aside) a?",
    ),
    "a loop that may not run": ("while x:\n    mark('a')", "a?"),
    "what follows a loop": ("while True:\n    mark('a')\n    break\nmark('b')", "a? b"),
    "the end of a program": ("import sys\nsys.exit()\nmark('b')", ""),
}
GUARDED = {
    "a guard": ("if __name__ == '__main__':\n    mark('a')\nelse:\n    mark('b')", "a(main) b?(aside)"),
    "a guard with more": ("if __name__ == '__main__' and x:\n    mark('a')", "a(main)"),
    "a guard with a name": ("is_main = __name__ == '__main__'\nif is_main:\n    mark('a')", "a(main)"),
    "a guard the other way round": (
        "if not __name__ == '__main__':\n    mark('a')\nelse:\n    mark('b')",
        "a?(aside) b(main)",
    ),
    "all but the main process leave": ("if __name__ != '__main__':\n    raise ImportError\nmark('a')", "a(main)"),
    "the name of the process": (
        "import multiprocessing as mp\nif mp.current_process().name == 'MainProcess':\n    mark('a')",
        "a(main)",
    ),
    "a match": ("match __name__:\n    case '__main__':\n        mark('a')", "a(main)"),
    "what children pass as well": ("if __name__ in ('__main__', '__mp_main__'):\n    mark('a')", "a?"),
    "another module's name": ("if x == '__main__':\n    mark('a')", "a?"),
    "a guard written the other way round": ("if '__main__' == __name__:\n    mark('a')", "a(main)"),
    "a guard with an alternative": ("if x or __name__ == '__main__':\n    mark('a')", "a?(aside)"),
    "a guard behind another condition": (
        "if x:\n    mark('a')\nelif __name__ == '__main__':\n    mark('b')",
        "a? b?(main)",
    ),
    "a guard of a list": ("if __name__ in ['__main__']:\n    mark('a')", "a(main)"),
    "all but those of a list leave": ("if __name__ not in ('__main__',):\n    raise SystemExit\nmark('a')", "a(main)"),
    "the name of a child": (
        (
            "import multiprocessing as mp\nif mp.current_process().name != 'MainProcess':\n    mark('b')\n"
            "else:\n    mark('a')"
        ),
        "b?(aside) a(main)",
    ),
    "a function that children leave": (
        "def f():\n    if __name__ != '__main__':\n        return\n    mark('a')\nf()",
        "a(main)",
    ),
    "a match of another name": (
        "match __name__:\n    case 'other':\n        mark('b')\n    case _:\n        mark('a')",
        "b(main) a?(aside)",
    ),
}


@pytest.mark.parametrize(("text", "expected"), [*DRAWN.values(), *CALLED.values()], ids=[*DRAWN, *CALLED])
def test_what_is_entered(tmp_path: Path, text: str, expected: str) -> None:
    assert marked(tmp_path, text) == expected


@pytest.mark.parametrize(("text", "expected"), [*CHOSEN.values(), *GUARDED.values()], ids=[*CHOSEN, *GUARDED])
def test_which_branches_run(tmp_path: Path, text: str, expected: str) -> None:
    assert marked(tmp_path, text) == expected


def test_a_program_that_is_stopped(tmp_path: Path) -> None:
    assert marked(tmp_path, "mark('a')\nmark('stop')\nmark('b')") == "a stop"


def marked(folder: Path, text: str) -> str:
    path = folder / "main.py"
    path.write_text(text, encoding="utf-8")
    project = Project(folder, Settings())
    topic, module = Marks(project), project.module(path)
    assert module is not None
    found: list[str] = []

    def met(event: Event, program: Program) -> None:
        if isinstance(event, Marked):
            flags = "?" * (not event.way.certain) + "(main)" * event.way.guarded + "(aside)" * event.way.aside
            found.append(event.text + flags)
            if event.text == "stop":
                program.stop()

    Program(topic, budget_for(project, module.tree), met=met).play(trace_of_module(topic, path))
    return " ".join(found)
