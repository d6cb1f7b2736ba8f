"""Folders that a project's files put on ``sys.path`` or install from a ``setup.py``: imports are found in them."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest
from flake8_command import Flake8
from hook_repository import Repository, local
from incremental_projects import reports

from forklint.config import Settings
from forklint.knowledge.libraries import libraries
from forklint.project.graph import word_test
from forklint.project.index import Project
from forklint.project.path_roots import placed
from forklint.source import document
from forklint.summaries import codec, path_roots, reading
from forklint.summaries.path_roots import CWD, FILE, SETUP
from forklint.summaries.summary import PathRoot

BASE = "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n"
PATHS = """\
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
"""
WORDS = """\
import lmdb

import paths
from bases import Base


class Words(Base):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
"""A finding of FKL301 in line 9, if ``bases`` is found."""


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# What a file says


def read(code: str) -> list[str]:
    """The path roots of a file with this code, each as ``base:path``."""
    assert path_roots.may_hold(code.encode()), "else nobody would look"
    summary = reading.summarise(ast.parse(code))
    assert summary.path_roots == path_roots.path_roots(ast.parse(code)), "else nobody would see them"
    again = codec.StoredSummary(codec.encode(summary)).summary()
    assert again is not None
    assert again.path_roots == summary.path_roots
    return [f"{one.base}:{one.path}" for one in summary.path_roots]


SPELLINGS = {
    # literals
    '"lib"': ["cwd:lib"],
    '"./lib/../other"': ["cwd:other"],
    '"."': ["cwd:."],
    '""': ["cwd:."],
    '".."': ["cwd:.."],
    r'"..\\lib"': ["cwd:../lib"],
    '"/opt/lib"': [],
    '"~/lib"': [],
    '"C:/lib"': [],
    # os.path
    "os.path.dirname(__file__)": ["file:."],
    "os.path.dirname(os.path.abspath(__file__))": ["file:."],
    "os.path.dirname(os.path.dirname(os.path.realpath(__file__)))": ["file:.."],
    'os.path.join(os.path.dirname(__file__), "..", "lib")': ["file:../lib"],
    "os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))": ["file:../.."],
    'os.path.normpath(os.path.join(__file__, "..", "lib"))': ["file:lib"],
    'osp.join(osp.dirname(__file__), "lib")': ["file:lib"],
    'join(dirname(__file__), "lib")': ["file:lib"],
    'os.path.dirname(__file__) + "/../lib"': ["file:../lib"],
    'f"{os.path.dirname(__file__)}/lib/{NAME}"': ["file:lib/inner"],
    "os.path.split(os.path.realpath(__file__))[0]": ["file:."],
    "os.path.dirname(os.path.abspath(sys.argv[0]))": ["file:."],
    'sys.path[0] + "/lib"': ["file:lib"],
    "os.path.dirname(os.path.abspath(inspect.getfile(inspect.currentframe())))": ["file:."],
    # pathlib
    "str(Path(__file__).parent)": ["file:."],
    "str(Path(__file__).resolve().parent.parent)": ["file:.."],
    'str(Path(__file__).parent.parent / "lib")': ["file:../lib"],
    "str(pathlib.Path(__file__).absolute().parents[1])": ["file:.."],
    'Path(__file__).parent.joinpath("lib", "x").as_posix()': ["file:lib/x"],
    'os.fspath(Path(os.path.dirname(__file__), "lib"))': ["file:lib"],
    # the working directory
    "os.getcwd()": ["cwd:."],
    'os.path.join(os.getcwd(), "lib")': ["cwd:lib"],
    'str(Path.cwd() / "lib")': ["cwd:lib"],
    'os.path.abspath("lib")': ["cwd:lib"],
    'str(Path("lib"))': ["cwd:lib"],
    # names
    "HERE": ["file:."],
    'os.path.join(ROOT, "lib")': ["file:../lib"],
    'NAME if os.path.exists(NAME) else "lib"': ["cwd:inner", "cwd:lib"],
    # what cannot be read
    'os.environ["LIB"]': [],
    "__file__": [],
    'os.path.join(os.environ["LIB"], "lib")': [],
    "os.path.join(args.root, NAME)": [],
    "inspect.getfile(Dataset)": [],
    "LATER": [],
    "7": [],
    "os.path.join()": [],
    'f""': [],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_a_folder_is_written_as(spelling: str) -> None:
    names = 'NAME = "inner"\nHERE = os.path.dirname(__file__)\nROOT = Path(HERE).parent\nLATER = LATER + "/x"\n'
    assert read(f"{names}sys.path.insert(0, {spelling})\n") == SPELLINGS[spelling]


CHANGES = {
    'sys.path.insert(0, "lib")': ["cwd:lib"],
    'sys.path.append("lib")': ["cwd:lib"],
    'sys.path.extend(["lib", "other"])': ["cwd:lib", "cwd:other"],
    'sys.path.extend(os.path.join("lib", name) for name in ("a", "b"))': ["cwd:lib/a", "cwd:lib/b"],
    'sys.path += ["lib"]': ["cwd:lib"],
    'sys.path[:0] = ["lib"]': ["cwd:lib"],
    'sys.path[0] = "lib"': ["cwd:lib"],
    'sys.path = ["lib"] + sys.path': ["cwd:lib"],
    'site.addsitedir("lib")': ["cwd:lib"],
    'import sys as _sys\n_sys.path.append("lib")': ["cwd:lib"],
    'for name in ("a", "b"):\n    sys.path.append(f"lib/{name}")': ["cwd:lib/a", "cwd:lib/b"],
    'for name in "a b".split():\n    sys.path.append(f"lib/{name}/")': ["cwd:lib/a", "cwd:lib/b"],
    'for name in "a,b".split(","):\n    sys.path.append(name)': [],
    'if (here := "lib") not in sys.path:\n    sys.path.append(here)': ["cwd:lib"],
    'def add(path):\n    if path:\n        sys.path.insert(0, path)\n\n\nadd("lib")\nadd(path="other")': [
        "cwd:lib",
        "cwd:other",
    ],
    'def main():\n    root = "lib"\n    sys.path.append(root)\n\n\ndef other():\n    root = "other"': ["cwd:lib"],
    'here = "lib"\nsys.path.append(here)\nhere = "other"': ["cwd:lib", "cwd:other"],
    'sys.path.remove("lib")\nprint(sys.path + ["x"])\nsys.path.append("y")': ["cwd:y"],
    'os.path.append("lib")\nsys.path.append("y")': ["cwd:y"],
}


@pytest.mark.parametrize("change", CHANGES)
def test_how_a_folder_is_added(change: str) -> None:
    assert read(f"{change}\n") == CHANGES[change]


def test_names_that_are_made_of_each_other_come_to_an_end() -> None:
    lines = [f"n{i} = os.path.join(n{(i + 1) % 30}, n{(i + 7) % 30}, 'x')" for i in range(30)]
    lines += [f"n{i} = 'lib{j}'" for i in range(30) for j in range(9)]
    found = read("\n".join([*lines, "sys.path.append(n0)"]))
    assert 0 < len(found) <= path_roots.MOST_VALUES
    deep = " + ".join(["'x'"] * 300)
    assert read(f"sys.path.append({deep})") == []


def test_a_setup_file_says_where_its_packages_are() -> None:
    code = 'from setuptools import setup\n\nsetup(name="x", package_dir={"": "lib", "x.y": "z"})\n'
    assert read(code) == ["setup:.", "setup:src", "setup:lib"]
    assert read(
        code.replace("from setuptools import setup", "import setuptools").replace("setup(", "setuptools.setup(")
    )
    assert path_roots.path_roots(ast.parse('from words import setup\n\nsetup("x")\n')) == ()
    assert not path_roots.may_hold(b'from words import setup\n\nsetup("x")\n')


def test_where_a_folder_is(tmp_path: Path) -> None:
    file = tmp_path / "tools" / "train.py"
    assert placed(PathRoot(FILE, "../lib"), file, tmp_path) == (tmp_path / "lib",)
    assert placed(PathRoot(FILE, "."), file, tmp_path) == (tmp_path / "tools",)
    assert placed(PathRoot(CWD, "lib"), file, tmp_path) == (tmp_path / "lib", tmp_path / "tools" / "lib")
    assert placed(PathRoot(CWD, ".."), file, tmp_path) == (tmp_path,)
    assert placed(PathRoot(SETUP, "src"), tmp_path / "ops" / "setup.py", tmp_path) == (tmp_path / "ops/src",)
    assert placed(PathRoot(SETUP, "src"), file, tmp_path) == ()
    assert placed(PathRoot(FILE, "a\0b"), file, tmp_path) == (), "as somebody may have written into a store"


@pytest.mark.parametrize("outside", ["../..", "../../beside", "../../../x"])
def test_a_folder_outside_the_project_is_none(tmp_path: Path, outside: str) -> None:
    assert placed(PathRoot(FILE, outside), tmp_path / "tools" / "train.py", tmp_path) == ()


# What a project makes of it


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a script whose base class is in a folder that a module beside the script puts on the path."""
    folder = tmp_path / "project"
    write(folder / "pyproject.toml")
    write(folder / "lib" / "bases.py", BASE)
    write(
        folder / "tools" / "paths.py",
        'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))\n',
    )
    write(folder / "tools" / "words.py", WORDS)
    return folder


def found(folder: Path, *, keeps: bool = False) -> list[str]:
    """Path, row and code of each finding in a folder."""
    all_of_them = [finding for report in reports(folder, keeps=keeps) for finding in report.findings]
    return [f"{Path(one.path).name}:{one.span.row} {one.code}" for one in all_of_them]


def target(folder: Path, importer: str, module: str) -> str:
    """The file that an import means, relative to the project."""
    path = Project(folder, Settings()).resolver.find(folder / importer, module)
    return str(path.relative_to(folder)) if path else ""


def test_a_finding_that_needs_a_path_root(project: Path) -> None:
    assert found(project) == ["words.py:9 FKL301"]
    write(project / "tools" / "paths.py")
    assert found(project) == []


def test_a_path_root_outside_the_project_is_not_searched(project: Path) -> None:
    (project / "lib").rename(project.parent / "lib")
    write(project / "tools" / "paths.py", 'import sys\nsys.path.insert(0, "../lib")\n')
    assert found(project) == []


@pytest.mark.parametrize("place", [".", "src", "python"])
def test_a_setup_file_below_the_root_makes_its_packages_importable(tmp_path: Path, place: str) -> None:
    write(tmp_path / "pyproject.toml")
    write(
        tmp_path / "words" / "setup.py", 'import setuptools\nsetuptools.setup(name="w", package_dir={"": "python"})\n'
    )
    write(tmp_path / "words" / place / "bases" / "__init__.py", BASE)
    write(tmp_path / "paths.py")
    write(tmp_path / "train.py", WORDS)
    assert found(tmp_path) == ["train.py:9 FKL301"]
    write(tmp_path / "words" / "setup.py", "def setup():\n    pass\n")
    assert found(tmp_path) == []


def test_the_usual_places_come_first(project: Path) -> None:
    assert target(project, "tools/words.py", "bases") == "lib/bases.py"
    for place in ("src", ".", "tools"):
        write(project / place / "bases.py")
        assert target(project, "tools/words.py", "bases") == str(Path(place, "bases.py"))


def test_of_several_path_roots_the_nearest_comes_first(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml")
    for name in ("first", "second"):
        write(tmp_path / "examples" / name / "lib" / "bases.py")
        write(tmp_path / "examples" / name / "train.py", 'import sys\nsys.path.append("lib")\n')
    for name in ("first", "second"):
        assert target(tmp_path, f"examples/{name}/train.py", "bases") == f"examples/{name}/lib/bases.py"
        assert target(tmp_path, f"examples/{name}/lib/more.py", "bases") == f"examples/{name}/lib/bases.py"
    assert target(tmp_path, "other/train.py", "bases") == "examples/first/lib/bases.py"


def test_a_copy_of_a_library_is_known_from_tables(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml")
    write(tmp_path / "train.py", 'import sys\nsys.path.insert(0, "third_party")\n')
    for name in ("torch", "logging", "bases"):
        write(tmp_path / "third_party" / name / "__init__.py")
    assert target(tmp_path, "train.py", "torch") == ""
    assert target(tmp_path, "train.py", "logging") == ""
    assert target(tmp_path, "train.py", "bases") == "third_party/bases/__init__.py"


def test_a_folder_named_like_a_library_is_it_for_its_neighbours_alone(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml")
    write(tmp_path / "detection" / "tools" / "paths.py", 'import sys\nsys.path.insert(0, "../lib")\n')
    write(tmp_path / "detection" / "tools" / "more.py", 'import sys\nsys.path.insert(0, __file__ + "/../../lib")\n')
    write(tmp_path / "detection" / "lib" / "datasets" / "__init__.py")
    assert target(tmp_path, "detection/tools/train.py", "datasets") == "detection/lib/datasets/__init__.py"
    assert target(tmp_path, "detection/lib/core/loop.py", "datasets") == "detection/lib/datasets/__init__.py"
    assert target(tmp_path, "language/train.py", "datasets") == ""


def test_a_folder_without_init_is_a_package_for_its_neighbours_alone(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml")
    write(tmp_path / "examples" / "tool.py", 'import sys\nsys.path.insert(0, ".")\n')
    write(tmp_path / "examples" / "vq" / "train.py")
    resolver = Project(tmp_path, Settings()).resolver
    assert resolver.is_package(tmp_path / "examples" / "deep" / "train.py", "vq") == tmp_path / "examples" / "vq"
    assert resolver.is_package(tmp_path / "scripts" / "convert.py", "vq") is None


def test_the_lists_of_libraries_say_one_thing() -> None:
    assert libraries().always.isdisjoint(libraries().ambiguous)
    assert {"torch", "numpy", "lightning"} <= libraries().always


def test_a_namespace_package_in_a_path_root_is_found(project: Path) -> None:
    write(project / "lib" / "spaces" / "inner.py", BASE)
    write(project / "tools" / "words.py", WORDS.replace("from bases", "from spaces.inner"))
    assert found(project) == ["words.py:9 FKL301"]


def test_what_is_ignored_in_a_folder_that_is_no_package_is_reached(project: Path) -> None:
    (project / "lib").rename(project / "third-party")
    write(project / ".gitignore", "third-party\n")
    (project / ".git").mkdir()
    write(project / "tools" / "paths.py", PATHS.replace("lib", "third-party"))
    made = Project(project, Settings())
    assert project / "third-party" / "bases.py" not in made.files
    assert made.graph.any_reached(project / "tools" / "words.py", word_test(b"class Base"))


def test_a_file_that_does_not_parse_adds_nothing(project: Path) -> None:
    write(project / "tools" / "broken.py", 'sys.path.insert(0, "../lib"\n')
    assert found(project / "tools" / "words.py") == ["words.py:9 FKL301"]


def test_a_notebook_adds_folders_for_itself(project: Path) -> None:
    write(project / "tools" / "paths.py")
    source = 'import sys\nsys.path.append("../lib")\n' + WORDS.replace("import paths\n", "")
    cell = {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": {}, "outputs": []}
    notebook = {"cells": [cell | {"execution_count": None}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = write(project / "notebooks" / "trial.ipynb", json.dumps(notebook))
    assert found(path) == ["trial.ipynb:10 FKL301"]
    assert found(project) == ["trial.ipynb:10 FKL301"], "and for no other file"


# What it costs


def test_the_names_of_libraries_cost_no_look(project: Path) -> None:
    made = Project(project, Settings())
    for name in ("torch", "logging"):
        assert made.resolver.find(project / "tools" / "words.py", name) is None
    assert not made.news().contents, "no file is read for these"


def test_a_name_that_is_nowhere_is_looked_for_once(project: Path) -> None:
    made = Project(project, Settings())
    assert made.resolver.find(project / "tools" / "words.py", "nowhere") is None
    found = made.questions.found
    for _ in range(100):
        assert not made.elsewhere("nowhere", str(project / "tools"))
        assert not made.elsewhere("nowhere", str(project))
    assert made.questions.found == found
    listings = len(made.resolver.listings)
    for number in range(100):
        assert made.resolver.find(project / "tools" / "words.py", f"nowhere{number}") is None
    assert len(made.resolver.listings) == listings


def test_of_files_that_do_not_speak_of_it_no_tree_is_made(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = document.parse
    monkeypatch.setattr(document, "parse", lambda doc: parsed.append(doc.path.name) or parse(doc))
    assert Project(project, Settings()).resolver.find(project / "tools" / "words.py", "bases")
    assert parsed == ["paths.py"]


# What changes is seen


def test_a_text_that_adds_a_path_root_is_seen_at_once(project: Path) -> None:
    made = Project(project, Settings())
    paths, words = project / "tools" / "paths.py", project / "tools" / "words.py"
    bases = project / "lib" / "bases.py"
    assert bases in made.graph.reached(words)
    before = made.data(paths)
    made.replace(paths, b"")
    assert made.resolver.find(words, "bases") is None
    assert bases not in made.graph.reached(words)
    made.replace(paths, before)
    assert made.resolver.find(words, "bases") == bases
    assert bases in made.graph.reached(words)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tools/paths.py", "import sys\n"),
        ("tools/paths.py", 'import sys\nsys.path.insert(0, "nowhere")\n'),
        ("lib/bases.py", "class Base:\n    pass\n"),
        ("src/bases.py", "class Base:\n    pass\n"),
    ],
)
def test_what_is_kept_does_not_outlive_a_path_root(project: Path, name: str, text: str) -> None:
    for _ in range(2):
        assert found(project, keeps=True) == ["words.py:9 FKL301"]
    write(project / name, text)
    assert found(project, keeps=True) == found(project) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("more/paths.py", 'import sys\nsys.path.append("../lib")\nsys.path.append(__file__ + "/../../lib")\n'),
        ("lib/setup.py", "from setuptools import setup\nsetup()\n"),
    ],
)
def test_what_is_kept_does_not_outlive_a_new_path_root(project: Path, name: str, text: str) -> None:
    write(project / "tools" / "paths.py")
    for _ in range(2):
        assert found(project, keeps=True) == []
    write(project / name, text)
    assert found(project, keeps=True) == found(project) == ["words.py:9 FKL301"]


# Everybody agrees


def rows(result: subprocess.CompletedProcess[str]) -> list[str]:
    lines = [line.split() for line in result.stdout.splitlines() if "FKL" in line]
    return sorted(f"{Path(place.split(':')[0]).name}:{place.split(':')[1]} {code}" for place, code, *_ in lines)


def test_command_flake8_and_hook_agree(forklint, flake8: Flake8, project: Path, tmp_path: Path) -> None:
    repository = Repository(project, local("forklint"), PRE_COMMIT_HOME=str(tmp_path / "pre-commit"))
    assert "--> tools/words.py:9:9" in repository.pre_commit("run", "--files", "tools/words.py").stdout
    words = "tools/words.py"
    whole = forklint(".", "--output-format", "concise", "-q", cwd=project)
    assert rows(whole) == ["words.py:9 FKL301"]
    assert rows(forklint(words, "--output-format", "concise", "-q", "--no-cache", cwd=project)) == rows(whole)
    assert rows(flake8("--isolated", "--select", "FKL", words, cwd=project)) == rows(whole)
    one = json.loads(forklint(words, "--output-format", "json", cwd=project).stdout)
    assert [finding["location"]["row"] for finding in one] == [9]


def test_many_files_without_a_marker_are_searched_for_path_roots(forklint, tmp_path: Path) -> None:
    """Which files are imported from outside depends on path roots, and these depend on the walked files alone."""
    package = tmp_path / "words"
    package.mkdir()
    (package / "__init__.py").touch()
    hazard = WORDS.replace("import paths\nfrom bases import Base", "from torch.utils.data import Dataset as Base")
    for number in range(40):
        (package / f"data{number}.py").write_text(f"import readers{number}.lines\n{hazard}", encoding="utf-8")
    for cache in ([], ["--no-cache"]):
        done = forklint("--isolated", *cache, "--output-format", "json", package, cwd=tmp_path)
        assert done.stderr == ""
        assert len(json.loads(done.stdout)) >= 40
