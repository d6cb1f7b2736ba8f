"""Who imports whom, as read from bytes: statements as people write them, and which files reach a word by imports."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from notebook_cases import write

from forklint.config import Settings
from forklint.project.graph import FEW, statements
from forklint.project.guest import GuestProject
from forklint.project.index import Project

WRITTEN = {
    "import a.b as c": {"a/__init__.py", "a/b.py"},
    "import os, a.b as c, d": {"a/__init__.py", "a/b.py", "d.py"},
    "from a import b": {"a/__init__.py", "a/b.py"},
    "from a.b import *": {"a/__init__.py", "a/b.py"},
    "from a.b import(run)": {"a/__init__.py", "a/b.py"},
    "from a import (\n    b,\n    # d (not this one)\n    e,\n)": {"a/__init__.py", "a/b.py", "a/e.py"},
    "from a import b, \\\n    e": {"a/__init__.py", "a/b.py", "a/e.py"},
    "from a import b  # and e": {"a/__init__.py", "a/b.py"},
    "try:\n    import d\nexcept ImportError:\n    d = None": {"d.py"},
    "if fast: from a import b; import d": {"a/__init__.py", "a/b.py", "d.py"},
    "def late():\n\tfrom a import b\n": {"a/__init__.py", "a/b.py"},
    "import ns.deep.leaf": {"ns/deep/leaf.py"},
    "from ns.deep import leaf": {"ns/deep/leaf.py"},
    "from größe import mass": {"größe.py"},
    "import d\rimport a.e\r\n": {"d.py", "a/__init__.py", "a/e.py"},
    "import torch\nfrom torch.utils.data import DataLoader\nimportant = 1": set(),
    "x = 'from there' # import nothing\nreimport = d": set(),
}
RELATIVE = {
    "from . import e": {"a/__init__.py", "a/e.py"},
    "from .e import run": {"a/__init__.py", "a/e.py"},
    "from .import e": {"a/__init__.py", "a/e.py"},
    "from .e import*": {"a/__init__.py", "a/e.py"},
    "import d": {"a/__init__.py", "d.py"},
}
FILES = ("a/__init__.py", "a/b.py", "a/e.py", "d.py", "ns/deep/leaf.py", "größe.py")


def project(root: Path, files: dict[str, str], settings: Settings | None = None) -> Project:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return Project(root, settings or Settings())


def imported(made: Project, name: str) -> set[str]:
    return {str(path.relative_to(made.root)) for path in made.graph.imports(made.root / name)}


@pytest.mark.parametrize("text", WRITTEN, ids=repr)
def test_a_script_imports_what_its_statements_name(tmp_path: Path, text: str) -> None:
    made = project(tmp_path, {**dict.fromkeys(FILES, ""), "train.py": text})
    assert imported(made, "train.py") == WRITTEN[text]


@pytest.mark.parametrize("text", RELATIVE, ids=repr)
def test_a_file_of_a_package_imports_the_package_too(tmp_path: Path, text: str) -> None:
    made = project(tmp_path, {**dict.fromkeys(FILES, ""), "a/b.py": text})
    assert imported(made, "a/b.py") == RELATIVE[text]


def test_no_import_in_the_fixtures_is_missed() -> None:
    seen = 0
    for path in sorted((Path(__file__).parent.parent / "fixtures").rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        found = {(level, source.decode()) for level, source, _ in statements(path.read_bytes()) if level or source}
        wanted = {(node.level, node.module or "") for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert wanted <= found, path
        seen += len(wanted)
    assert seen > 500


@pytest.mark.parametrize("number", [20, 3 * FEW])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_reached_is_what_a_plain_search_reaches(tmp_path: Path, number: int, seed: int) -> None:
    chance = random.Random(seed)
    edges = {n: [chance.randrange(number) for _ in range(chance.choice([0, 1, 1, 2]))] for n in range(number)}
    rare = {chance.randrange(number) for _ in range(2)}
    texts = {n: "".join(f"import m{m}\n" for m in edges[n]) + "needle\n" * (n in rare) for n in range(number)}
    made = project(tmp_path, {f"m{n}.py": text for n, text in texts.items()})

    def reaches(start: int) -> bool:
        seen, waiting = {start}, [start]
        while waiting:
            new = set(edges[waiting.pop()]) - seen
            seen |= new
            waiting += new
        return bool(seen & rare)

    for n in range(number):
        assert made.graph.any_reached(tmp_path / f"m{n}.py", lambda text: b"needle" in text, "needle") == reaches(n)
    assert {reaches(n) for n in range(number)} == {True, False}
    last = tmp_path / f"m{number - 1}.py"
    for n in range(number):
        path = tmp_path / f"m{n}.py"
        assert (
            made.graph.reaches(path, last)
            == (last in made.graph.reached(path))
            == (path in made.graph.reaching([last]))
        )


def test_an_ignored_file_is_reached_all_the_same(tmp_path: Path) -> None:
    files = {f"m{n}.py": "import old.kept\n" if n == FEW + 5 else "" for n in range(FEW + 9)}
    made = project(tmp_path, {**files, "old/kept.py": "needle", ".gitignore": "old/\n"})
    assert made.root / "old" / "kept.py" not in made.files
    for n in range(FEW + 9):
        reaches = made.graph.any_reached(tmp_path / f"m{n}.py", lambda text: b"needle" in text, "needle")
        assert reaches == (n == FEW + 5)


def test_a_file_that_is_ignored_itself_reaches_others(tmp_path: Path) -> None:
    files = dict.fromkeys((f"m{n}.py" for n in range(FEW + 9)), "")
    made = project(tmp_path, {**files, "m1.py": "needle", "old/run.py": "import m1", ".gitignore": "old/\n"})
    for name in (*files, "old/run.py"):
        reaches = made.graph.any_reached(tmp_path / name, lambda text: b"needle" in text, "needle")
        assert reaches == (name in {"m1.py", "old/run.py"})


def test_a_notebook_reaches_what_its_cells_import(tmp_path: Path) -> None:
    made = project(tmp_path, {**dict.fromkeys(FILES, ""), "a/b.py": "needle"})
    for name, reaches in {"import a.b": True, "import a.e": False}.items():
        notebook = made.load(write(tmp_path / f"{name[-1]}.ipynb", "#md # Title", "%matplotlib inline", name))
        graph = GuestProject(made, notebook).graph
        assert graph.any_reached(notebook.path, lambda text: b"needle" in text, "needle") == reaches
