"""What a star import may take from a file, and from which file it comes."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst
import pytest

import forklint
from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.scopes import Scope
from forklint.project.top_level import untold
from forklint.summaries.reading import summarise

FILES = [
    *sorted(Path(forklint.__file__).parent.rglob("*.py"))[::6],
    *sorted(Path(libcst.__file__).parent.glob("*/*.py"))[::6],
]


def project_of(root: Path, files: dict[str, str]) -> Project:
    for name, text in {"pyproject.toml": "", **files}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return Project(root, Settings())


def gives(root: Path, text: str, name: str = "name") -> bool:
    """Whether a star may take a name from a file of this text."""
    return project_of(root, {"whole.py": text}).stars.may_give(root / "whole.py", name)


@pytest.mark.parametrize(
    "text",
    [
        "name = 1", "name: int = 1", "other, name = 1, 2", "[other, name] = 1, 2", "(name := 3)", "for name in x: pass",
        "for i, name in x: pass", "with x as name: pass", "with x as (a, name): pass", "import name",
        "import name.part", "import os, name . part", "import a, \\\n    name.part", "import other as name",
        "from x import name", "from x import (\n    a,\n    name,\n)", "from x import name as name",
        "def name(): pass", "class name: pass", "class name (object): pass", "try: pass\nexcept E as name: pass",
        "match x:\n    case name if True: pass", "match x:\n    case [name, *_]: pass",
        "match x:\n    case {**name}: pass", "name \\\n    = 1", "name += 1", "import a; import name",
        "from . import name # why", "if x:\n    try:\n        name = 1\n    finally: pass",
    ],
)  # fmt: skip
def test_each_way_to_bind_a_name_is_seen(tmp_path: Path, text: str) -> None:
    assert gives(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "from x import name as other", "import name as other", "x.name = 1", "x.name()", "# a name for it",
        "names = 1", "rename = 1", "self.name: int = 2", '"""The name of it."""', "name", "name: int",
        "def f():\n    name = 1", "class A:\n    name = 1", "other = 'name = 1'", "f(name=1)", "def f(", "def f(name",
    ],
)  # fmt: skip
def test_what_binds_no_name_at_the_top_is_passed_over(tmp_path: Path, text: str) -> None:
    assert gives(tmp_path, text) is (text == "def f(name")  # what cannot be parsed may bind any of its words


def test_every_name_that_real_files_bind_is_seen() -> None:
    names = 0
    for path in FILES:
        tree = ast.parse(path.read_bytes())
        far = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        scope = Scope(tree, None)
        scope.refill(tree.body, untold, has_walrus=True)
        bound = scope.bindings.keys() - far
        assert bound <= summarise(tree).top.binds, path
        names += len(bound)
    assert names > 2_500


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['a', 'b']", {"a", "b"}),
        ('__all__ = (\n    "a",  # the "first"\n    "b",\n)\n', {"a", "b"}),
        ("__all__: list[str] = ['a']", {"a"}),
        ("__all__ = []", set()),
        ("import os\r\n__all__ = ['a']\r\n", {"a"}),
        ("__all__ = ['a' 'b']", {"ab"}),
        ("# __all__ is below\n__all__ = ['a']", {"a"}),
        ("__all__ = ['a'] + other", None),
        ("__all__ = ['a']\n__all__ += ['b']", None),
        ("__all__ = ['a']\n__all__.append('b')", None),
        ("__all__ = [name for name in names]", None),
        ("if x:\n    __all__ = ['a']", None),
        ("a = 1", None),
    ],
)
def test_a_list_of_names_is_taken_only_if_it_is_whole(text: str, names: set[str] | None) -> None:
    assert summarise(ast.parse(text)).exports == names


def test_lists_of_real_files_are_what_python_makes_of_them() -> None:
    lists = 0
    for path in FILES:
        tree = ast.parse(path.read_bytes())
        listed = summarise(tree).exports
        if listed is not None:
            lists += 1
            values = [
                ast.literal_eval(statement.value)
                for statement in tree.body
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
            ]
            assert [listed] == [set(value) for value in values], path
    assert lists > 0


def test_a_private_name_is_not_given_without_a_list(tmp_path: Path) -> None:
    assert not gives(tmp_path, "_name = 1", "_name")
    assert gives(tmp_path, "_name = 1\n__all__ = ['_name']", "_name")
    assert gives(tmp_path, "_name = 1\n__all__ = [n for n in dir()]", "_name")
    assert not gives(tmp_path, "name = 1\n__all__ = ['other']")


FOLDED = {
    "top.py": "from listed import *\nfrom middle import *\n",
    "listed.py": "from torch import nn\n\nclass Net: pass\n\nclass Head: pass\n\n__all__ = ['Net']\n",
    "middle.py": "from below import *\nfrom hidden import *\nfrom top import *\n",
    "below.py": "class Deep: pass\n\nclass _Own: pass\n",
    "hidden.py": "from far import *\n\n__all__ = ['Shown']\n",
    "far.py": "class Shown: pass\n\nclass Unshown: pass\n",
}
"""A file that imports all of two others, and so on."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_of(tmp_path, FOLDED)


@pytest.mark.parametrize(
    ("name", "homes"),
    [
        ("Net", ["listed.py"]), ("Deep", ["below.py"]), ("Head", []), ("nn", []), ("_Own", []), ("Missing", []),
        ("Shown", ["hidden.py", "far.py"]), ("Unshown", []),
    ],
)  # fmt: skip
def test_a_name_comes_through_stars_from_the_file_that_gives_it(project: Project, name: str, homes: list[str]) -> None:
    top = project.root / "top.py"
    assert project.stars.giving(top, name) == tuple(project.root / home for home in homes)
    module = project.load(top)
    found = project.lookup(module, module.scope, name)
    assert (found is not None) is bool(homes)


def test_the_files_under_the_stars_of_one(project: Project) -> None:
    found = project.stars.imported_whole(project.root / "top.py")
    assert [path.name for path in found] == ["listed.py", "middle.py"]


def test_files_that_do_not_give_a_name_are_not_parsed(project: Project) -> None:
    module = project.load(project.root / "top.py")
    assert project.lookup(module, module.scope, "Deep") is not None
    assert not project.is_loaded(project.root / "listed.py")


def test_an_edit_inside_a_function_asks_no_star_again(project: Project) -> None:
    top, below = project.root / "top.py", project.root / "below.py"
    project.replace(below, b"class Deep:\n    def run(self): return 1\n")
    assert project.stars.may_give(top, "Deep")
    before = project.questions.found
    project.replace(below, b"class Deep:\n    def run(self): return self.other(2)\n")
    assert project.stars.may_give(top, "Deep")
    assert project.questions.found == before
    project.replace(below, b"class Other: pass\n")
    assert not project.stars.may_give(top, "Deep")
