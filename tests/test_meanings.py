"""What names may mean, by summaries: at least what trees make of them, and also after edits."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fixture_cases import Case, all_cases, by_rule

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.meanings import MOST_CLASSES, Definition, Meanings
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.summaries.reading import spelt

CASES = [one for one in all_cases() if one.path.suffix != ".ipynb"]


def definition(facts: ClassFacts | FunctionFacts) -> Definition:
    return Definition(facts.module.path, facts.module.number(facts.node))


@pytest.mark.parametrize("cases", by_rule(CASES), ids=lambda cases: cases[0].rule)
def test_whatever_trees_resolve_is_among_the_meanings(cases: list[Case], tmp_path: Path) -> None:
    for case in cases:
        folder = tmp_path / case.path.name
        folder.mkdir()
        case.copy_to(folder)
        compare(Project(folder, Settings()))


def compare(project: Project) -> None:
    """Ask trees and summaries of all calls and classes of a project."""
    meanings = Meanings(project)
    for path in project.files:
        module = project.module(path)
        for node in module.nodes if module is not None else ():
            if module is not None and isinstance(node, ast.Call):
                symbol = project.resolve(module, module.scope_at(node), node.func)
                if isinstance(symbol, (ClassFacts, FunctionFacts)):
                    assert definition(symbol) in meanings.calls(path)[spelt(node.func)]
        for facts in module.classes if module is not None else ():
            ancestry, lineage = project.ancestry(facts), meanings.lineage(definition(facts))
            assert set(map(definition, ancestry.classes)) <= set(lineage.classes)
            assert {one for one in ancestry.external if not one.startswith("builtins.")} <= lineage.outside


@pytest.mark.parametrize(("step", "fewest"), [(3, 1_000), pytest.param(1, 4_000, marks=pytest.mark.soak)])
def test_modules_number_their_definitions_as_summaries_do(tmp_path: Path, step: int, fewest: int) -> None:
    counted = 0
    for case in CASES[::step]:
        (tmp_path / case.id).mkdir(exist_ok=True)
        case.copy_to(tmp_path / case.id)
    project = Project(tmp_path, Settings())
    for path in project.files:
        module, summary = project.module(path), project.summary(path)
        if module is not None and summary is not None:
            names = [getattr(scope.node, "name", "") for scope in module.all_scopes]
            assert names == [scope.name for scope in summary.scopes]
            counted += len(names)
    assert counted > fewest


FILES = {
    "pkg/__init__.py": "from .stars import *\nfrom .inner import make as built\n",
    "pkg/stars.py": "__all__ = ['Listed']\nclass Listed: ...\nclass Hidden: ...\n",
    "pkg/inner.py": "class Base:\n    def method(self): ...\nclass Made(Base): ...\ndef make(): ...\nalias = make\n",
    "space/deep.py": "def far(): ...\n",
}


@pytest.mark.parametrize(
    ("text", "call", "names"),
    [
        ("import pkg\npkg.built()", "pkg.built", {"make"}),
        ("import pkg.inner\npkg.inner.make()", "pkg.inner.make", {"make"}),
        ("import pkg.inner as short\nshort.alias()", "short.alias", {"make"}),
        ("from pkg import inner\ninner.Made()", "inner.Made", {"Made"}),
        ("from pkg import *\nListed()", "Listed", {"Listed"}),
        ("from pkg.stars import *\nHidden()", "Hidden", set()),
        ("from pkg.inner import Made\nMade.method()", "Made.method", {"method"}),
        ("import space.deep\nspace.deep.far()", "space.deep.far", {"far"}),
        ("from pkg.inner import make as one\nif x:\n    def one(): ...\none()", "one", {"make", "one"}),
        ("def f():\n    from pkg.inner import make\n    other = make\n    other()", "other", {"make"}),
        ("x = x.y\nx()", "x", set()),
        ("a = b.c\nb = a.d\na()", "a", set()),
        ("import json\njson.loads()", "json.loads", set()),
    ],
)
def test_what_a_call_may_mean(text: str, call: str, names: set[str], tmp_path: Path) -> None:
    for name, content in {**FILES, "main.py": text}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    meanings = Meanings(Project(tmp_path, Settings()))
    found = meanings.calls(tmp_path / "main.py").get(call, ())
    assert {meanings.scope(one).name for one in found} == names


def test_a_lineage_is_cut_where_there_are_more_classes_than_are_looked_at(tmp_path: Path) -> None:
    count = MOST_CLASSES + 10
    classes = "".join(f"class C{number}(C{number - 1}): ...\n" for number in range(1, count))
    (tmp_path / "deep.py").write_text(f"class C0: ...\n{classes}", encoding="utf-8")
    meanings = Meanings(Project(tmp_path, Settings()))
    assert not meanings.lineage(Definition(tmp_path / "deep.py", 10)).is_cut
    assert meanings.lineage(Definition(tmp_path / "deep.py", count)).is_cut


TWO = b"class First:\n    pass\n\n\nclass Net(First):\n    def run(self): pass\n"


def project_of(root: Path, files: dict[str, bytes]) -> Project:
    for name, data in {"pyproject.toml": b"", **files}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return Project(root, Settings())


def test_a_definition_that_an_edit_removes_has_no_bases(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"nets.py": TWO})
    meanings, net = Meanings(project), Definition(tmp_path / "nets.py", 2)

    def bases() -> int:
        return project.answer("a test", net, lambda: len(meanings.lineage(net).classes), compared=True)

    assert bases() == 2
    project.replace(tmp_path / "nets.py", b"class First: pass\n")
    assert bases() == 1
    project.replace(tmp_path / "nets.py", b"class First(:\n")
    assert bases() == 1
    project.replace(tmp_path / "nets.py", TWO)
    assert bases() == 2


def test_a_name_from_a_file_that_cannot_be_read_may_mean_more(tmp_path: Path) -> None:
    files = {"run.py": b"from nets import *\nfrom kit import part\nimport torch\n", "kit/part.py": TWO}
    project = project_of(tmp_path, {**files, "nets.py": b"class Net(:\n"})
    meanings, run = Meanings(project), tmp_path / "run.py"
    assert not meanings.meant(run, "Net").is_whole
    assert meanings.meant(run, "torch.nn.Module")[::2] == ({"torch.nn.Module"}, True)
    assert meanings.meant(run, "part.Net")[::2] == ({Definition(tmp_path / "kit/part.py", 2)}, True)
    assert meanings.meant(run, "part.Net.run").found == set()


def test_a_private_name_comes_through_a_star_only_if_it_is_listed(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"run.py": b"from nets import *\n", "nets.py": b"class _Net: pass\n"})
    meanings, run = Meanings(project), tmp_path / "run.py"
    assert not meanings.meant(run, "_Net").found
    project.replace(tmp_path / "nets.py", b"class _Net: pass\n__all__ = [name for name in dir()]\n")
    assert meanings.meant(run, "_Net").found == {Definition(tmp_path / "nets.py", 1)}
