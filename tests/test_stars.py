"""What a star import may take from a file: judged by bytes, it is never less than what the file binds."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst
import pytest

import forklint
from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.scopes import build
from forklint.source.exports import hides, may_bind, written_out

FILES = sorted(Path(forklint.__file__).parent.rglob("*.py")) + sorted(Path(libcst.__file__).parent.glob("*/*.py"))


@pytest.mark.parametrize(
    "text",
    [
        "name = 1", "name: int = 1", "other, name = 1, 2", "[other, name] = 1, 2", "(name := 3)", "for name in x: pass",
        "for i, name in x: pass", "with x as name: pass", "with x as (a, name): pass", "import name",
        "import name.part",
        "import os, name . part", "import a, \\\n    name.part", "import other as name", "from x import name",
        "from x import (\n    a,\n    name,\n)", "from x import name as name", "def name(): pass", "class name: pass",
        "class name (object): pass", "try: pass\nexcept E as name: pass", "match x:\n    case name if True: pass",
        "match x:\n    case [name, *_]: pass", "name \\\n    = 1", "def f():\n    global name; name = 1", "name += 1",
        "import a; import name", "from . import name # why",
    ],
)  # fmt: skip
def test_each_way_to_bind_a_name_is_seen(text: str) -> None:
    ast.parse(text)
    assert may_bind(text.encode(), "name")


@pytest.mark.parametrize(
    "text",
    [
        "from x import name as other", "import name as other", "x.name = 1", "x.name()", "# a name for it",
        "names = 1", "rename = 1", "self.name: int = 2", '"""The name of it."""',
    ],
)  # fmt: skip
def test_what_surely_binds_no_name_is_passed_over(text: str) -> None:
    assert not may_bind(text.encode(), "name")


def test_every_name_that_real_files_bind_is_seen() -> None:
    names = 0
    for path in FILES:
        data = path.read_bytes()
        for name in build(ast.parse(data)).bindings:
            names += 1
            assert may_bind(data, name), (path, name)
    assert names > 5_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['a', 'b']", {"a", "b"}),
        ('__all__ = (\n    "a",  # the "first"\n    "b",\n)\n', {"a", "b"}),
        ("__all__ = []", set()),
        ("import os\r\n__all__ = ['a']\r\n", {"a"}),
        ("__all__ = ['a' 'b']", None),
        ("__all__ = ['a',\n    'b'\n    'c']", None),
        ("__all__ = ['a'] + other", None),
        ("__all__ = ['a']\n__all__ += ['b']", None),
        ("__all__ = [name for name in names]", None),
        ("if x:\n    __all__ = ['a']", None),
        ("a = 1", None),
    ],
)
def test_a_list_of_names_is_taken_only_if_it_is_whole(text: str, names: set[str] | None) -> None:
    listed = written_out(text.encode())
    assert (listed if listed is None else {name.decode() for name in listed}) == names


def test_lists_of_real_files_are_what_python_makes_of_them() -> None:
    lists = 0
    for path in FILES:
        listed = written_out(path.read_bytes())
        if listed is not None:
            lists += 1
            values = [
                ast.literal_eval(statement.value)
                for statement in ast.parse(path.read_bytes()).body
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
            ]
            assert [{name.decode() for name in listed}] == [set(value) for value in values], path
    assert lists > 2


def test_a_private_name_is_not_given_without_a_list() -> None:
    assert hides(b"_name = 1", "_name")
    assert not hides(b"name = 1", "name")
    assert not hides(b"_name = 1\n__all__ = [n for n in dir()]", "_name")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A package whose first file imports all of two others, and so on."""
    files = {
        "pyproject.toml": "",
        "top.py": "from listed import *\nfrom middle import *\n",
        "listed.py": "from torch import nn\n\nclass Net: pass\n\nclass Head: pass\n\n__all__ = ['Net']\n",
        "middle.py": "from below import *\nfrom top import *\n",
        "below.py": "class Deep: pass\n\nclass _Own: pass\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return Project(tmp_path, Settings())


@pytest.mark.parametrize(
    ("name", "home"),
    [("Net", "listed.py"), ("Deep", "below.py"), ("Head", None), ("nn", None), ("_Own", None), ("Missing", None)],
)
def test_a_name_comes_through_stars_from_the_file_that_gives_it(project: Project, name: str, home: str | None) -> None:
    top = project.root / "top.py"
    assert project.stars.giving(top, name) == ((project.root / home,) if home else ())
    module = project.load(top)
    found = project.lookup(module, module.scope, name)
    assert (found is not None) is (home is not None)


def test_files_that_do_not_give_a_name_are_not_parsed(project: Project) -> None:
    module = project.load(project.root / "top.py")
    assert project.lookup(module, module.scope, "Deep") is not None
    assert not project.is_loaded(project.root / "listed.py")
