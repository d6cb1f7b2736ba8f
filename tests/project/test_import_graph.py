"""Who imports whom: statements as people write them, and which files reach a word by imports, also after edits."""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from notebook_cases import write

from forklint.config import Settings
from forklint.knowledge.libraries import libraries
from forklint.project.answers import facts_under
from forklint.project.graph import ImportGraph, Term, Words, word_test
from forklint.project.guest import GuestProject
from forklint.project.index import Project
from forklint.summaries.terms import WORD

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


FIXTURES = Path(__file__).parent.parent / "fixtures"


def module_file(bases: Iterable[Path], parts: list[str]) -> Path | None:
    """The file of a module below the first of some folders that has it."""
    for base in bases:
        inner = base.joinpath(*parts)
        for path in (inner / "__init__.py", *([inner.with_name(f"{inner.name}.py")] if parts else [])):
            if path.is_file():
                return path
    return None


def plainly_imported(root: Path, path: Path, tree: ast.Module) -> set[Path]:
    """What a file imports, looked up on the disk statement by statement."""
    base = path.parent
    while (base / "__init__.py").exists() and base != root:
        base = base.parent
    bases = [base, *(up for up in base.parents if up == root or root in up.parents), root / "src"]
    inside = [path.parent, *(up for up in path.parents if base in up.parents and up != path.parent)]
    if base != path.parent and asks_beside(inside, tree, bases):
        bases = [*inside, *bases]
    found = {path.parent / "__init__.py"} if (path.parent / "__init__.py").exists() else set()
    for node in ast.walk(tree):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        where = bases
        if isinstance(node, ast.ImportFrom):
            where = [path.parents[node.level - 1]] if node.level else bases
            module = (node.module or "").split(".") if node.module else []
            home = module_file(where, module)
            inside = home is None or home.name == "__init__.py"
            exported = exports_of(home) if home is not None else set()
            names = {one for alias in node.names for one in (exported if alias.name == "*" else {alias.name})}
            found |= {one for name in names if inside and (one := module_file(where, [*module, name]))}
            named = [".".join(module)]
        for name in named:
            parts = name.split(".") if name else []
            lengths = range(0 if isinstance(node, ast.ImportFrom) and node.level else 1, len(parts) + 1)
            found |= {one for length in lengths if (one := module_file(where, parts[:length]))}
    return found - {path}


def asks_beside(folders: list[Path], tree: ast.Module, bases: list[Path]) -> bool:
    """Whether a file of a package names one beside it, or in a folder above, that is nowhere else, and none by dots."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    named = (*plain, *(node.module or "" for node in froms))
    tops = {name.partition(".")[0] for name in named} - sys.stdlib_module_names - libraries().ambiguous
    beside = [top for top in tops if top and module_file(folders, [top]) and not module_file(bases, [top])]
    return bool(beside) and not any(node.level for node in froms)


def exports_of(path: Path) -> set[str]:
    stated = [
        node.value
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    return {item.value for value in stated for item in getattr(value, "elts", ()) if isinstance(item, ast.Constant)}


@pytest.mark.parametrize(
    ("part", "fewest"),
    [
        pytest.param(slice(0, None, 3), 20, id="some"),
        pytest.param(slice(None), 150, id="all", marks=pytest.mark.soak),
    ],
)
def test_edges_are_those_of_a_plain_search_over_fixtures(part: slice, fewest: int) -> None:
    seen = 0
    for folder in sorted(path for path in FIXTURES.iterdir() if path.is_dir())[part]:
        made = Project(folder, Settings())
        for path in sorted(folder.rglob("*.py")):
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            wanted = plainly_imported(folder, path, tree)
            assert set(made.graph.imports(path)) == wanted, path
            for target in wanted & set(made.files) if path in made.files else ():
                assert path in made.graph.importers(target), (path, target)
            seen += len(wanted)
    assert seen > fewest


def test_a_star_runs_the_modules_that_a_package_lists(tmp_path: Path) -> None:
    texts = {"a/__init__.py": "__all__ = ['e', 'run']", "t.py": "from a import *"}
    made = project(tmp_path, {**dict.fromkeys(FILES, ""), **texts})
    assert imported(made, "t.py") == {"a/__init__.py", "a/e.py"}
    assert tmp_path / "t.py" in made.graph.importers(tmp_path / "a" / "e.py")


NEEDLE = word_test(b"needle")


class Chance:
    """A project of modules at random, of which some hold a word, and what a plain search says of it."""

    def __init__(self, root: Path, number: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = number
        self.seed = seed
        self.root = root
        self.edges = [self.some() for _ in range(number)]
        self.rare = {self.random.randrange(number) for _ in range(2)}
        self.made = project(root, {f"m{n}.py": self.text(n) for n in range(number)})

    def some(self) -> list[int]:
        return [self.random.randrange(self.number) for _ in range(self.random.choice([0, 1, 1, 2]))]

    def text(self, n: int) -> str:
        return "".join(f"import m{m}\n" for m in self.edges[n]) + "needle\n" * (n in self.rare)

    def path(self, n: int) -> Path:
        return self.root / f"m{n}.py"

    def reached(self, start: int) -> set[int]:
        seen, waiting = {start}, [start]
        while waiting:
            new = set(self.edges[waiting.pop()]) - seen
            seen |= new
            waiting += new
        return seen

    def check(self, n: int, other: int, graph: ImportGraph) -> None:
        reached = self.reached(n)
        test = (NEEDLE, Words(NEEDLE.pattern), Term(WORD, "needle"))[self.seed % 3]
        assert graph.any_reached(self.path(n), test) == bool(reached & self.rare)
        assert graph.reaches(self.path(n), self.path(other)) == (other in reached)
        assert set(graph.reached(self.path(n))) == set(map(self.path, reached))
        assert (self.path(n) in graph.reaching([self.path(other)])) == (other in reached)
        ours = {m for m in range(self.number) if m != n and n in self.edges[m]}
        assert set(graph.importers(self.path(n))) == set(map(self.path, ours))

    def edit(self) -> None:
        """Change what one module imports, whether it holds the word, or something that means nothing."""
        n = self.random.randrange(self.number)
        what = self.random.choice(["edges", "word", "comment"])
        if what == "edges":
            self.edges[n] = self.some()
        elif what == "word":
            n = self.random.choice([n, *self.rare, *self.rare])  # now and then no file holds it
            self.rare ^= {n}
        note = f"# {self.random.random()}\n" if what == "comment" else ""
        self.made.replace(self.path(n), (note + self.text(n)).encode())


@pytest.mark.parametrize("number", [20, 150])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_reached_is_what_a_plain_search_reaches(tmp_path: Path, number: int, seed: int) -> None:
    chance = Chance(tmp_path, number, seed)
    order = chance.random.sample(range(number), number)
    for n in order:
        chance.check(n, chance.random.randrange(number), chance.made.graph)
    assert {bool(chance.reached(n) & chance.rare) for n in order} == {True, False}


@pytest.mark.parametrize("seed", range(6))
def test_after_each_edit_the_same_is_reached_as_if_asked_for_the_first_time(tmp_path: Path, seed: int) -> None:
    chance = Chance(tmp_path, 25, seed)
    for _ in range(40):
        for _ in range(chance.random.randrange(12)):
            chance.check(chance.random.randrange(25), chance.random.randrange(25), chance.made.graph)
        chance.edit()
    for n in chance.random.sample(range(25), 25):
        chance.check(n, chance.random.randrange(25), chance.made.graph)


def test_a_long_chain_and_a_long_circle_are_no_trouble(tmp_path: Path) -> None:
    number = 1200
    texts = {f"m{n}.py": f"import m{n + 1}" for n in range(number)}
    circle = {f"c{n}.py": f"import c{(n + 1) % number}" for n in range(number)}
    made = project(tmp_path, {**texts, **circle, f"m{number}.py": "needle"})
    assert made.graph.any_reached(tmp_path / "m0.py", NEEDLE)
    assert not made.graph.any_reached(tmp_path / "c7.py", NEEDLE)
    assert not made.graph.any_reached(tmp_path / "m0.py", word_test(b"haystack"))
    assert made.graph.reaches(tmp_path / "m0.py", tmp_path / f"m{number}.py")
    assert made.graph.reaches(tmp_path / "c3.py", tmp_path / "c2.py")


def test_an_edit_asks_again_only_what_rests_on_it(tmp_path: Path) -> None:
    files = {f"user{n}.py": "import shared\n" for n in range(60)}
    made = project(tmp_path, {**files, "shared.py": "import far\ndef run():\n    return 1\n", "far.py": "x = 1\n"})
    paths = [tmp_path / name for name in files]

    def ask() -> int:
        before = made.questions.found
        assert not any(made.graph.any_reached(path, NEEDLE) for path in paths)
        assert all(made.graph.reaches(path, tmp_path / "far.py") for path in paths)
        return made.questions.found - before

    cold = ask()
    made.replace(tmp_path / "shared.py", b"import far\ndef run():\n    return 2  # and more\n")
    body = ask()
    made.replace(tmp_path / "user7.py", b"import far, shared\n")
    edge = ask()
    assert cold > 200
    assert body <= 3
    assert edge <= 12
    made.replace(tmp_path / "far.py", b"needle = 1\n")
    assert all(made.graph.any_reached(path, NEEDLE) for path in paths)


def facts_of(made: Project, name: str, *, reaches: bool) -> set[tuple[str, ...]]:
    """What the answer rests on whether a file reaches the word, with paths from the root."""
    path = made.root / f"{name}.py"
    found, rests = made.questions.watched(lambda: made.graph.any_reached(path, NEEDLE))
    facts = facts_under(rests)
    assert found == reaches
    return {tuple(part.removeprefix(f"{made.root}/") for part in fact) for fact in facts}


def test_a_hit_rests_on_the_way_there_alone(tmp_path: Path) -> None:
    texts = {"a.py": "import b, far.other", "b.py": "import far.other, c", "c.py": "needle", "far/other.py": "import b"}
    facts = facts_of(project(tmp_path, texts), "a", reaches=True)
    assert {fact[1] for fact in facts if fact[0] == "imports"} == {"a.py", "b.py"}
    assert {fact[1] for fact in facts if fact[0] == "matches"} == {"a.py", "c.py"}
    assert not any("far" in part for fact in facts for part in fact)


def test_where_no_file_holds_a_word_it_takes_no_more_to_know_that_none_is_reached(tmp_path: Path) -> None:
    made = project(tmp_path, {"a.py": "import b", "b.py": "import c", "c.py": "import a"})
    facts = facts_of(made, "a", reaches=False)
    assert {fact[0] for fact in facts}.isdisjoint({"imports", "summary", "text", "tree"})
    made.replace(tmp_path / "c.py", b"import a\nneedle\n")
    assert made.graph.any_reached(tmp_path / "a.py", NEEDLE)


def test_tests_that_differ_in_their_words_alone_are_two(tmp_path: Path) -> None:
    made = project(tmp_path, {"main.py": "import sklearn\n"})
    assert not made.graph.any_reached(tmp_path / "main.py", Words(re.compile(b""), (b"polars",)))
    assert made.graph.any_reached(tmp_path / "main.py", Words(re.compile(b""), (b"sklearn",)))


def test_an_ignored_file_is_reached_all_the_same(tmp_path: Path) -> None:
    files = {f"m{n}.py": "import old.kept\n" if n == 70 else "" for n in range(74)}
    made = project(tmp_path, {**files, "old/kept.py": "needle", ".gitignore": "old/\n"})
    assert made.root / "old" / "kept.py" not in made.files
    for n in range(74):
        reaches = made.graph.any_reached(tmp_path / f"m{n}.py", NEEDLE)
        assert reaches == (n == 70)


def test_a_file_that_is_ignored_itself_reaches_others(tmp_path: Path) -> None:
    files = dict.fromkeys((f"m{n}.py" for n in range(74)), "")
    made = project(tmp_path, {**files, "m1.py": "needle", "old/run.py": "import m1", ".gitignore": "old/\n"})
    for name in (*files, "old/run.py"):
        reaches = made.graph.any_reached(tmp_path / name, NEEDLE)
        assert reaches == (name in {"m1.py", "old/run.py"})


def test_a_notebook_reaches_what_its_cells_import(tmp_path: Path) -> None:
    made = project(tmp_path, {**dict.fromkeys(FILES, ""), "a/b.py": "needle"})
    for name, reaches in {"import a.b": True, "import a.e": False}.items():
        notebook = made.load(write(tmp_path / f"{name[-1]}.ipynb", "#md # Title", "%matplotlib inline", name))
        graph = GuestProject(made, notebook).graph
        assert graph.any_reached(notebook.path, NEEDLE) == reaches


def test_few_importers_are_named_and_many_are_not_gathered(tmp_path: Path) -> None:
    users = {f"user{number}.py": "import shared\n" for number in range(4)}
    made = project(tmp_path, {"shared.py": "", "alone.py": "import user0\n", **users})
    shared, user, alone = tmp_path / "shared.py", tmp_path / "user0.py", tmp_path / "alone.py"
    assert made.graph.few_importers(shared, 4) == tuple(tmp_path / name for name in users)
    assert made.graph.few_importers(shared, 3) is None
    assert made.graph.few_importers(user, 3) == (alone,)
    assert made.graph.is_imported(user)
    assert not made.graph.is_imported(alone)


def test_files_that_share_a_common_name_with_very_many_are_not_looked_at(tmp_path: Path) -> None:
    folders = {f"p{number}/{name}": "import utils\n" if name == "run.py" else "" for number in range(9)
               for name in ("run.py", "utils.py")}  # fmt: skip
    made = project(tmp_path, folders)
    assert made.graph.few_importers(tmp_path / "p0" / "utils.py", 3) == (tmp_path / "p0" / "run.py",)
    assert made.graph.few_importers(tmp_path / "p0" / "utils.py", 2) is None
